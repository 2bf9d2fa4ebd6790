//! `hedgerow generate`: writes a generated graph to a file.

use crate::args::{KroneckerArgs, Model};
use crate::console::Console;
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::{progress, text};
use hedgerow_formats::{EdgeListWriter, Kronecker};
use serde::Serialize;
use std::time::Instant;

/// Edges that are generated in one go.
const CHUNK: u64 = 1 << 16;

/// What was written.
#[derive(Debug, Serialize)]
struct Generated {
    model: &'static str,
    scale: u32,
    edge_factor: u64,
    seed: u64,
    vertices: u64,
    edges: u64,
    seconds: f64,
    output: String,
}

/// Writes the graph.
pub fn execute(model: &Model, console: &Console, interrupt: &Interrupt) -> Result<(), CliError> {
    let Model::Kronecker(args) = model;
    let started = Instant::now();
    let graph = Kronecker::new(args.scale, args.edge_factor, args.seed)?;
    write(&graph, args, console, interrupt)?;
    let generated = Generated {
        model: "kronecker",
        scale: args.scale,
        edge_factor: args.edge_factor,
        seed: args.seed,
        vertices: graph.vertices(),
        edges: graph.edges(),
        seconds: started.elapsed().as_secs_f64(),
        output: args.output.display().to_string(),
    };
    console.print(&generated, |generated| {
        let elapsed = started.elapsed();
        text::table(&[
            ("vertices", format!("up to {}", text::Count(generated.vertices))),
            ("edges", text::Count(generated.edges).to_string()),
            (
                "time",
                format!("{}, {}", text::duration(elapsed), text::edges_per_second(generated.edges, elapsed)),
            ),
            ("output", generated.output.clone()),
        ])
    })
}

fn write(
    graph: &Kronecker,
    args: &KroneckerArgs,
    console: &Console,
    interrupt: &Interrupt,
) -> Result<(), CliError> {
    let mut writer = EdgeListWriter::create(&args.output).map_err(CliError::Output)?;
    let bar = progress::of_steps(console, "writing", graph.edges());
    let mut edges = Vec::new();
    let mut start = 0;
    while start < graph.edges() {
        interrupt.check()?;
        let end = graph.edges().min(start + CHUNK);
        edges.clear();
        graph.fill(start..end, &mut edges);
        for (source, destination) in &edges {
            writer.write(*source, *destination, None).map_err(CliError::Output)?;
        }
        bar.set_position(end);
        start = end;
    }
    writer.finish().map_err(CliError::Output)?;
    bar.finish_and_clear();
    Ok(())
}
