//! Loads a graph file into a graph.

use crate::console::Console;
use crate::error::CliError;
use crate::float::Float;
use crate::interrupt::Interrupt;
use crate::lint::Lint;
use crate::options::{FormatArgs, KeysName, MemoryArgs, STANDARD_INPUT};
use crate::progress;
use crate::text;
use crate::threads::Threads;
use hedgerow::{
    AsKey, ColumnType, EdgeSchema, Graph, GraphOptions, KeyKind, LabelId, LabelSchema, Snapshot, Topology,
    WriteGraph,
};
use hedgerow_formats::{Batch, Edge, FormatError, GraphReader, ReadOptions, SkippedLines, VertexKey};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// Edges and vertices per commit.
pub const BATCH: usize = 1 << 20;

/// A graph file, and the options for reading it.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The file.
    pub graph: &'a Path,
    /// The options for reading it.
    pub format: &'a FormatArgs,
}

/// A loaded graph.
#[derive(Debug)]
pub struct Loaded {
    pub graph: Graph,
    /// The state of the graph.
    pub snapshot: Snapshot,
    /// Edges in the file, repeated ones counted.
    pub rows: u64,
    /// Invalid lines.
    pub skipped: SkippedLines,
    /// The time to read the file and build the graph.
    pub elapsed: Duration,
}

/// The treatment of edge weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weights {
    /// The graph has no weights.
    Ignored,
    /// The graph has the weights of the file: every edge must have one, and none may be negative.
    FromFile,
    /// Every edge has the weight 1.
    Unit,
}

impl Input<'_> {
    /// Reads the whole file into a graph without weights.
    pub fn load(
        &self,
        topology: Topology,
        memory: &MemoryArgs,
        threads: &Threads,
        console: &Console,
        interrupt: &Interrupt,
    ) -> Result<Loaded, CliError> {
        self.load_weighted(Weights::Ignored, topology, memory, threads, console, interrupt)
    }

    /// Reads the whole file into a graph. Of several weights of one edge the last stays.
    pub fn load_weighted(
        &self,
        weights: Weights,
        topology: Topology,
        memory: &MemoryArgs,
        threads: &Threads,
        console: &Console,
        interrupt: &Interrupt,
    ) -> Result<Loaded, CliError> {
        let options = GraphOptions::new().topology(topology).keys(self.key_kind()).threads(threads.count());
        let options = match weights {
            Weights::Ignored => options,
            Weights::FromFile | Weights::Unit => options.label_schema(weighted_edges()),
        };
        let graph = Graph::in_memory(memory.limit(options))?;
        match self.format.keys() {
            KeysName::Number | KeysName::Dense => {
                self.load_into::<u64>(&graph, weights, threads, console, interrupt)
            }
            KeysName::Text => self.load_into::<Box<str>>(&graph, weights, threads, console, interrupt),
        }
    }

    fn load_into<K: VertexKey + AsKey>(
        &self,
        graph: &Graph,
        weights: Weights,
        threads: &Threads,
        console: &Console,
        interrupt: &Interrupt,
    ) -> Result<Loaded, CliError> {
        let started = Instant::now();
        let mut rows = 0;
        let uses_weights = weights == Weights::FromFile;
        let skipped = self.for_each_batch::<K>(uses_weights, threads, console, interrupt, |batch| {
            add_vertices(graph, &batch.vertices)?;
            rows += batch.edges.len() as u64;
            let edges = batch.edges.drain(..);
            match weights {
                Weights::Ignored => {
                    let edges: Vec<_> = edges.map(|edge| (edge.source, edge.destination)).collect();
                    graph.ingest(LabelId::DEFAULT, &edges)?;
                }
                Weights::Unit => {
                    let edges: Vec<_> = edges.map(|edge| (edge.source, edge.destination, 1.0)).collect();
                    graph.ingest(LabelId::DEFAULT, &edges)?;
                }
                Weights::FromFile => {
                    let edges = edges.map(|edge| self.weighted(edge)).collect::<Result<Vec<_>, _>>()?;
                    graph.ingest(LabelId::DEFAULT, &edges)?;
                }
            }
            Ok(())
        })?;
        let (graph, snapshot) = (graph.clone(), graph.snapshot()?);
        Ok(Loaded { graph, snapshot, rows, skipped, elapsed: started.elapsed() })
    }

    /// Checks that an edge has a weight that a shortest path can use.
    fn weighted<K: VertexKey + AsKey>(&self, edge: Edge<K>) -> Result<(K, K, f64), CliError> {
        let ends = || {
            let (source, destination) = (edge.source.as_key(), edge.destination.as_key());
            (self.graph.to_path_buf(), source.to_string(), destination.to_string())
        };
        match edge.weight {
            Some(weight) if weight >= 0.0 => Ok((edge.source, edge.destination, weight)),
            Some(weight) => {
                let (graph, from, to) = ends();
                let fault = format!("has the weight {}, but weights must be 0 or more", Float(weight));
                Err(CliError::BadWeight { graph, from, to, fault })
            }
            None => {
                let (graph, from, to) = ends();
                Err(CliError::NoWeight { graph, from, to })
            }
        }
    }

    /// Reads the vertex file, if there is one, then the graph file, and passes each batch to the
    /// caller. Then prints notes on suspicious lines, on weights only if the caller `uses_weights`.
    pub fn for_each_batch<K: VertexKey>(
        &self,
        uses_weights: bool,
        threads: &Threads,
        console: &Console,
        interrupt: &Interrupt,
        mut visit: impl FnMut(&mut Batch<K>) -> Result<(), CliError>,
    ) -> Result<SkippedLines, CliError> {
        let mut skipped = SkippedLines::default();
        if let Some(vertices) = &self.format.vertices {
            let reader = GraphReader::open_vertices(vertices, self.options())?;
            let lint = Lint::new(vertices, self.format, false);
            skipped = read(reader, lint, threads, console, interrupt, &mut visit)?;
        }
        let reader = open(self.graph, self.options())?;
        let lint = Lint::new(self.graph, self.format, uses_weights);
        let more = read(reader, lint, threads, console, interrupt, &mut visit)?;
        add_skipped(&mut skipped, &more);
        Ok(skipped)
    }

    /// The kind of the keys of the graph.
    pub fn key_kind(&self) -> KeyKind {
        self.format.keys().kind()
    }

    fn options(&self) -> ReadOptions {
        self.format.read_options(BATCH)
    }
}

/// The label of edges with weights.
fn weighted_edges() -> LabelSchema {
    LabelSchema { name: "edge".into(), edges: EdgeSchema::Value(ColumnType::F64) }
}

/// Opens a graph file, or standard input.
pub fn open<K: VertexKey>(graph: &Path, options: ReadOptions) -> Result<GraphReader<K>, FormatError> {
    if graph == Path::new(STANDARD_INPUT) {
        GraphReader::from_reader("standard input", io::stdin(), options)
    } else {
        GraphReader::open_with(graph, options)
    }
}

/// Adds the lines skipped in another file.
pub fn add_skipped(skipped: &mut SkippedLines, more: &SkippedLines) {
    skipped.count += more.count;
    skipped.examples.extend(more.examples.iter().cloned());
}

/// Reads one file batch by batch, with a progress bar.
fn read<K: VertexKey>(
    mut reader: GraphReader<K>,
    mut lint: Lint,
    threads: &Threads,
    console: &Console,
    interrupt: &Interrupt,
    visit: &mut impl FnMut(&mut Batch<K>) -> Result<(), CliError>,
) -> Result<SkippedLines, CliError> {
    let bar = progress::of_bytes(console, "reading", reader.progress().total);
    let mut batch = Batch::new();
    let (started, mut edges) = (Instant::now(), 0);
    while reader.read_batch_on(threads.pool(), &mut batch)? {
        interrupt.check()?;
        edges += batch.edges.len() as u64;
        bar.set_position(reader.progress().done);
        lint.see(&batch);
        visit(&mut batch).map_err(|error| cause_of(error, &mut reader))?;
    }
    bar.finish_and_clear();
    interrupt.check()?;
    console.detail(|| {
        let (edges, elapsed) = (text::counted(edges, "edge", "edges"), text::duration(started.elapsed()));
        format!("read {} in {elapsed}: {edges}", lint.name())
    });
    lint.tell(console);
    Ok(reader.skipped().clone())
}

/// The cause of an error about the content of a file: damage of its compressed data, or the error
/// itself.
pub fn cause_of<K: VertexKey>(error: CliError, reader: &mut GraphReader<K>) -> CliError {
    let damage = error.is_about_input().then(|| reader.damage()).flatten();
    damage.map_or(error, CliError::Input)
}

/// Makes vertices exist, as one commit.
pub fn add_vertices<K: AsKey>(graph: &Graph, vertices: &[K]) -> Result<(), CliError> {
    if vertices.is_empty() {
        return Ok(());
    }
    let transaction = graph.begin()?;
    for vertex in vertices {
        transaction.add_vertex(vertex)?;
    }
    transaction.commit()?;
    Ok(())
}

/// Describes the lines that were skipped, with the problems of the first few.
pub fn describe_skipped(skipped: &SkippedLines) -> String {
    let examples = skipped.examples.iter().map(|example| format!("\n  {example}"));
    text::Count(skipped.count).to_string() + &examples.collect::<String>()
}
