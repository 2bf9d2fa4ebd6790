//! The steps common to all kernels: loading, running, writing, summarizing.

use super::args::{CommonRunArgs, EngineName};
use super::facts::Facts;
use super::sources;
use super::value::Value;
use super::{LargestDegree, Place, RunCommand, RunOptions, Target};
use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::input::{Input, Loaded, Weights};
use crate::interrupt::Interrupt;
use crate::keys::{self, JsonKey};
use crate::outputs::FilesInUse;
use crate::stored::args::{AsOfArgs, ReadArgs};
use crate::stored::{self, number};
use crate::threads::Threads;
use crate::{progress, results, text};
use hedgerow::kernels::{Execution, Kernel, Progress};
use hedgerow::{BuildOptions, Column, Key, KeyKind, LabelId, Topology, VertexId};
use hedgerow_formats::SkippedLines;
use indicatif::ProgressBar;
use serde::Serialize;
use std::path::Path;
use std::time::{Duration, Instant};

/// A graph loaded for a kernel, and the target that the kernel runs on.
pub struct Session<'a> {
    pub options: RunOptions<'a>,
    pub loaded: &'a Loaded,
    pub threads: &'a Threads,
    /// The label that the kernel reads, in the target.
    pub label: LabelId,
    /// The label that the kernel reads, in the graph.
    pub label_of_graph: LabelId,
    target: Target<'a>,
    sources: Vec<Key>,
    console: &'a Console,
    interrupt: &'a Interrupt,
}

/// The result of a kernel.
pub struct Finished {
    /// How long the kernel took.
    pub elapsed: Duration,
    /// The fields of the JSON summary beside the facts.
    pub details: serde_json::Value,
    /// The lines of the table beside the facts.
    pub rows: Vec<(&'static str, String)>,
    /// Text after the table.
    pub appendix: String,
    /// Returns the result of a vertex; `None` if it has none.
    pub value: Box<dyn Fn(VertexId) -> Option<Value>>,
}

#[derive(Serialize)]
struct Summary<'a> {
    kernel: &'static str,
    #[serde(flatten)]
    facts: &'a Facts,
    #[serde(flatten)]
    details: &'a serde_json::Value,
}

/// Checks that the result can be written, loads the graph, runs the kernel, writes the result and
/// prints the summary.
pub fn execute(command: &dyn RunCommand, console: &Console, interrupt: &Interrupt) -> Result<(), CliError> {
    let options = command.options();
    let common = options.common;
    let (kind, label_of_graph) = match common.place() {
        Place::File(_) => (common.format.keys().kind(), LabelId::DEFAULT),
        Place::Store(store) => look_into(store, &options)?,
    };
    let sources = options.sources.iter().map(|text| keys::parse("--source", text, kind));
    let sources = sources.collect::<Result<_, _>>()?;
    if let Some(path) = options.output {
        in_use(common).check_output("--output", path)?;
    }
    let threads = Threads::new(common.threads)?;
    let loaded = match common.place() {
        Place::File(graph) => load(graph, &options, &threads, console, interrupt)?,
        Place::Store(store) => open(store, common, &threads, console)?,
    };
    interrupt.check()?;
    let (target, copied) = target(&options, &loaded, label_of_graph, &threads, console, interrupt)?;
    // A static copy has the edges of one label, under another number.
    let label = if copied.is_some() { LabelId::DEFAULT } else { label_of_graph };
    let (loaded, threads) = (&loaded, &threads);
    let session =
        Session { options, loaded, threads, label, label_of_graph, target, sources, console, interrupt };
    let finished = command.run(&session)?;
    if let Some(path) = options.output {
        results::write(path, &loaded.snapshot, interrupt, &finished.value)?;
    }
    let facts = Facts::new(&session, copied, finished.elapsed);
    let summary = Summary { kernel: command.name(), facts: &facts, details: &finished.details };
    console.print(&summary, |summary| {
        let rows = summary.facts.rows(loaded).into_iter().chain(finished.rows);
        let rows: Vec<_> = rows.chain(summary.facts.output_row()).collect();
        text::table(&rows) + &finished.appendix
    })
}

/// The inputs: the store, or the graph file with the files that belong to it.
fn in_use(common: &CommonRunArgs) -> FilesInUse {
    match common.place() {
        Place::File(graph) => FilesInUse::read(common.format.files(graph)),
        Place::Store(store) => FilesInUse::read([store]),
    }
}

/// The kind of keys in a store, and the label, without opening the graph. Fails if the kernel could
/// not run on it.
fn look_into(store: &Path, options: &RunOptions<'_>) -> Result<(KeyKind, LabelId), CliError> {
    let made_with = hedgerow::store::manifest(store).map_err(StoredError::from)?.options;
    let (label, schema) = stored::label(&made_with.catalog, options.common.label.as_deref(), store)?;
    let column = schema.edges.column();
    if options.weights == Weights::FromFile && column != f64::TYPE {
        let (label, declared) = (schema.name.clone(), number::describe(column));
        return Err(StoredError::NoWeights { label, declared, store: store.into() }.into());
    }
    Ok((made_with.keys, label))
}

/// Opens the graph in a store.
fn open(
    store: &Path,
    common: &CommonRunArgs,
    threads: &Threads,
    console: &Console,
) -> Result<Loaded, CliError> {
    let &CommonRunArgs { from_checkpoint, as_of, as_of_time, .. } = common;
    let memory = common.memory();
    let args = ReadArgs { from_checkpoint, as_of: AsOfArgs { as_of, as_of_time }, memory };
    let state = stored::read(store, &args, Some(threads.count()), console)?;
    let skipped = SkippedLines::default();
    Ok(Loaded { snapshot: state.snapshot, rows: 0, skipped, elapsed: state.elapsed })
}

fn load(
    graph: &Path,
    options: &RunOptions<'_>,
    threads: &Threads,
    console: &Console,
    interrupt: &Interrupt,
) -> Result<Loaded, CliError> {
    let CommonRunArgs { format, undirected, .. } = options.common;
    let topology = match (undirected, options.reads_in_neighbors) {
        (true, _) => Topology::Undirected,
        (false, true) => Topology::DirectedWithReverse,
        (false, false) => Topology::Directed,
    };
    Input { graph, format }.load_weighted(
        options.weights,
        topology,
        &options.common.memory(),
        threads,
        console,
        interrupt,
    )
}

/// The target that the kernel runs on, and how long a static copy took.
fn target<'a>(
    options: &RunOptions<'_>,
    loaded: &'a Loaded,
    label: LabelId,
    threads: &Threads,
    console: &Console,
    interrupt: &Interrupt,
) -> Result<(Target<'a>, Option<Duration>), CliError> {
    let snapshot = &loaded.snapshot;
    if options.common.engine() != EngineName::Csr {
        return Ok((Target::Snapshot(snapshot), None));
    }
    let started = Instant::now();
    let bar = progress::spinner(console, "copying");
    let (pool, cancel) = (threads.pool(), Some(interrupt.token()));
    let build = BuildOptions { pool, cancel, ..BuildOptions::default() };
    let csr = match options.weights {
        Weights::Ignored => snapshot.to_csr::<()>(label, build),
        Weights::Unit | Weights::FromFile => snapshot.to_csr::<f64>(label, build),
    };
    let csr = interrupt.or_interrupted(csr)?;
    bar.finish_and_clear();
    Ok((Target::Csr(csr), Some(started.elapsed())))
}

impl Session<'_> {
    /// Watches a kernel whose amount of work is unknown.
    pub fn watch(&self, what: &str) -> Watch<'_> {
        Watch::new(self, progress::spinner(self.console, what))
    }

    /// Watches a kernel of at most `iterations` iterations.
    pub fn watch_iterations(&self, what: &str, iterations: u32) -> Watch<'_> {
        Watch::new(self, progress::of_steps(self.console, what, u64::from(iterations)))
    }

    /// The given vertices that the kernel starts from.
    pub fn given_sources(&self) -> Result<Vec<VertexId>, CliError> {
        let find = |key| sources::find(key, &self.loaded.snapshot, self.options.common.place());
        self.sources.iter().map(find).collect()
    }

    /// The vertices that the kernel starts from, and whether none was given: then it is the vertex
    /// with the largest out-degree. There is at least one.
    pub fn sources(&self) -> Result<(Vec<VertexId>, bool), CliError> {
        if !self.sources.is_empty() {
            return Ok((self.given_sources()?, false));
        }
        let execution = self.threads.execution(self.interrupt);
        let kernel = LargestDegree { label: self.label, execution };
        let largest = self.interrupt.or_interrupted(self.target.run(kernel))?;
        let largest =
            largest.ok_or_else(|| CliError::EmptyGraph(self.options.common.place().path().into()))?;
        Ok((vec![largest], true))
    }

    /// Like [`Self::sources`], for a kernel that starts from one vertex.
    pub fn source(&self) -> Result<(VertexId, bool), CliError> {
        let (sources, chosen) = self.sources()?;
        Ok((sources[0], chosen))
    }

    /// The key of a vertex of the graph.
    pub fn key(&self, vertex: VertexId) -> Result<JsonKey, CliError> {
        Ok(self.loaded.snapshot.key(vertex)?.expect("kernels tell of vertices that exist").into())
    }
}

/// The execution of a kernel, with a progress display.
pub struct Watch<'a> {
    session: &'a Session<'a>,
    bar: ProgressBar,
    report: Box<dyn Fn(Progress) + Sync>,
}

impl<'a> Watch<'a> {
    fn new(session: &'a Session<'a>, bar: ProgressBar) -> Self {
        let shown = bar.clone();
        let report = Box::new(move |progress: Progress| shown.set_position(u64::from(progress.iteration)));
        Watch { session, bar, report }
    }

    /// Runs on the requested threads, until Ctrl-C.
    pub fn execution(&self) -> Execution<'_> {
        self.session.threads.execution(self.session.interrupt).reporting_to(&*self.report)
    }

    /// Runs a kernel with this execution.
    pub fn run<K: Kernel>(&self, kernel: K) -> Result<K::Output, CliError> {
        let result = self.session.target.run(kernel);
        self.bar.finish_and_clear();
        self.session.interrupt.or_interrupted(result)
    }
}
