//! Errors of stamps and snapshots.

use hedgerow_log::LogError;
use hedgerow_model::CommitTimestamp;

/// A refusal of a stamp or a snapshot. Nothing has changed.
#[derive(Debug, thiserror::Error)]
pub enum SequencerError {
    /// A stamp will never be applied, so no more stamps are given out and no more snapshots are
    /// opened.
    #[error("a commit of this graph failed half way; open snapshots can still be read, nothing else")]
    Poisoned,
    /// The caller asked for a past state, but the graph keeps none.
    #[error("this graph keeps no past states: make or open it with a history (`GraphOptions::history`)")]
    NoHistory,
    /// The state is older than every kept state.
    #[error(
        "that state is not kept any more, or was before the graph was opened; the oldest is that of commit {oldest}, made at time {wall_clock} (microseconds since 1970, in UTC)"
    )]
    NotKept {
        /// The oldest kept state.
        oldest: CommitTimestamp,
        /// The wall-clock time of the oldest kept state's commit, in microseconds since 1970-01-01
        /// UTC.
        wall_clock: u64,
    },
    /// Snapshots cannot show the commit yet.
    #[error("commit {at} is not there yet; the newest is {newest}")]
    NotYet {
        /// The requested commit.
        at: CommitTimestamp,
        /// The newest commit that a snapshot can show.
        newest: CommitTimestamp,
    },
    /// The log refuses the commit.
    #[error(transparent)]
    Log(#[from] LogError),
}
