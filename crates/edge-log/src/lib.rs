//! An edge log in memory in front of an adjacency (GraphOne): commits are appended to the log, and archiving moves them to
//! the adjacency, many at a time.
//!
//! The log knows nothing of the adjacency but the trait [`Archive`], and the adjacency nothing of the log but the
//! [`ChangeList`]s that it gets. A view reads both: a version of the adjacency, and the [tail](LogTail) of the log after it.
//!
//! - `run.rs`: changes of a commit as words, and reading them; `ends.rs`: as entries of adjacencies;
//! - `buffer.rs`: the memory of the log;
//! - `log.rs`: appending, and the list of tails; `tail.rs`: what a view reads;
//! - `changes.rs`: changes in the order of an adjacency: what archiving passes on, and the index of a tail; `index.rs`: that
//!   of a buffer;
//! - `archive.rs`: from the log to the adjacency.
//!
//! Archiving goes in rounds, which the paper calls epochs; each makes a version of the adjacency. Two things differ from the paper: the log is not one ring
//! but buffers that are used again, so that a view that stays open holds up no writer; and an edge that changes several times in a round is archived
//! once.

mod archive;
mod buffer;
mod changes;
mod ends;
mod index;
mod log;
mod run;
mod tail;
#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests;

pub use archive::{Archive, Archiver, Cut};
pub use buffer::EdgeBuffer;
pub use changes::{ChangeList, RowChanges};
pub use ends::Ends;
pub use log::{EdgeLog, Reserved};
pub use run::{LogEntry, NewRun, Run, RunChange, RunCommits};
pub use tail::{Archived, LogTail};
