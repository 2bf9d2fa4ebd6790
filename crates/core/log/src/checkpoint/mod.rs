//! Checkpoints: the state of a graph at one timestamp, in one file.
//!
//! A checkpoint contains the whole graph at a timestamp: labels and schemas, vertices with their
//! ids, keys and records, each edge once with its value. It omits derived data: the entries of the
//! other ends of edges, and the free vertex ids, which are the ids below the bound without a
//! vertex. It does not depend on the engine, so any engine can load a checkpoint of another one.
//!
//! [`write()`] writes a checkpoint from a [`CheckpointSource`], such as a view of any engine
//! ([`ViewSource`]), while writers continue: in parallel if there is a pool, at any rate, and
//! atomically, so that a crash at any moment leaves either the previous file or the new one.
//! [`Checkpoint`] reads a checkpoint. Each chunk covers a known range of vertices and has its own
//! checksum, bound to its place in this file, so that any number of threads can read chunks in any
//! order.
//!
//! `docs/format.md` specifies the bytes.

mod codec;
mod description;
mod encode;
mod entry;
mod error;
mod layout;
mod read;
#[cfg(any(test, feature = "simulation"))]
mod repair;
mod source;
mod write;

pub use description::Description;
pub use entry::{CheckpointEntry, name_of};
pub use error::CheckpointError;
pub use layout::{CheckpointChunk, ChunkContent};
pub use read::Checkpoint;
#[cfg(any(test, feature = "simulation"))]
pub use repair::repair_checksums;
pub use source::{CheckpointSource, ViewSource, VisitRecord, VisitRun, VisitVertex};
pub use write::{UNFINISHED, WriteOptions, WriteProgress, WrittenCheckpoint, write};

/// The only version of the format that is written and read.
pub const FORMAT_VERSION: u32 = 1;
