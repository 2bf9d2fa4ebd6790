//! Loads a graph file into a graph.

use crate::console::Console;
use crate::error::CliError;
use crate::float::Float;
use crate::interrupt::Interrupt;
use crate::lint::Lint;
use crate::options::{FormatArgs, KeysName, MemoryArgs, STANDARD_INPUT};
use crate::progress;
use crate::state::GraphState;
use crate::text;
use crate::threads::Threads;
use hedgerow::kernels::BuildOptions;
use hedgerow::{
    AsKey, ColumnType, EdgeSchema, Graph, GraphOptions, KeyKind, LabelId, LabelSchema, Topology, WriteGraph,
};
use hedgerow_formats::{
    Batch, Edge, ErrorKind, FormatError, GraphFormat, GraphReader, ReadOptions, SkippedLines, StaticGraph,
    StaticGraphBuilder, VertexKey, read_ahead,
};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Edges and vertices per commit.
pub const BATCH: usize = 1 << 20;

/// The portions in which a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Portions {
    /// As they are parsed.
    Pieces,
    /// Enough for a commit.
    Commits,
}

impl Portions {
    /// Reads the next contents; false at the end.
    fn read<K: VertexKey>(
        self,
        reader: &mut GraphReader<K>,
        threads: &Threads,
        batches: &mut Vec<Batch<K>>,
    ) -> Result<bool, FormatError> {
        match self {
            Portions::Pieces => reader.read_pieces_on(threads.pool(), batches),
            Portions::Commits => {
                batches.resize(1, Batch::new());
                reader.read_batch_on(threads.pool(), &mut batches[0])
            }
        }
    }
}

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
    /// The graph, if it is writable.
    pub graph: Option<Graph>,
    pub state: GraphState,
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

/// The resources of a command.
#[derive(Clone, Copy, Debug)]
pub struct Means<'a> {
    pub threads: &'a Threads,
    pub console: &'a Console,
    pub interrupt: &'a Interrupt,
}

impl Input<'_> {
    /// Reads the whole file into a static graph, or into a writable one if an engine is requested.
    /// Of several weights of one edge the last stays.
    pub fn load(
        &self,
        weights: Weights,
        topology: Topology,
        memory: &MemoryArgs,
        means: Means<'_>,
    ) -> Result<Loaded, CliError> {
        match self.format.keys() {
            KeysName::Number | KeysName::Dense => self.load_keys::<u64>(weights, topology, memory, means),
            KeysName::Text => self.load_keys::<Box<str>>(weights, topology, memory, means),
        }
    }

    fn load_keys<K: VertexKey + AsKey>(
        &self,
        weights: Weights,
        topology: Topology,
        memory: &MemoryArgs,
        means: Means<'_>,
    ) -> Result<Loaded, CliError> {
        let mut reader = self.open::<K>()?;
        let topology = if reader.is_undirected()? { Topology::Undirected } else { topology };
        if memory.asks_for_engine() {
            return self.load_into_engine(reader, weights, topology, memory, means);
        }
        if let Some(loaded) = self.load_serialized::<K>(weights, topology, memory, means)? {
            return Ok(loaded);
        }
        let keys = self.key_kind();
        let builder = match weights {
            Weights::Ignored => StaticGraphBuilder::<K>::new(topology, keys),
            Weights::Unit | Weights::FromFile => StaticGraphBuilder::valued(topology, keys, ColumnType::F64),
        };
        let builder = builder.with_limit(memory.limit_bytes()).on(means.threads.pool());
        self.load_static(reader, builder, weights, means)
    }

    /// Loads a serialized graph as it lies in its file, if that is possible.
    fn load_serialized<K: VertexKey>(
        &self,
        weights: Weights,
        topology: Topology,
        memory: &MemoryArgs,
        Means { threads, console, interrupt }: Means<'_>,
    ) -> Result<Option<Loaded>, CliError> {
        let started = Instant::now();
        let has_weights = match self.format_of_graph() {
            Some(GraphFormat::Serialized) if weights == Weights::Ignored => false,
            Some(GraphFormat::WeightedSerialized) if weights != Weights::Unit => true,
            _ => return Ok(None),
        };
        let has_ids = K::KIND == KeyKind::Number && self.format.vertices.is_none();
        if !has_ids || memory.limit_bytes().is_some() || self.graph == Path::new(STANDARD_INPUT) {
            return Ok(None);
        }
        let bar = progress::spinner(console, "reading");
        let weights = (has_weights, weights == Weights::FromFile);
        let (pool, cancel) = (threads.pool(), Some(interrupt.token()));
        let build = BuildOptions { pool, cancel, ..BuildOptions::default() };
        let graph = StaticGraph::of_serialized(self.graph, weights, topology, build);
        interrupt.check()?;
        bar.finish_and_clear();
        Ok(graph?.map(|graph| {
            let (rows, elapsed) = (graph.csr().neighbors().len() as u64, started.elapsed());
            tell_read(console, &self.graph.display().to_string(), rows, elapsed);
            let state = GraphState::Static(Arc::new(graph));
            Loaded { graph: None, state, rows, skipped: SkippedLines::default(), elapsed }
        }))
    }

    fn load_static<K: VertexKey + AsKey>(
        &self,
        reader: GraphReader<K>,
        mut builder: StaticGraphBuilder<'_, K>,
        weights: Weights,
        means: Means<'_>,
    ) -> Result<Loaded, CliError> {
        let Means { threads, console, interrupt } = means;
        let (started, mut rows) = (Instant::now(), 0);
        let skipped = self.for_each_batch_of(reader, weights, Portions::Pieces, means, |batch| {
            rows += batch.edges.len() as u64;
            match weights {
                Weights::Ignored | Weights::Unit => Ok(builder.add(batch)?),
                Weights::FromFile => {
                    let weights = batch.edges.iter().map(|edge| self.weight(edge));
                    Ok(builder.add_weighted(batch, &weights.collect::<Result<Vec<_>, _>>()?)?)
                }
            }
        })?;
        let bar = progress::spinner(console, "building");
        let (pool, cancel) = (threads.pool(), Some(interrupt.token()));
        let graph = builder.finish(BuildOptions { pool, cancel, ..BuildOptions::default() });
        interrupt.check()?;
        bar.finish_and_clear();
        let state = GraphState::Static(Arc::new(graph?));
        Ok(Loaded { graph: None, state, rows, skipped, elapsed: started.elapsed() })
    }

    fn load_into_engine<K: VertexKey + AsKey>(
        &self,
        reader: GraphReader<K>,
        weights: Weights,
        topology: Topology,
        memory: &MemoryArgs,
        means: Means<'_>,
    ) -> Result<Loaded, CliError> {
        let threads = means.threads.count();
        let options = GraphOptions::new().topology(topology).keys(self.key_kind()).threads(threads);
        let options = match weights {
            Weights::Ignored => options,
            Weights::FromFile | Weights::Unit => options.label_schema(weighted_edges()),
        };
        let graph = Graph::in_memory(memory.limit(options))?;
        let started = Instant::now();
        let mut rows = 0;
        let skipped = self.for_each_batch_of(reader, weights, Portions::Commits, means, |batch| {
            add_vertices(&graph, &batch.vertices)?;
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
                    let weighted = |edge: Edge<K>| Ok((self.weight(&edge)?, edge));
                    let edges = edges.map(weighted).collect::<Result<Vec<_>, CliError>>()?;
                    let edges =
                        edges.into_iter().map(|(weight, edge)| (edge.source, edge.destination, weight));
                    graph.ingest(LabelId::DEFAULT, &edges.collect::<Vec<_>>())?;
                }
            }
            Ok::<_, CliError>(())
        })?;
        let state = graph.snapshot()?.into();
        Ok(Loaded { graph: Some(graph), state, rows, skipped, elapsed: started.elapsed() })
    }

    /// The weight of an edge, if a shortest path can use it.
    fn weight<K: VertexKey + AsKey>(&self, edge: &Edge<K>) -> Result<f64, CliError> {
        let ends = || {
            let (source, destination) = (edge.source.as_key(), edge.destination.as_key());
            (self.graph.to_path_buf(), source.to_string(), destination.to_string())
        };
        match edge.weight {
            Some(weight) if weight >= 0.0 => Ok(weight),
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

    /// Reads the vertex file, if there is one, then the graph file, and passes the contents on
    /// while more is read. Then prints notes on suspicious lines, on weights only if they come from
    /// the file.
    pub fn for_each_batch<K: VertexKey>(
        &self,
        weights: Weights,
        portions: Portions,
        means: Means<'_>,
        visit: impl FnMut(&mut Batch<K>) -> Result<(), CliError>,
    ) -> Result<SkippedLines, CliError> {
        self.for_each_batch_of(self.open()?, weights, portions, means, visit)
    }

    /// Like [`Self::for_each_batch`], with the reader of the graph file.
    fn for_each_batch_of<K: VertexKey>(
        &self,
        reader: GraphReader<K>,
        weights: Weights,
        portions: Portions,
        means: Means<'_>,
        mut visit: impl FnMut(&mut Batch<K>) -> Result<(), CliError>,
    ) -> Result<SkippedLines, CliError> {
        let mut skipped = SkippedLines::default();
        if let Some(vertices) = &self.format.vertices {
            let reader = GraphReader::open_vertices(vertices, self.options())?;
            let lint = Lint::new(vertices, self.format, false);
            skipped = read(reader, portions, lint, means, &mut visit)?;
        }
        let lint = Lint::new(self.graph, self.format, weights == Weights::FromFile);
        let more = read(reader, portions, lint, means, &mut visit)?;
        add_skipped(&mut skipped, &more);
        Ok(skipped)
    }

    fn open<K: VertexKey>(&self) -> Result<GraphReader<K>, FormatError> {
        open(self.graph, self.options())
    }

    fn options(&self) -> ReadOptions {
        self.format.read_options(BATCH)
    }

    /// The format of the graph file, if an option or its name says it.
    fn format_of_graph(&self) -> Option<GraphFormat> {
        self.options().format_of(self.graph)
    }

    /// The kind of the keys of the graph.
    pub fn key_kind(&self) -> KeyKind {
        self.format.keys().kind()
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

/// Reads one file, with a progress bar. While some contents are visited, the next are read. An
/// error comes after the contents before it, whose error precedes it unless the file is damaged.
pub fn read<K: VertexKey>(
    mut reader: GraphReader<K>,
    portions: Portions,
    mut lint: Lint,
    Means { threads, console, interrupt }: Means<'_>,
    visit: &mut impl FnMut(&mut Batch<K>) -> Result<(), CliError>,
) -> Result<SkippedLines, CliError> {
    let bar = progress::of_bytes(console, "reading", reader.progress().total);
    let (started, mut edges) = (Instant::now(), 0);
    let (end, visited) = read_ahead(
        threads.pool(),
        |(batches, done): &mut (Vec<Batch<K>>, u64)| {
            let read = portions.read(&mut reader, threads, batches);
            *done = reader.progress().done;
            read
        },
        |(batches, done)| {
            bar.set_position(*done);
            interrupt.check()?;
            batches.iter_mut().filter(|batch| !batch.is_empty()).try_for_each(|batch| {
                edges += batch.edges.len() as u64;
                lint.see(batch);
                visit(batch)
            })
        },
    );
    if let Err(error) = visited {
        return Err(match end {
            Err(damage) if error.is_about_input() && damage.kind() == ErrorKind::Corrupt => damage.into(),
            _ => cause_of(error, &mut reader),
        });
    }
    end?;
    bar.finish_and_clear();
    interrupt.check()?;
    tell_read(console, lint.name(), edges, started.elapsed());
    lint.tell(console);
    Ok(reader.skipped().clone())
}

fn tell_read(console: &Console, name: &str, edges: u64, elapsed: Duration) {
    console.detail(|| {
        let (edges, elapsed) = (text::counted(edges, "edge", "edges"), text::duration(elapsed));
        format!("read {name} in {elapsed}: {edges}")
    });
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
