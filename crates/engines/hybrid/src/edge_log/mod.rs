//! An in-memory edge log in front of an adjacency (GraphOne): commits append to the log, and
//! archiving moves them to the adjacency, many at a time.
//!
//! The log and the adjacency know each other only by the trait [`Archive`] and the [`ChangeList`]s
//! passed to it. A view reads both: a version of the adjacency, and the [tail](LogTail) of the log
//! after it.
//!
//! - `run.rs`: the changes of a commit, encoded as words; `ends.rs`: their entries in adjacencies;
//! - `buffer.rs`: the memory of the log;
//! - `log.rs`: appending, and the list of tails; `tail.rs`: the part of the log that a view reads;
//! - `changes.rs`: changes in adjacency order, passed on by archiving and kept as the index of a
//!   tail; `index.rs`: the index of a buffer;
//! - `archive.rs`: archiving from the log to the adjacency.
//!
//! Archiving proceeds in rounds (epochs in the paper), each of which makes a version of the
//! adjacency. There are two differences from the paper: the log consists of reusable buffers
//! instead of one ring, so that an open view holds up no writer; and an edge that changes several
//! times in a round is archived once.

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

pub use archive::{Archive, Archiver};
pub use buffer::EdgeBuffer;
pub use changes::ChangeList;
pub use ends::Ends;
pub use log::{EdgeLog, Reserved};
pub use run::{NewRun, Run, RunChange, RunCommits};
pub use tail::{Archived, Cut, LogTail};
