//! The steps common to all kernels: loading, running, writing, summarizing.

use super::args::{EngineName, KernelCommand, RunPlace, ViewName};
use super::facts::Facts;
use super::results::Results;
use super::session::{OpenGraph, Session, name_edge};
use super::{Output, RunCommand, RunOptions};
use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::input::{Input, Loaded, Means, Weights};
use crate::interrupt::Interrupt;
use crate::keys;
use crate::objects::path::VALUE;
use crate::options::{MemoryArgs, Place};
use crate::stored::{self, StoredState, number};
use crate::threads::Threads;
use crate::{progress, text};
use hedgerow::kernels::{BuildOptions, EdgeWeight};
use hedgerow::{Catalog, Column, ColumnType, EdgeSchema, EngineKind, Key, KeyKind, LabelId, Topology};
use hedgerow_compiled_kernels::Target;
use hedgerow_formats::{STANDARD_OUTPUT, SkippedLines};
use serde::Serialize;
use std::path::Path;
use std::time::{Duration, Instant};

#[derive(Serialize)]
struct Summary<'a> {
    kernel: &'static str,
    #[serde(flatten)]
    facts: &'a Facts,
    #[serde(flatten)]
    details: &'a serde_json::Value,
}

/// Checks that the result can be written, loads the graph and runs the kernel.
pub fn execute(
    kernel: &KernelCommand<RunPlace>,
    console: &Console,
    interrupt: &Interrupt,
) -> Result<(), CliError> {
    let (command, run) = (kernel.command(), kernel.place());
    let (options, graph) = (command.options(), &run.graph);
    let place = graph.place()?;
    let (kind, label) = match place {
        Place::File(file) if options.weight.is_some_and(|(name, _)| name != VALUE) => {
            return Err(CliError::OnlyForStores { option: "--weight PROPERTY", path: file.into() });
        }
        Place::File(_) => (graph.format.keys().kind(), LabelId::DEFAULT),
        Place::Store(store) => look_into(store, graph.label.as_deref(), &options)?,
    };
    let sources = keys_of(&options, kind)?;
    let output = match options.output {
        Output::File(path) => Some(path),
        Output::Default if !console.is_json() => Some(Path::new(STANDARD_OUTPUT)),
        Output::Default | Output::None => None,
    };
    if let Some(path) = output {
        graph.in_use(place).check_output("--output", path)?;
    }
    let threads = Threads::new(run.runner.threads)?;
    let mut loaded = match place {
        Place::File(file) => load(file, run, &options, &threads, console, interrupt)?,
        Place::Store(store) => {
            let args = graph.read(run.memory());
            let state = stored::read(store, &args, Some(threads.count()), console)?;
            let StoredState { graph, snapshot, elapsed, .. } = state;
            let (graph, state) = (Some(graph), snapshot.into());
            Loaded { graph, state, rows: 0, skipped: SkippedLines::default(), elapsed }
        }
    };
    interrupt.check()?;
    let view = run.runner.view;
    if let (Some(graph), Some(newest)) = (&loaded.graph, loaded.state.snapshot()) {
        loaded.state = view.open(graph, newest.clone())?.into();
    }
    let graph = OpenGraph {
        place,
        from_checkpoint: graph.from_checkpoint,
        loaded: &loaded,
        label,
        engine: run.engine(loaded.state.engine()),
        view,
        threads: &threads,
    };
    compute(command, &graph, sources, output, console, interrupt)
}

/// Runs the kernel on a loaded graph, writes the result and prints the summary: to standard error
/// if the result goes to standard output.
pub fn compute(
    command: &dyn RunCommand,
    graph: &OpenGraph<'_>,
    sources: Vec<Key>,
    output: Option<&Path>,
    console: &Console,
    interrupt: &Interrupt,
) -> Result<(), CliError> {
    let options = command.options();
    let weight = options.weight.map(|(name, _)| weight_of(graph, name)).transpose()?;
    let (target, copied) = target(graph, &options, weight, console, interrupt)?;
    // A static copy has the edges of one label, under another number, and its weights as values.
    let (label, weight) = match copied {
        Some(_) => (LabelId::DEFAULT, weight.map(|_| EdgeWeight::Value(ColumnType::F64))),
        None => (graph.label, weight),
    };
    let session = Session { graph, label, weight, output, target, sources, console, interrupt };
    let finished = command.run(&session)?;
    if let Some(path) = output {
        let (state, column) = (&graph.loaded.state, finished.column);
        let (value, parents) = (&finished.value, finished.parents.as_ref());
        Results { state, column, value, parents }.write(path, interrupt)?;
    }
    let facts = Facts::new(&session, copied, finished.elapsed);
    let summary = Summary { kernel: command.name(), facts: &facts, details: &finished.details };
    let describe = |summary: &Summary<'_>| {
        let rows = summary.facts.rows(graph.loaded).into_iter().chain(finished.rows);
        let rows: Vec<_> = rows.chain(summary.facts.output_row()).collect();
        text::table(&rows) + &finished.appendix
    };
    match output {
        Some(output) => console.summarize(Some(output), &summary, describe),
        // There is no other result.
        None => console.print(&summary, describe),
    }
}

/// The keys that the kernel starts from.
pub fn keys_of(options: &RunOptions<'_>, kind: KeyKind) -> Result<Vec<Key>, CliError> {
    options.sources.iter().map(|text| keys::parse("--source", text, kind)).collect()
}

/// The kind of keys in a store, and the label, without opening the graph. Fails if the kernel could
/// not run on it.
fn look_into(
    store: &Path,
    label: Option<&str>,
    options: &RunOptions<'_>,
) -> Result<(KeyKind, LabelId), CliError> {
    let made_with = hedgerow::store::manifest(store).map_err(StoredError::from)?.options;
    Ok((made_with.keys, label_of(&made_with.catalog, label, options, store)?))
}

/// The label that the kernel reads in a store. Fails if the kernel could not run on it.
pub fn label_of(
    catalog: &Catalog,
    label: Option<&str>,
    options: &RunOptions<'_>,
    store: &Path,
) -> Result<LabelId, CliError> {
    let (label, schema) = stored::label(catalog, label, store)?;
    let column = schema.edges.column();
    match options.weights {
        Weights::Unit => Err(CliError::OnlyForFiles { option: "--unit-weights", path: store.into() }),
        Weights::FromFile if column != f64::TYPE && options.weight.is_none() => {
            let (label, declared) = (schema.name.clone(), number::describe(column));
            Err(StoredError::NoWeights { label, declared, store: store.into() }.into())
        }
        Weights::FromFile | Weights::Ignored => Ok(label),
    }
}

fn load(
    file: &Path,
    run: &RunPlace,
    options: &RunOptions<'_>,
    threads: &Threads,
    console: &Console,
    interrupt: &Interrupt,
) -> Result<Loaded, CliError> {
    let topology = match (run.graph.undirected, options.reads_in_neighbors) {
        (true, _) => Topology::Undirected,
        (false, true) => Topology::DirectedWithReverse,
        (false, false) => Topology::Directed,
    };
    let input = Input { graph: file, format: &run.graph.format };
    // Only engines have several views.
    let of_view = (run.runner.view != ViewName::Fresh).then_some(EngineKind::Rapid);
    let memory = run.memory();
    let memory = MemoryArgs { engine: memory.engine.or(of_view), ..memory };
    input.load(options.weights, topology, &memory, Means { threads, console, interrupt })
}

/// The weight of edges by a property with this name, or by their values, which are all that files
/// have.
fn weight_of(graph: &OpenGraph<'_>, name: &str) -> Result<EdgeWeight, CliError> {
    let Some(snapshot) = graph.loaded.state.snapshot() else {
        return Ok(EdgeWeight::Value(ColumnType::F64));
    };
    let catalog = snapshot.catalog();
    let is_value =
        name == VALUE && matches!(catalog.labels()[graph.label.index()].edges, EdgeSchema::Value(_));
    let weight = snapshot.edge_weight(graph.label, Some(name).filter(|_| !is_value));
    Ok(weight.map_err(StoredError::from)?)
}

/// The target that the kernel runs on, and the time of making a static copy.
fn target(
    graph: &OpenGraph<'_>,
    options: &RunOptions<'_>,
    weight: Option<EdgeWeight>,
    console: &Console,
    interrupt: &Interrupt,
) -> Result<(Target, Option<Duration>), CliError> {
    let state = &graph.loaded.state;
    let Some(snapshot) = state.snapshot().filter(|_| graph.engine == EngineName::CSR) else {
        return Ok((state.target(), None));
    };
    let started = Instant::now();
    let bar = progress::spinner(console, "copying");
    let (pool, cancel) = (graph.threads.pool(), Some(interrupt.token()));
    let build = BuildOptions { pool, cancel, ..BuildOptions::default() };
    let csr = match (weight.zip(options.weight), options.weights) {
        (Some((weight, (_, parallel))), _) => snapshot.to_weighted_csr(graph.label, weight, parallel, build),
        (None, Weights::Ignored) => snapshot.to_csr::<()>(graph.label, build),
        (None, Weights::Unit | Weights::FromFile) => snapshot.to_csr::<f64>(graph.label, build),
    };
    let csr = interrupt.or_interrupted(csr).map_err(|error| name_edge(error, graph))?;
    bar.finish_and_clear();
    Ok((csr.into(), Some(started.elapsed())))
}
