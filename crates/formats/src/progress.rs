//! How far the reading of a file has come, and what was passed over.

use crate::error::BadLine;
use std::path::Path;

/// Lines that were passed over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkippedLines {
    /// How many.
    pub count: u64,
    /// What was wrong with the first few.
    pub examples: Vec<BadLine>,
}

/// What has been read up to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position<'a> {
    /// The file.
    pub path: &'a Path,
    /// The number of its last line read, from 1; 0 before the first, and in a binary file.
    pub line: u64,
    /// Bytes of the file, decompressed, up to and with that line.
    pub byte: u64,
}

/// How much of the files has been used, in bytes as they lie on disk, compressed or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes used.
    pub done: u64,
    /// The size of the files; `None` if unknown, as with a pipe.
    pub total: Option<u64>,
}
