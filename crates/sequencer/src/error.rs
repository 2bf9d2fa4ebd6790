//! Why a stamp or a snapshot is refused.

use hedgerow_log::LogError;
use hedgerow_model::Timestamp;

/// Why a stamp or a snapshot is refused. Nothing has changed.
#[derive(Debug, thiserror::Error)]
pub enum SequencerError {
    /// A stamp will never be applied: no other is given out, and no snapshot opened.
    #[error("a commit of this graph failed half way; open snapshots can still be read, nothing else")]
    Poisoned,
    /// A past state is asked for where none are kept.
    #[error("this graph keeps no past states: make or open it with a history (`GraphOptions::history`)")]
    NoHistory,
    /// The state is older than those that are kept.
    #[error(
        "that state is not kept any more, or was before the graph was opened; the oldest is that of commit {oldest}"
    )]
    NotKept {
        /// The oldest state that is kept.
        oldest: Timestamp,
    },
    /// The commit is not published.
    #[error("commit {at} is not there yet; the newest is {newest}")]
    NotYet {
        /// The commit that was asked for.
        at: Timestamp,
        /// The newest that is published.
        newest: Timestamp,
    },
    /// The log refuses the commit.
    #[error(transparent)]
    Log(#[from] LogError),
}
