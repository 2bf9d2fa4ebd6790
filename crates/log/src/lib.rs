//! Durability: the log, checkpoints and the store that contains them.
//!
//! - [`files`]: the file system interface of a store;
//! - [`Body`], [`LoggedCommit`]: the changes of one commit, as the bytes of a record;
//! - [`checkpoint`]: the state of a graph at one timestamp, in one file;
//! - [`stretch`]: byte strings in files, compressed where that saves space.
//!
//! | file | what |
//! |---|---|
//! | `files/mod.rs`, `real.rs` | the file system interface of a store; the operating system's files |
//! | `files/of_engine.rs`, `log/engine_files.rs` | an engine's own files, which can change only while the store is locked; the log as the holder of that lock |
//! | `body/` | the changes of a commit, as bytes: vertices, keys, edges, catalog |
//! | `segment/` | headers and frames; reading up to the end, a window at a time, and telling a torn tail from damage |
//! | `store/manifest.rs`, `mod.rs`, `mark.rs` | what belongs to a store; creating and opening it; how far its log is known to be durable |
//! | `store/reading.rs`, `replay.rs`, `check.rs`, `repair.rs` | reading one segment; replaying all commits from a timestamp on; finding all damage; cutting at the first damage |
//! | `store/join.rs` | joining small segments |
//! | `log/tail.rs`, `group.rs`, `writer.rs` | places for commits; group commit; writing and syncing |
//! | `log/segments.rs`, `shelf.rs`, `retention.rs`, `start.rs` | creating segments ahead of use; pruning and closing; from recovery to a log that takes commits |
//! | `planted.rs`, `remade.rs` | bugs that tests can switch on; recomputing checksums after damage |
//! | `checkpoint/mod.rs`, `error.rs` | the interface of checkpoints |
//! | `checkpoint/source.rs` | the input of a checkpoint: a view of any engine |
//! | `checkpoint/write.rs`, `encode.rs` | encoding chunks in parallel, writing them in order, installing the file; encoding a range of the graph |
//! | `checkpoint/read.rs`, `installed.rs` | opening a file and reading its chunks in any order; the checkpoint that the manifest names |
//! | `checkpoint/layout.rs`, `description.rs` | the frame: header, chunks, index, trailer; the description of the whole graph |
//! | `checkpoint/codec/rows.rs`, `vertices.rs`, `column.rs` | the content of chunks |
//! | `checkpoint/codec/bits.rs` | the code of gaps |
//! | `checkpoint/repair.rs` | recomputing checksums after damage, for tests and fuzzing |
//! | `stretch/mod.rs`, `compression.rs` | byte strings that are compressed where it pays; the compression library |

mod body;
pub mod checkpoint;
mod error;
pub mod files;
mod log;
pub mod planted;
#[cfg(any(test, feature = "simulation"))]
mod remade;
mod segment;
mod store;
pub mod stretch;

pub use body::{Body, CommitRef, LoggedCommit, LoggedEdges, logged_edge};
pub use error::{LogError, StoreError};
pub use log::{Appended, Durability, Log, LogOptions};
#[cfg(any(test, feature = "simulation"))]
pub use remade::repair_checksums;
pub use segment::LogRecord;
pub use store::{
    CheckReport, CheckpointEntry, Cut, LogPosition, Manifest, OWN_FILES, Recovered, Repair,
    ReplacedCheckpoint, SealedSegment, SegmentEntry, StoreFiles, StoreOptions, StreamEntry, TornTail, check,
    recover_to_last_valid,
};
