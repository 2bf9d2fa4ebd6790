//! Options for reading a graph file.

use crate::format::{GraphFormat, pair_of};
use std::path::{Path, PathBuf};

/// The meaning of the third and fourth column of an edge list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Columns {
    /// The third column is a weight, the fourth a timestamp.
    #[default]
    Auto,
    /// The third column is a timestamp, the fourth a weight.
    Timestamp,
    /// The third and fourth column are ignored.
    Topology,
}

/// The header of an edge list: a line with the names of its columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Header {
    /// The first line that is not a comment is a header if its first two fields are usual names of
    /// columns where edges start and end, such as `source` and `target`; with text keys only
    /// `source`, `src` or `from` before `destination`, `dst`, `target` or `to`, separated by a
    /// comma or a tab; with number keys also if it has commas or tabs and no field starts like a
    /// number.
    #[default]
    Auto,
    /// The first line that is not a comment is a header.
    Present,
}

/// Options of a [`GraphReader`](crate::GraphReader).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// The format; by default it is detected by the file's name ([`GraphFormat::of_name`]), or by
    /// the first line of a Matrix Market file; all others are edge lists.
    pub format: Option<GraphFormat>,
    /// The meaning of further columns of an edge list.
    pub columns: Columns,
    /// The header of an edge list.
    pub header: Header,
    /// Count and skip bad lines instead of failing.
    pub skip_bad_lines: bool,
    /// Approximate number of edges and vertices per batch; 0 is taken as 1.
    ///
    /// It also determines the size of the pieces that text is cut into: very small batches are
    /// slow.
    pub batch_size: usize,
}

impl ReadOptions {
    /// The files that a [`GraphReader`](crate::GraphReader) of `path` reads: the file, and its
    /// vertex file if it has one. Only checks names in the file system.
    #[must_use]
    pub fn files(&self, path: impl AsRef<Path>) -> Vec<PathBuf> {
        let path = path.as_ref();
        let (vertices, edges) = pair_of(path, self.format_of(path));
        vertices.into_iter().chain([edges]).collect()
    }

    /// Returns the format in the options, or else the format of the file's name.
    #[must_use]
    pub fn format_of(&self, path: &Path) -> Option<GraphFormat> {
        self.format.or_else(|| GraphFormat::of_name(path))
    }
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            format: None,
            columns: Columns::default(),
            header: Header::default(),
            skip_bad_lines: false,
            batch_size: 1 << 16,
        }
    }
}
