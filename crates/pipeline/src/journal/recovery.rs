//! What opening a store found.

use hedgerow_log::TornTail;
use hedgerow_model::CommitTimestamp;
use std::time::Duration;

/// What opening a store found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Recovery {
    /// The commit of the checkpoint that was loaded, if there was one.
    pub checkpoint: Option<CommitTimestamp>,
    /// Number of log commits replayed after it; those in the engine's own files restored keys only.
    pub commits: u64,
    /// The last commit, whose state the graph has.
    pub last: CommitTimestamp,
    /// What a loss of power left after the last commit, if anything. It was cut off, and was never
    /// acknowledged as durable.
    pub torn: Option<TornTail>,
    /// How far the wall-clock time of the newest commit is ahead of this machine's clock; zero if
    /// it is not. One of the clocks is or was wrong. No data is affected, but until the clock has
    /// caught up, new commits carry that same time
    /// ([`AsOf::Time`](hedgerow_sequencer::AsOf::Time)).
    pub ahead_of_clock: Duration,
    /// Time that loading the checkpoint took.
    pub loading: Duration,
    /// Time that replaying the log took.
    pub replaying: Duration,
}
