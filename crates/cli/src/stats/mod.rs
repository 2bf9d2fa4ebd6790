//! `hedgerow stats`: counts what is in a graph file.

mod args;
mod components;
mod degrees;
mod plot;

pub use args::StatsArgs;

use crate::console::Console;
use crate::error::CliError;
use crate::input::{Input, Loaded, describe_skipped};
use crate::interrupt::Interrupt;
use crate::outputs::FilesInUse;
use crate::text;
use crate::threads::Threads;
use components::Components;
use degrees::{DegreeCensus, Degrees};
use hedgerow::{Direction, Topology};
use serde::Serialize;

#[derive(Debug, Serialize)]
struct Stats {
    graph: String,
    undirected: bool,
    vertices: u64,
    /// Distinct edges.
    edges: u64,
    /// Edges in the file, repeated ones counted.
    rows: u64,
    /// Rows that repeat an edge.
    duplicates: u64,
    /// Distinct edges from a vertex to itself.
    self_loops: u64,
    skipped_lines: u64,
    load_seconds: f64,
    /// Components that ignore the direction of edges.
    components: Components,
    degrees: Vec<Degrees>,
}

/// Counts and prints.
pub fn execute(args: &StatsArgs, console: &Console, interrupt: &Interrupt) -> Result<(), CliError> {
    // First check that the file can be written.
    if let Some(path) = &args.plot {
        FilesInUse::read(args.format.files(&args.graph)).check_output("--plot", path)?;
    }
    let threads = Threads::new(None)?;
    let topology = if args.undirected { Topology::Undirected } else { Topology::DirectedWithReverse };
    let input = Input { graph: &args.graph, format: &args.format };
    let loaded = input.load(topology, &args.memory, &threads, console, interrupt)?;
    let census = |name, direction| {
        let execution = threads.execution(interrupt);
        interrupt.or_interrupted(loaded.snapshot.run(DegreeCensus { name, direction, execution }))
    };
    let degrees = if args.undirected {
        vec![census("degree", Direction::Out)?]
    } else {
        vec![census("out-degree", Direction::Out)?, census("in-degree", Direction::In)?]
    };
    let components = components::count(&loaded.snapshot, threads.execution(interrupt));
    let components = interrupt.or_interrupted(components)?;
    if let Some(path) = &args.plot {
        plot::write(path, &args.graph.display().to_string(), &degrees)?;
    }
    let edges = loaded.snapshot.edge_count().at_most();
    let stats = Stats {
        graph: args.graph.display().to_string(),
        undirected: args.undirected,
        vertices: loaded.snapshot.vertex_count(),
        edges,
        rows: loaded.rows,
        duplicates: loaded.rows - edges,
        self_loops: degrees[0].self_loops,
        skipped_lines: loaded.skipped.count,
        load_seconds: loaded.elapsed.as_secs_f64(),
        components,
        degrees,
    };
    console.print(&stats, |stats| describe(stats, &loaded))
}

fn describe(stats: &Stats, loaded: &Loaded) -> String {
    let count = |number| text::Count(number).to_string();
    let direction = if stats.undirected { "undirected" } else { "directed" };
    let mut rows = vec![
        ("graph", format!("{}, {direction}", stats.graph)),
        ("vertices", count(stats.vertices)),
        ("edges", count(stats.edges)),
        ("rows", count(stats.rows)),
        ("duplicates", count(stats.duplicates)),
        ("self loops", count(stats.self_loops)),
        ("components", describe_components(stats)),
        ("skipped lines", describe_skipped(&loaded.skipped)),
    ];
    let load = text::edges_per_second(stats.rows, loaded.elapsed);
    rows.push(("load", format!("{}, {load}", text::duration(loaded.elapsed))));
    let degrees = stats.degrees.iter().map(|degrees| format!("\n{degrees}"));
    text::table(&rows) + &degrees.collect::<String>()
}

fn describe_components(stats: &Stats) -> String {
    let Components { count, largest, single } = stats.components;
    let share = 100.0 * largest as f64 / stats.vertices.max(1) as f64;
    let largest = text::counted(largest, "vertex", "vertices");
    format!("{}, the largest of {largest} ({share:.1} %), {} of one", text::Count(count), text::Count(single))
}
