//! Sorted levels of edges on disk, in the form of compressed sparse rows.
//!
//! - [`PackedRow`]: the neighbors of one vertex as bytes;
//! - [`Block`], [`BlockBuilder`]: the rows of consecutive vertices, with the versions of their
//!   edges that snapshots need, and deletions;
//! - [`EdgeFile`], [`EdgeFileWriter`]: sorted blocks of one adjacency in a file, with an index, and
//!   the records of the edges in a file of their own;
//! - [`merge`]: several sorted sources as one, without the versions that no snapshot sees;
//! - [`Manifest`]: the log of edits to the list of files and their levels;
//! - [`LevelTree`]: levels of edge files, flushes, and compactions; [`LevelSet`]: the files that a
//!   view reads; [`LevelRows`]: their rows in order; [`FullCompaction`]: everything on one level;
//! - [`check_files`]: reads everything, to find all damage; [`state_to_copy`], [`check_checksums`]:
//!   the files of a backup;
//! - [`MergedRow`]: the edges of one vertex that a snapshot sees in several files; [`SeenRows`]:
//!   the edges of several vertices that it sees in one place.
//!
//! A lookup of a vertex reads only files that have edges of it, and in each file only the blocks
//! with its row: the index of a file gives the blocks and the number of the row
//! ([`EdgeFile::find`]) in two or three accesses to memory. The first lookup loads the index, so
//! opening does not read it. The index takes 12 bytes per block, and a bit and a seventh per id
//! from the first owner to the last, or 5 bytes per owner if that is less.
//!
//! # Guarantees
//!
//! - Rows come back as they were packed, on every processor: the code for vector instructions and
//!   the portable code read the same bytes.
//! - Reading is total: any bytes give ids that ascend, each of them valid, or a
//!   [`DecodeError`](hedgerow_encoding::DecodeError). A row of n bytes has at most 128 n ids.
//! - Reading a block takes bounded memory: at most 2^16 entries, and records that take no more than
//!   their chunk.
//! - A changed bit of an edge file or a record file is an error that names the file and the offset:
//!   every byte is covered by a checksum.
//!
//! `docs/format.md` specifies the files byte by byte.

mod bits;
mod block;
mod cache;
mod check;
mod copying;
mod edge_file;
mod frame;
mod manifest;
mod merge;
mod merged_row;
mod numbers;
mod records;
mod row;
mod seen_edges;
mod tree;

pub use block::{Block, BlockBuilder, BlockRow, Version};
pub use check::check_files;
pub use copying::{check_checksums, state_to_copy};
pub use edge_file::{EdgeFile, EdgeFileVersions, EdgeFileWriter, EntryCounts, RowPlace};
pub use frame::FRAME;
pub use manifest::{Edit, FileEntry, FlushPoint, LevelState, Manifest, PREFIX};
pub use merge::{Retention, VersionBatch, VersionRun, VersionSource, merge};
pub use merged_row::MergedRow;
pub use records::put_record;
pub use row::{PackedRow, Unpacked, put_row};
pub use seen_edges::{RowContent, SeenEdge, SeenRow, SeenRows, SeenSlice};
pub use tree::{FlushPart, FullCompaction, FullStep, LevelOptions, LevelRows, LevelSet, LevelTree, OpenFile};
