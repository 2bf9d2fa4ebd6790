//! The result of opening a store.

use hedgerow_log::TornTail;
use hedgerow_model::CommitTimestamp;
use std::time::Duration;

/// The result of opening a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Recovery {
    /// The commit of the checkpoint that was loaded, if there was one.
    pub checkpoint: Option<CommitTimestamp>,
    /// Number of log commits replayed after it; commits in the engine's own files restored keys
    /// only.
    pub commits: u64,
    /// The last commit; the graph has its state.
    pub last: CommitTimestamp,
    /// The remains of a write after the last commit, if a loss of power left any. They were cut
    /// off, and were never acknowledged as durable.
    pub torn: Option<TornTail>,
    /// The time by which the wall-clock time of the newest commit is ahead of this machine's clock,
    /// or zero. One of the clocks is or was wrong. No data is affected, but until the clock has
    /// caught up, new commits carry the time of that commit
    /// ([`AsOf::Time`](hedgerow_sequencer::AsOf::Time)).
    pub ahead_of_clock: Duration,
    /// Time that loading the checkpoint took.
    pub loading: Duration,
    /// Time that replaying the log took.
    pub replaying: Duration,
}
