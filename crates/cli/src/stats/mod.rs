//! `hedgerow stats`: counts what is in a graph file.

mod components;
mod degrees;
mod plot;

use crate::args::StatsArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::input::{Input, Loaded, describe_skipped};
use crate::interrupt::Interrupt;
use crate::text;
use crate::threads::Threads;
use components::Components;
use degrees::{DegreeCensus, Degrees};
use hedgerow::kernels::Wcc;
use hedgerow::{Direction, ErrorKind, Topology};
use hedgerow_formats::NewFile;
use serde::Serialize;

#[derive(Debug, Serialize)]
struct Stats {
    graph: String,
    undirected: bool,
    vertices: u64,
    /// Distinct edges.
    edges: u64,
    /// Edges as they stand in the file.
    rows: u64,
    /// Rows that repeat an edge.
    duplicates: u64,
    /// Distinct edges from a vertex to itself.
    self_loops: u64,
    skipped_lines: u64,
    load_seconds: f64,
    /// Of which all vertices are connected, whatever the direction of edges.
    /// `None` if there are so few vertices among so many ids that nobody can count them.
    components: Option<Components>,
    degrees: Vec<Degrees>,
}

/// Counts and prints.
pub fn execute(args: &StatsArgs, console: &Console, interrupt: &Interrupt) -> Result<(), CliError> {
    // Whether it can be written is looked at first.
    let plot = args.plot.as_ref().map(NewFile::create).transpose().map_err(CliError::Output)?;
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
    let wcc = Wcc { execution: threads.execution(interrupt), ..Wcc::default() };
    let components = match interrupt.or_interrupted(loaded.snapshot.run(wcc)) {
        Ok(result) => Some(Components::new(&result)),
        // All that the kernel may lack is memory for every id.
        Err(CliError::Graph(error)) if error.kind() == ErrorKind::Kernel => None,
        Err(error) => return Err(error),
    };
    if let (Some(file), Some(path)) = (plot, &args.plot) {
        plot::write(file, path, &args.graph.display().to_string(), &degrees)?;
    }
    let edges = loaded.snapshot.edge_count();
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
    let Some(Components { count, largest, single }) = stats.components else {
        return "not counted: the ids are too sparse for the memory".into();
    };
    let share = 100.0 * largest as f64 / stats.vertices.max(1) as f64;
    let largest = text::counted(largest, "vertex", "vertices");
    format!("{}, the largest of {largest} ({share:.1} %), {} of one", text::Count(count), text::Count(single))
}
