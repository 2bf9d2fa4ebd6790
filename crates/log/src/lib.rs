//! What makes a graph durable.
//!
//! - [`files`]: the file system as a store needs it, and its twin that fails and loses power on demand;
//! - [`Body`], [`LoggedCommit`]: what one commit did, as the bytes of a record;
//! - [`checkpoint`]: the state of a graph at one timestamp, in one file.
//!
//! | file | what |
//! |---|---|
//! | `files/mod.rs`, `real.rs`, `simulated/` | the file system as a store needs it; the operating system's; the one in memory that fails and loses power |
//! | `files/of_engine.rs`, `log/engine_files.rs` | the files that an engine keeps beside, changed only while somebody has the lock of the store; that this is whoever has the log |
//! | `body/` | what a commit did, as bytes: vertices, keys, edges, catalog |
//! | `segment/` | headers and frames; reading up to the end, a window at a time, and telling a torn tail from damage |
//! | `store/manifest.rs`, `mod.rs`, `mark.rs` | what belongs to a store; creating and opening it; how far its log is known to be durable |
//! | `store/reading.rs`, `replay.rs`, `check.rs`, `repair.rs` | one segment; all commits from a timestamp on; all that is wrong; cutting at the first damage |
//! | `log/tail.rs`, `group.rs`, `writer.rs` | places for commits; who writes for all; writing and syncing |
//! | `log/segments.rs`, `shelf.rs`, `retention.rs`, `start.rs` | segments ahead of use; pruning and closing; from recovery to a log that takes commits |
//! | `planted.rs`, `remade.rs` | bugs that tests can switch on; checksums made right after damage |
//! | `checkpoint/mod.rs`, `error.rs` | what the store uses |
//! | `checkpoint/source.rs` | what a checkpoint is written from: a view of any engine |
//! | `checkpoint/write.rs`, `encode.rs` | chunks encoded in parallel, written in order, the file put in place; a range of the graph into chunks |
//! | `checkpoint/read.rs`, `installed.rs` | a file opened, its chunks read in any order; the checkpoint that the manifest names |
//! | `checkpoint/layout.rs`, `description.rs` | the frame: header, chunks, index, trailer; what is said of the graph as a whole |
//! | `checkpoint/codec/rows.rs`, `vertices.rs`, `column.rs` | what chunks hold |
//! | `checkpoint/codec/bits.rs`, `stretch.rs` | the code of gaps; compressed stretches |
//! | `checkpoint/repair.rs` | checksums made right after damage, for tests and fuzzing |

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

pub use body::{Body, CommitRef, LoggedCommit, logged_edge};
pub use error::{LogError, StoreError};
pub use log::{Appended, Durability, Log, LogOptions};
#[cfg(any(test, feature = "simulation"))]
pub use remade::repair_checksums;
pub use segment::Record;
pub use store::{
    CheckReport, CheckpointEntry, Cut, Manifest, Place, Recovered, Repair, ReplacedCheckpoint, Sealed,
    SegmentEntry, Store, StoreOptions, StreamEntry, TornTail, check, recover_to_last_valid,
};
