//! Writes graph files of every format.

mod edge_list;
mod field;
mod matrix_market;
mod new_file;
mod output;
mod serialized;
mod text;
mod vertex_list;
mod whole;

pub use edge_list::EdgeListWriter;
pub use new_file::{NewFile, STANDARD_OUTPUT};
pub use output::Output;
pub use vertex_list::VertexListWriter;

use crate::format::{Compression, without_compression};
use crate::{Batch, Columns, Edge, FormatError, GraphFormat, MAX_ADJACENCY_LINE, VertexKey};
use field::bad_name;
pub(crate) use field::{negative, unwritable};
use rayon::ThreadPool;
use std::path::{Path, PathBuf};
use whole::{Whole, WholeBuilder};

/// Options of a [`GraphWriter`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// The format; by default derived from the file's name ([`GraphFormat::of_name`]), or else an
    /// edge list.
    pub format: Option<GraphFormat>,
    /// The further columns of an edge list. A file named `.el` has none, one named `.wel` only a
    /// weight.
    pub columns: Columns,
    /// True if an edge stands for both directions. Edge lists ignore it: they contain the edges as
    /// they come.
    pub undirected: bool,
    /// True to use keys as vertex numbers in a format with numbered vertices; numbers without a key
    /// become vertices without edges. Otherwise vertices are numbered in the order of their keys,
    /// without gaps.
    pub keep_ids: bool,
}

impl WriteOptions {
    /// The files that a [`GraphWriter`] of `path` writes: two for LDBC Graphalytics, else one.
    #[must_use]
    pub fn files(&self, path: impl AsRef<Path>) -> Vec<PathBuf> {
        let path = path.as_ref();
        let pair = (self.format_of(path) == GraphFormat::Graphalytics).then(|| graphalytics_names(path).ok());
        pair.flatten().map_or_else(|| vec![path.into()], |(vertices, edges)| vec![vertices, edges])
    }

    fn format_of(&self, path: &Path) -> GraphFormat {
        self.format.or_else(|| GraphFormat::of_name(path)).unwrap_or(GraphFormat::EdgeList)
    }
}

/// Writes a graph file that a [`GraphReader`](crate::GraphReader) reads back.
///
/// The edges of an edge list are written as they come. All other formats need the whole graph in
/// memory: 8 bytes per edge until all have come, with weights 16, then a static graph. Its
/// vertices are then written in the order of their keys and their neighbors in that order, each
/// once, with its last weight.
///
/// Files whose name ends in `.gz` or `.zst` are compressed. They appear under their names only with
/// [`finish`](Self::finish): see [`NewFile`].
pub struct GraphWriter<'p, K> {
    format: GraphFormat,
    target: Target<'p, K>,
    lost: Lost,
    edges: u64,
    shown: Shown,
}

/// The columns of an edge other than its ends.
#[derive(Clone, Copy)]
struct Shown {
    weights: bool,
    timestamps: bool,
}

enum Target<'p, K> {
    Lines(Box<EdgeListWriter>),
    Whole { graph: Box<WholeBuilder<'p, K>>, file: Box<WholeFile> },
}

/// A file of a whole graph.
struct WholeFile {
    undirected: bool,
    output: Output,
    /// The vertex file of LDBC Graphalytics.
    vertices: Option<VertexListWriter>,
}

/// A graph file that has all its bytes but not its name yet: see [`finish`](Self::finish).
#[derive(Debug)]
pub struct CompleteFile<K> {
    written: Written<K>,
    files: Vec<NewFile>,
}

impl<K> CompleteFile<K> {
    /// The summary.
    #[must_use]
    pub fn written(&self) -> &Written<K> {
        &self.written
    }

    /// Writes everything to disk and gives the file its name.
    ///
    /// # Errors
    /// The disk is full, or the file cannot be renamed.
    pub fn finish(self) -> Result<Written<K>, FormatError> {
        self.files.into_iter().try_for_each(NewFile::finish)?;
        Ok(self.written)
    }
}

/// The summary of a file that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written<K> {
    /// Distinct vertices; `None` for an edge list, whose vertices are not counted.
    pub vertices: Option<u64>,
    /// Edges in the file.
    pub edges: u64,
    /// Contents that the format cannot represent.
    pub lost: Lost,
    /// The key of each vertex number, from the first, if numbers differ from keys.
    pub keys: Option<Vec<K>>,
}

/// Counts of contents that a format cannot represent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Edges whose weight was left out.
    pub weights: u64,
    /// Edges whose timestamp was left out.
    pub timestamps: u64,
    /// Vertices named separately; an edge list contains only vertices with edges.
    pub vertices: u64,
}

impl<'p, K: VertexKey> GraphWriter<'p, K> {
    /// Starts a file that will be named `path`; for LDBC Graphalytics `x.e` and, next to it, `x.v`.
    ///
    /// # Errors
    /// See [`NewFile::create`]. Also if the name of an LDBC Graphalytics file does not end in `.e`.
    pub fn create(path: impl AsRef<Path>, options: &WriteOptions) -> Result<Self, FormatError> {
        let path = path.as_ref();
        let WriteOptions { undirected, .. } = *options;
        let format = options.format_of(path);
        let columns = options.columns;
        let lines = |separator| {
            let writer = EdgeListWriter::create_with(path, separator, columns)?;
            Ok(Self::new(format, Target::Lines(Box::new(writer)), Shown::in_lines(path, columns)))
        };
        match format {
            GraphFormat::EdgeList => return lines(b' '),
            GraphFormat::Tsv => return lines(b'\t'),
            GraphFormat::Csv => return lines(b','),
            _ => {}
        }
        let (vertices, path) = match format {
            GraphFormat::Graphalytics => {
                let (vertices, edges) = graphalytics_names(path)?;
                (Some(VertexListWriter::create(&vertices)?), edges)
            }
            _ => (None, path.into()),
        };
        let file = WholeFile { undirected, output: Output::create(&path)?, vertices };
        let graph = Box::new(WholeBuilder::new(&path, format, undirected, options.keep_ids));
        Ok(Self::new(
            format,
            Target::Whole { graph, file: Box::new(file) },
            Shown::in_format(format, columns),
        ))
    }

    fn new(format: GraphFormat, target: Target<'p, K>, shown: Shown) -> Self {
        GraphWriter { format, target, lost: Lost::default(), edges: 0, shown }
    }

    /// Lets threads of a pool sort the edges.
    #[must_use]
    pub fn on(mut self, pool: Option<&'p ThreadPool>) -> Self {
        self.target = match self.target {
            Target::Whole { graph, file } => Target::Whole { graph: Box::new(graph.on(pool)), file },
            lines @ Target::Lines(_) => lines,
        };
        self
    }

    /// Adds vertices and edges.
    ///
    /// # Errors
    /// A key, a weight or a timestamp that the format cannot represent; too many vertices; or the
    /// disk is full. Then a part of the batch may have been added.
    pub fn write(&mut self, batch: &Batch<K>) -> Result<(), FormatError> {
        let Shown { weights, timestamps } = self.shown;
        match &mut self.target {
            Target::Whole { graph, .. } => graph.add(batch, weights)?,
            Target::Lines(writer) => {
                self.lost.vertices += batch.vertices.len() as u64;
                for edge in &batch.edges {
                    let (weight, timestamp) =
                        (edge.weight.filter(|_| weights), edge.timestamp.filter(|_| timestamps));
                    writer.write_line(edge.source.as_key(), edge.destination.as_key(), weight, timestamp)?;
                }
            }
        }
        let count = |has: fn(&Edge<K>) -> bool| batch.edges.iter().filter(|edge| has(edge)).count() as u64;
        if !weights {
            self.lost.weights += count(|edge| edge.weight.is_some());
        }
        if !timestamps {
            self.lost.timestamps += count(|edge| edge.timestamp.is_some());
        }
        self.edges += batch.edges.len() as u64;
        Ok(())
    }

    /// Returns true if the file can contain weights of edges; otherwise they are left out, and
    /// [counted](Lost::weights).
    #[must_use]
    pub fn holds_weights(&self) -> bool {
        self.shown.weights
    }

    /// The format of the file.
    #[must_use]
    pub fn format(&self) -> GraphFormat {
        self.format
    }

    /// Writes the rest. The file gets its name only when it is [finished](CompleteFile::finish), so
    /// that other files can be completed before.
    ///
    /// # Errors
    /// The format cannot represent the graph: a weight is missing or not possible. Or the disk is
    /// full. Nothing is left then.
    pub fn complete(self) -> Result<CompleteFile<K>, FormatError> {
        let (format, lost) = (self.format, self.lost);
        match self.target {
            Target::Lines(writer) => {
                let written = Written { vertices: None, edges: self.edges, lost, keys: None };
                Ok(CompleteFile { written, files: vec![writer.complete()?] })
            }
            Target::Whole { graph, file } => {
                let graph = graph.finish()?;
                let (edges, files) = file.write(format, &graph)?;
                let vertices = Some(u64::from(graph.vertices()));
                let keys = format.first_number().and_then(|first| graph.changed_keys(first));
                Ok(CompleteFile { written: Written { vertices, edges, lost, keys }, files })
            }
        }
    }

    /// Writes the rest to disk and gives the file its name.
    ///
    /// # Errors
    /// See [`complete`](Self::complete) and [`CompleteFile::finish`].
    pub fn finish(self) -> Result<Written<K>, FormatError> {
        self.complete()?.finish()
    }
}

impl WholeFile {
    /// Writes the graph; returns the number of edges in the file.
    fn write(self, format: GraphFormat, graph: &Whole) -> Result<(u64, Vec<NewFile>), FormatError> {
        let WholeFile { undirected, mut output, vertices } = self;
        let edges = match (format, vertices) {
            (GraphFormat::MatrixMarket, _) => matrix_market::write(graph, undirected, &mut output)?,
            (GraphFormat::Serialized | GraphFormat::WeightedSerialized, _) => {
                serialized::write(graph, undirected, &mut output)?
            }
            (_, None) => text::write_adjacency(graph, MAX_ADJACENCY_LINE, &mut output)?,
            (_, Some(mut vertices)) => {
                let edges = text::write_pair(graph, undirected, &mut vertices, &mut output)?;
                return Ok((edges, vec![vertices.complete()?, output.complete()?]));
            }
        };
        Ok((edges, vec![output.complete()?]))
    }
}

impl Shown {
    fn in_lines(path: &Path, columns: Columns) -> Self {
        let end = without_compression(path);
        match end.extension().and_then(|end| end.to_str()) {
            Some("el") => Shown { weights: false, timestamps: false },
            Some("wel") => Shown { weights: columns != Columns::Topology, timestamps: false },
            _ => {
                let all = columns != Columns::Topology;
                Shown { weights: all, timestamps: all }
            }
        }
    }

    fn in_format(format: GraphFormat, columns: Columns) -> Self {
        use GraphFormat::{Graphalytics, MatrixMarket, WeightedSerialized};
        let holds_weights = matches!(format, Graphalytics | MatrixMarket | WeightedSerialized);
        Shown { weights: holds_weights && columns != Columns::Topology, timestamps: false }
    }
}

/// The names of the vertex and the edge file, given either.
fn graphalytics_names(path: &Path) -> Result<(PathBuf, PathBuf), FormatError> {
    let plain = without_compression(path);
    if GraphFormat::of_name(path) != Some(GraphFormat::Graphalytics) {
        let name = path.display().to_string();
        return Err(bad_name(path, &name, "the edge file of LDBC Graphalytics must end in .e"));
    }
    let named = |end: &str| match Compression::of_name(path) {
        None => plain.with_extension(end),
        Some(Compression::Gzip) => plain.with_extension(format!("{end}.gz")),
        Some(Compression::Zstd) => plain.with_extension(format!("{end}.zst")),
    };
    Ok((named("v"), named("e")))
}
