//! `hedgerow stats`: counts the contents of a graph: a file, or the graph in a store.

mod args;
mod components;
mod degrees;
mod plot;

pub use args::StatsArgs;

use crate::console::Console;
use crate::error::CliError;
use crate::input::{Input, Loaded, Means, Weights, describe_skipped};
use crate::interrupt::Interrupt;
use crate::options::{KeysName, MemoryArgs, Place};
use crate::stored::{self, StoredState};
use crate::text;
use crate::threads::Threads;
use components::Components;
use degrees::{DegreeCensus, Degrees};
use hedgerow::{Direction, EngineKind, LabelId, Snapshot, Topology};
use hedgerow_formats::SkippedLines;
use serde::Serialize;

#[derive(Debug, Serialize)]
struct Stats {
    #[serde(flatten)]
    source: Source,
    undirected: bool,
    vertices: u64,
    /// Distinct edges.
    edges: u64,
    /// The pairs of vertices that the edges connect, if edges may be parallel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pairs: Option<text::Edges>,
    #[serde(flatten)]
    rows: Option<Rows>,
    /// Distinct edges from a vertex to itself.
    self_loops: u64,
    load_seconds: f64,
    /// Components that ignore the direction of edges.
    components: Components,
    degrees: Vec<Degrees>,
}

/// The origin of the graph.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Source {
    File {
        graph: String,
    },
    Store {
        store: String,
        label: String,
        /// The commit whose state was read.
        timestamp: u64,
        from_checkpoint: bool,
    },
}

/// The lines of a file.
#[derive(Debug, Serialize)]
struct Rows {
    /// Edges in the file, repeated ones counted.
    rows: u64,
    /// Rows that repeat an edge.
    duplicates: u64,
    skipped_lines: u64,
}

/// Counts and prints.
pub fn execute(args: &StatsArgs, console: &Console, interrupt: &Interrupt) -> Result<(), CliError> {
    let place = args.graph.place()?;
    // First check that the file can be written.
    if let Some(path) = &args.plot {
        args.graph.in_use(place).check_output("--plot", path)?;
    }
    let threads = Threads::new(None)?;
    let (loaded, label) = load(args, place, &threads, console, interrupt)?;
    let (state, target) = (&loaded.state, loaded.state.target());
    let census = |name, direction| {
        let execution = threads.execution(interrupt);
        interrupt.or_interrupted(target.run(DegreeCensus { label, name, direction, execution }))
    };
    let topology = state.topology();
    let mut degrees = vec![match topology.is_undirected() {
        true => census("degree", Direction::Out)?,
        false => census("out-degree", Direction::Out)?,
    }];
    if topology == Topology::DirectedWithReverse {
        degrees.push(census("in-degree", Direction::In)?);
    }
    let components = components::count(&target, label, threads.execution(interrupt));
    let components = interrupt.or_interrupted(components)?;
    if let Some(path) = &args.plot {
        plot::write(path, &place.path().display().to_string(), &degrees)?;
    }
    // Counted, because some engines count edges later and know bounds until then. An undirected
    // edge has two ends, a self loop one.
    let Degrees { sum, self_loops, .. } = degrees[0];
    let edges = if topology.is_undirected() { (sum + self_loops) / 2 } else { sum };
    let are_parallel = |snapshot: &&Snapshot| {
        snapshot.catalog().label(label).is_some_and(|schema| schema.edges.key().is_some())
    };
    let pairs = state.snapshot().filter(are_parallel);
    let pairs = pairs.map(|snapshot| text::Edges(snapshot.pair_count_of(label)));
    let rows = matches!(place, Place::File(_)).then(|| Rows {
        rows: loaded.rows,
        duplicates: loaded.rows - edges,
        skipped_lines: loaded.skipped.count,
    });
    let stats = Stats {
        source: source(args, place, &loaded, label),
        undirected: topology.is_undirected(),
        vertices: state.vertex_count(),
        edges,
        pairs,
        rows,
        self_loops,
        load_seconds: loaded.elapsed.as_secs_f64(),
        components,
        degrees,
    };
    console.print(&stats, |stats| describe(stats, &loaded))
}

/// Loads the graph; returns also the label whose edges count.
fn load(
    args: &StatsArgs,
    place: Place<'_>,
    threads: &Threads,
    console: &Console,
    interrupt: &Interrupt,
) -> Result<(Loaded, LabelId), CliError> {
    let graph = &args.graph;
    match place {
        Place::File(file) => {
            let topology =
                if graph.undirected { Topology::Undirected } else { Topology::DirectedWithReverse };
            let input = Input { graph: file, format: &graph.format };
            let means = Means { threads, console, interrupt };
            // Ids may be so sparse that a static graph would consist of gaps.
            let may_be_sparse = graph.format.keys() == KeysName::Dense && !graph.memory.asks_for_engine();
            let engine = may_be_sparse.then_some(EngineKind::Rapid).or(graph.memory.engine);
            let memory = MemoryArgs { engine, ..graph.memory.clone() };
            let loaded = input.load(Weights::Ignored, topology, &memory, means)?;
            Ok((loaded, LabelId::DEFAULT))
        }
        Place::Store(store) => {
            let read = graph.read(graph.memory.clone());
            let state = stored::read(store, &read, Some(threads.count()), console)?;
            let (label, _) = stored::label(&state.snapshot.catalog(), graph.label.as_deref(), store)?;
            let StoredState { graph, snapshot, elapsed, .. } = state;
            let (graph, skipped) = (Some(graph), SkippedLines::default());
            Ok((Loaded { graph, state: snapshot.into(), rows: 0, skipped, elapsed }, label))
        }
    }
}

fn source(args: &StatsArgs, place: Place<'_>, loaded: &Loaded, label: LabelId) -> Source {
    let path = place.path().display().to_string();
    match (place, loaded.state.snapshot()) {
        (Place::Store(_), Some(snapshot)) => Source::Store {
            store: path,
            label: snapshot.catalog().labels()[label.index()].name.clone(),
            timestamp: snapshot.timestamp().0,
            from_checkpoint: args.graph.from_checkpoint,
        },
        _ => Source::File { graph: path },
    }
}

fn describe(stats: &Stats, loaded: &Loaded) -> String {
    let count = |number| text::Count(number).to_string();
    let direction = if stats.undirected { "undirected" } else { "directed" };
    let load = text::duration(loaded.elapsed);
    let mut rows = vec![match &stats.source {
        Source::File { graph } => ("graph", format!("{graph}, {direction}")),
        Source::Store { store, label, timestamp, .. } => {
            ("store", format!("{store}, {direction}, label {label:?}, commit {}", text::Count(*timestamp)))
        }
    }];
    rows.extend([("vertices", count(stats.vertices)), ("edges", count(stats.edges))]);
    rows.extend(stats.pairs.map(|pairs| ("pairs of vertices", pairs.to_string())));
    if let Some(Rows { rows: lines, duplicates, .. }) = &stats.rows {
        rows.extend([("rows", count(*lines)), ("duplicates", count(*duplicates))]);
    }
    rows.push(("self loops", count(stats.self_loops)));
    rows.push(("components", describe_components(stats)));
    match &stats.rows {
        Some(Rows { rows: lines, .. }) => {
            rows.push(("skipped lines", describe_skipped(&loaded.skipped)));
            let rate = text::edges_per_second(*lines, loaded.elapsed);
            rows.push(("load", format!("{load}, {rate}")));
        }
        None => rows.push(("load", load)),
    }
    let degrees = stats.degrees.iter().map(|degrees| format!("\n{degrees}"));
    text::table(&rows) + &degrees.collect::<String>()
}

fn describe_components(stats: &Stats) -> String {
    let Components { count, largest, single } = stats.components;
    let share = 100.0 * largest as f64 / stats.vertices.max(1) as f64;
    let largest = text::counted(largest, "vertex", "vertices");
    format!("{}, the largest of {largest} ({share:.1} %), {} of one", text::Count(count), text::Count(single))
}
