//! The progress of reading a file, and skipped lines.

use crate::error::BadLine;
use std::path::Path;

/// Skipped lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkippedLines {
    /// Number of lines.
    pub count: u64,
    /// The first few skipped lines with their problems.
    pub examples: Vec<BadLine>,
}

/// The position of a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position<'a> {
    /// The file.
    pub path: &'a Path,
    /// The number of the last line read, from 1; 0 before the first, and in a binary file.
    pub line: u64,
    /// Decompressed bytes of the file up to the end of that line.
    pub byte: u64,
}

/// The progress of reading the files, in bytes on disk, compressed or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes read.
    pub done: u64,
    /// The size of the files; `None` if unknown, as with a pipe.
    pub total: Option<u64>,
}
