//! How a graph file is to be read.

use crate::format::{GraphFormat, pair_of};
use std::path::{Path, PathBuf};

/// What the third and fourth column of an edge list mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Columns {
    /// The third is a weight, the fourth a timestamp.
    #[default]
    Auto,
    /// The third is a timestamp, the fourth a weight.
    Timestamp,
    /// They are not looked at.
    Topology,
}

/// Whether an edge list starts with the names of its columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Header {
    /// With number keys, the first line that is no comment is a header if it has commas and its
    /// first two fields start like no number. With text keys there is none: nobody could tell.
    #[default]
    Auto,
    /// The first line that is no comment is a header.
    Present,
}

/// Options of a [`GraphReader`](crate::GraphReader).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// The format; by default the file's name tells ([`GraphFormat::of_name`]), or that it starts as a Matrix Market
    /// file does; all others are taken for edge lists.
    pub format: Option<GraphFormat>,
    /// What further columns of an edge list mean.
    pub columns: Columns,
    /// Whether an edge list starts with a header.
    pub header: Header,
    /// Bad lines are counted and passed over instead of ending the reading.
    pub skip_bad_lines: bool,
    /// About how many edges and vertices a batch holds; 0 is taken as 1.
    ///
    /// The text is also cut into pieces by it: very small batches are slow.
    pub batch_size: usize,
}

impl ReadOptions {
    /// The files that a [`GraphReader`](crate::GraphReader) of `path` reads: the file, and its vertex file if it has one. Looks at names in the
    /// file system only.
    #[must_use]
    pub fn files(&self, path: impl AsRef<Path>) -> Vec<PathBuf> {
        let path = path.as_ref();
        let (vertices, edges) = pair_of(path, self.format_of(path));
        vertices.into_iter().chain([edges]).collect()
    }

    /// The format that the options name, or else the file's name.
    pub(crate) fn format_of(&self, path: &Path) -> Option<GraphFormat> {
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
