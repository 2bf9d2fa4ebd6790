//! What opening a store found.

use hedgerow_log::TornTail;
use hedgerow_model::Timestamp;
use std::time::Duration;

/// What was found when a store was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// The commit whose state the checkpoint had that was loaded, if there was one.
    pub checkpoint: Option<Timestamp>,
    /// How many commits of the log were replayed on top of it; those that the engine's own files have gave back keys only.
    pub commits: u64,
    /// The last commit that was found: the state of the graph.
    pub last: Timestamp,
    /// What a loss of power left behind the last commit, if anything. It was cut. Nobody was told that any of it is durable.
    pub torn: Option<TornTail>,
    /// How far the time of the newest commit is ahead of this machine's clock; zero if it is not. One of the clocks is, or was, wrong. No data
    /// is affected, but until the clock has caught up, new commits carry that same time ([`AsOf::Time`](hedgerow_sequencer::AsOf::Time)).
    pub ahead_of_clock: Duration,
    /// How long loading the checkpoint took.
    pub loading: Duration,
    /// How long replaying the log took.
    pub replaying: Duration,
}
