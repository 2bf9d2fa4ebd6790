//! The formats of graph files, and their detection.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

/// The format of a graph file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GraphFormat {
    /// An edge per line: `source destination [weight] [timestamp]`, separated by blanks, tabs or
    /// commas; written with blanks. SNAP's lists and the `.el` and `.wel` of the GAP benchmark
    /// suite are such files.
    EdgeList,
    /// An edge list; written with tabs.
    Tsv,
    /// An edge list; written with commas.
    Csv,
    /// The pair of LDBC Graphalytics: vertices in `x.v`, one per line, and an edge list in `x.e`.
    Graphalytics,
    /// A vertex with its neighbors per line: `vertex neighbor neighbor …`. A line with only a
    /// vertex has no neighbors.
    ///
    /// If a file lists an undirected edge from both ends, both entries are returned.
    Adjacency,
    /// A sparse matrix: an edge for every entry, from its row to its column, numbered from 1.
    MatrixMarket,
    /// The serialized graph of the GAP benchmark suite (`.sg`): rows of neighbors in binary.
    Serialized,
    /// The serialized graph with a weight for each neighbor (`.wsg`).
    WeightedSerialized,
}

impl GraphFormat {
    /// Returns the format for the extension of a file name, ignoring `.gz` and `.zst`; `None` if
    /// the extension has no meaning, as in `graph.txt`. O(length of the name).
    #[must_use]
    pub fn of_name(path: impl AsRef<Path>) -> Option<Self> {
        match without_compression(path.as_ref()).extension()?.to_str()? {
            "el" | "wel" => Some(GraphFormat::EdgeList),
            "tsv" => Some(GraphFormat::Tsv),
            "csv" => Some(GraphFormat::Csv),
            "e" | "v" => Some(GraphFormat::Graphalytics),
            "adj" => Some(GraphFormat::Adjacency),
            "mtx" | "mm" => Some(GraphFormat::MatrixMarket),
            "sg" => Some(GraphFormat::Serialized),
            "wsg" => Some(GraphFormat::WeightedSerialized),
            _ => None,
        }
    }

    /// Returns true for formats that list only edges, and thus no vertices without edges.
    #[must_use]
    pub fn is_edge_list(self) -> bool {
        matches!(self, GraphFormat::EdgeList | GraphFormat::Tsv | GraphFormat::Csv)
    }

    /// Returns the first vertex number of formats that number vertices consecutively and therefore
    /// cannot keep other keys.
    #[must_use]
    pub fn first_number(self) -> Option<u64> {
        match self {
            GraphFormat::MatrixMarket => Some(1),
            GraphFormat::Serialized | GraphFormat::WeightedSerialized => Some(0),
            _ => None,
        }
    }
}

impl fmt::Display for GraphFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            GraphFormat::EdgeList => "edge list",
            GraphFormat::Tsv => "edge list with tabs",
            GraphFormat::Csv => "edge list with commas",
            GraphFormat::Graphalytics => "LDBC Graphalytics",
            GraphFormat::Adjacency => "adjacency",
            GraphFormat::MatrixMarket => "Matrix Market",
            GraphFormat::Serialized => "GAP serialized graph",
            GraphFormat::WeightedSerialized => "GAP serialized graph with weights",
        })
    }
}

/// The compression of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    Gzip,
    Zstd,
}

impl Compression {
    /// Detects the compression by the extension of a file name.
    pub fn of_name(path: &Path) -> Option<Self> {
        match &*path.extension().and_then(OsStr::to_str)?.to_ascii_lowercase() {
            "gz" => Some(Compression::Gzip),
            "zst" => Some(Compression::Zstd),
            _ => None,
        }
    }

    /// Detects the compression by the first four bytes: gzip (RFC 1952), a zstd frame or a
    /// skippable one (RFC 8878).
    pub fn of_bytes(magic: &[u8]) -> Option<Self> {
        match magic {
            [0x1f, 0x8b, ..] => Some(Compression::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => Some(Compression::Zstd),
            _ => None,
        }
    }
}

/// Returns the path without its `.gz` or `.zst`.
#[must_use]
pub fn without_compression(path: &Path) -> PathBuf {
    match Compression::of_name(path) {
        Some(_) => path.with_extension(""),
        None => path.into(),
    }
}

/// Returns true for a file named `.wel`: an edge list whose every edge has a weight.
pub(crate) fn is_weighted_edge_list(path: &Path) -> bool {
    without_compression(path).extension().is_some_and(|end| end == "wel")
}

/// Returns the vertex file `x.v`, if it exists, and the edge file `x.e` of a pair, given either.
pub(crate) fn pair_of(path: &Path, format: Option<GraphFormat>) -> (Option<PathBuf>, PathBuf) {
    let plain = without_compression(path);
    let there = |end: &str| {
        let ends = ["", ".gz", ".zst"].map(|compression| format!("{end}{compression}"));
        ends.iter().map(|end| plain.with_extension(end)).find(|sibling| sibling.exists())
    };
    match (plain.extension().and_then(OsStr::to_str), format) {
        (Some("e"), None | Some(GraphFormat::EdgeList | GraphFormat::Graphalytics)) => {
            (there("v"), path.into())
        }
        (Some("v"), Some(GraphFormat::Graphalytics)) => {
            (Some(path.into()), there("e").unwrap_or_else(|| plain.with_extension("e")))
        }
        _ => (None, path.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_determines_the_format_under_any_compression() {
        for (name, format) in [
            ("a.el", Some(GraphFormat::EdgeList)),
            ("a.wel.gz", Some(GraphFormat::EdgeList)),
            ("a.b.csv", Some(GraphFormat::Csv)),
            ("a.mtx.zst", Some(GraphFormat::MatrixMarket)),
            ("folder.sg/a.wsg", Some(GraphFormat::WeightedSerialized)),
            ("folder.sg/a", None),
            ("a.txt", None),
            ("a.gz", None),
            ("", None),
        ] {
            assert_eq!(GraphFormat::of_name(name), format, "{name}");
        }
        assert!(is_weighted_edge_list(Path::new("a.wel.gz")) && !is_weighted_edge_list(Path::new("a.el")));
    }
}
