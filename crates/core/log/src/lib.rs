//! Durability: the log, checkpoints and the store that contains them.
//!
//! - [`files`]: the file system interface of a store;
//! - [`Body`], [`LoggedCommit`]: the changes of one commit, as the bytes of a record;
//! - [`checkpoint`]: the state of a graph at one timestamp, in one file;
//! - [`stretch`]: byte strings in files, compressed where that saves space.
//!
//! | file | content |
//! |---|---|
//! | `files/mod.rs`, `real.rs` | the file system of a store, as an interface; the system's files |
//! | `files/of_engine.rs` | an engine's own files, which change only while the store is locked |
//! | `log/engine_files.rs` | the log as the holder of the lock of a store |
//! | `body/` | the changes of a commit, as bytes: vertices, keys, edges, catalog |
//! | `segment/` | headers and frames; reading a segment, and telling a torn tail from damage |
//! | `store/manifest.rs`, `mod.rs` | files and options of a store; creating and opening a store |
//! | `store/mark.rs` | the commit up to which the log is known to be durable |
//! | `store/reading.rs`, `replay.rs` | reading a segment; replaying all commits after a timestamp |
//! | `store/browse.rs`, `body/summary.rs` | listing commits, in either order |
//! | `store/commits.rs` | reading commits in order, from any one on, while the log is written |
//! | `store/check.rs`, `repair.rs` | finding all damage; cutting at the first damage |
//! | `store/backup/` | copying a store while it is written |
//! | `store/follow.rs` | reading only what is new in a log that another process writes |
//! | `store/join.rs` | joining small segments |
//! | `log/tail.rs`, `group.rs`, `writer.rs` | places of commits; group commit; writing, syncing |
//! | `log/sizes.rs`, `segments.rs`, `shelf.rs` | sizes of segments; creating them ahead of use |
//! | `log/follow.rs` | waiting for the commits of others |
//! | `log/retention.rs`, `start.rs` | pruning and closing; starting a log after recovery |
//! | `planted.rs`, `remade.rs` | bugs that tests switch on; recomputing checksums after damage |
//! | `checkpoint/mod.rs`, `error.rs` | the interface of checkpoints |
//! | `checkpoint/source.rs` | the input of a checkpoint: a view of any engine |
//! | `checkpoint/write.rs` | encoding chunks in parallel, writing them in order, installing files |
//! | `checkpoint/encode.rs` | encoding a range of the graph |
//! | `checkpoint/read.rs` | opening a file and reading its chunks in any order |
//! | `store/installed.rs` | the checkpoint that the manifest names |
//! | `checkpoint/layout.rs` | the frame: header, chunks, index, trailer |
//! | `checkpoint/description.rs` | the description of the whole graph |
//! | `checkpoint/codec/rows.rs`, `vertices.rs`, `column.rs` | the content of chunks |
//! | `checkpoint/codec/bits.rs` | the code of gaps |
//! | `checkpoint/repair.rs` | recomputing checksums after damage, for tests and fuzzing |
//! | `stretch/mod.rs` | byte strings, compressed where that saves space |
//! | `stretch/compression.rs` | the compression library |

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

pub use body::{
    Body, CommitRef, CommitSummary, EdgeSummary, LoggedCommit, LoggedEdges, logged_edge, may_delete_vertices,
};
pub use error::{LogError, StoreError};
pub use log::{Appended, Durability, Log, LogOptions};
#[cfg(any(test, feature = "simulation"))]
pub use remade::repair_checksums;
pub use segment::LogRecord;
pub use store::{
    BackupReport, CheckReport, CheckpointEntry, CommitRange, CommitReader, Cut, EngineAccess, EngineFile,
    EngineState, Follower, ListedCommit, LogPosition, LogStatus, Manifest, OWN_FILES, Recovered, Repair,
    ReplacedCheckpoint, SealedSegment, SegmentEntry, StoreFiles, StoreOptions, StreamEntry, TornTail, backup,
    check, list_commits, recover_to_last_valid, touched_vertices,
};
