//! Checkpoints: the state of a graph at one timestamp, in one file.
//!
//! A checkpoint holds everything that a graph is at a timestamp: labels and schemas, vertices with their ids, keys and records, each
//! edge once with its value. What follows from that it does not hold: the edges seen from their other ends, and the free
//! vertex ids, which are those below the bound that no vertex has. It knows nothing of engines, so that any engine can load
//! what another one wrote.
//!
//! [`write()`] takes it from a [`Source`], which a view of any engine is ([`ViewSource`]), while writers go on: in parallel if there
//! is a pool, as slowly as one likes, and so that a crash at any moment leaves the file before or the file after.
//! [`Checkpoint`] reads it. Its chunks cover known ranges of vertices, each with its own checksum, bound to its
//! place in this very file, so that they can be read in any order by any number of threads.
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
pub use layout::{Chunk, Content};
pub use read::Checkpoint;
#[cfg(any(test, feature = "simulation"))]
pub use repair::repair_checksums;
pub use source::{Source, ViewSource, VisitRecord, VisitRun, VisitVertex};
pub use write::{UNFINISHED, WriteOptions, WriteProgress, Written, write};

/// The version of the format that is written, and the only one that is read.
pub const FORMAT_VERSION: u32 = 1;
