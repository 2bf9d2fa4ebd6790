//! `hedgerow generate`: writes a generated graph to a file.

mod args;
mod stream;

pub use args::GenerateArgs;

use crate::console::Console;
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::outputs::FilesInUse;
use crate::threads::Threads;
use crate::{progress, text};
use args::{CommonArgs, KroneckerArgs, Model, UniformArgs};
use hedgerow_formats::{Batch, Edge, GraphWriter, Kronecker, Uniform, Weights, WriteOptions, read_ahead};
use rayon::iter::{IntoParallelIterator, ParallelExtend, ParallelIterator};
use serde::Serialize;
use std::convert::Infallible;
use std::ops::Range;
use std::path::Path;
use std::time::Instant;

/// Edges that are generated at a time.
const CHUNK: u64 = 1 << 16;

/// The printed summary.
#[derive(Debug, Serialize)]
struct Generated {
    model: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    scale: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    edge_factor: Option<u64>,
    seed: u64,
    weights: bool,
    vertices: u64,
    edges: u64,
    seconds: f64,
    output: String,
}

/// Writes the graph.
pub fn execute(args: &GenerateArgs, console: &Console, interrupt: &Interrupt) -> Result<(), CliError> {
    let started = Instant::now();
    match &args.model {
        Model::Stream(args) => stream::execute(args, console, interrupt),
        Model::Kronecker(args) => {
            let KroneckerArgs { scale, edge_factor, common } = args;
            let graph = Kronecker::new(*scale, *edge_factor, common.seed)?;
            let sizes = (graph.vertices(), graph.edges());
            write(sizes, |index| graph.edge(index), common, console, interrupt)?;
            let generated = Generated::new("kronecker", sizes, common, started);
            report(
                &Generated { scale: Some(*scale), edge_factor: Some(*edge_factor), ..generated },
                started,
                console,
            )
        }
        Model::Uniform(args) => {
            let UniformArgs { vertices, edges, common } = args;
            let graph = Uniform::new(*vertices, *edges, common.seed)?;
            let sizes = (graph.vertices(), graph.edges());
            write(sizes, |index| graph.edge(index), common, console, interrupt)?;
            report(&Generated::new("uniform", sizes, common, started), started, console)
        }
    }
}

impl Generated {
    fn new(
        model: &'static str,
        (vertices, edges): (u64, u64),
        common: &CommonArgs,
        started: Instant,
    ) -> Self {
        Generated {
            model,
            scale: None,
            edge_factor: None,
            seed: common.seed,
            weights: common.weights,
            vertices,
            edges,
            seconds: started.elapsed().as_secs_f64(),
            output: common.output.display().to_string(),
        }
    }
}

fn report(generated: &Generated, started: Instant, console: &Console) -> Result<(), CliError> {
    console.summarize(Some(Path::new(&generated.output)), generated, |generated| {
        let elapsed = started.elapsed();
        let rate = text::edges_per_second(generated.edges, elapsed);
        text::table(&[
            ("vertices", format!("up to {}", text::Count(generated.vertices))),
            ("edges", text::Count(generated.edges).to_string()),
            ("time", format!("{}, {rate}", text::duration(elapsed))),
            ("output", generated.output.clone()),
        ])
    })
}

/// Writes vertices and edges, each generated from its number.
fn write(
    (vertices, edges): (u64, u64),
    edge: impl Fn(u64) -> (u64, u64) + Sync,
    common: &CommonArgs,
    console: &Console,
    interrupt: &Interrupt,
) -> Result<(), CliError> {
    let options = WriteOptions { undirected: common.undirected, ..WriteOptions::default() };
    FilesInUse::default().check_graph("--output", &common.output, &options)?;
    let threads = Threads::new(common.threads)?;
    let writer = GraphWriter::create(&common.output, &options).map_err(CliError::Output)?;
    let mut writer = writer.on(threads.pool());
    if common.weights && !writer.holds_weights() {
        return Err(CliError::NoPlaceForWeights(common.output.clone()));
    }
    let weights = common.weights.then(|| Weights::new(common.seed));
    let mut batch = Batch::new();
    if !writer.format().is_edge_list() {
        for vertices in pieces(vertices) {
            interrupt.check()?;
            batch.vertices.extend(vertices);
            writer.write(&batch).map_err(CliError::Output)?;
            batch.clear();
        }
    }
    let bar = progress::of_steps(console, "writing", edges);
    let weighted = |index| {
        let (source, destination) = edge(index);
        let weight = weights.as_ref().map(|weights| weights.weight(index) as f64);
        Edge { weight, ..Edge::new(source, destination) }
    };
    let mut left = pieces(edges);
    let (_, written) = read_ahead(
        threads.pool(),
        |batch: &mut Batch<u64>| {
            batch.clear();
            let numbers = left.next().unwrap_or_default();
            match threads.pool() {
                None => batch.edges.extend(numbers.clone().map(weighted)),
                Some(pool) => {
                    // A parallel range of `u64` does not know its length.
                    let places = (0..(numbers.end - numbers.start) as usize).into_par_iter();
                    let edges = places.map(|place| weighted(numbers.start + place as u64));
                    pool.install(|| batch.edges.par_extend(edges));
                }
            }
            Ok::<_, Infallible>(!numbers.is_empty())
        },
        |batch| {
            interrupt.check()?;
            bar.inc(batch.edges.len() as u64);
            writer.write(batch).map_err(CliError::Output)
        },
    );
    written?;
    let complete = writer.complete().map_err(CliError::Output)?;
    interrupt.check()?;
    complete.finish().map_err(CliError::Output)?;
    bar.finish_and_clear();
    Ok(())
}

/// The numbers below `count`, in pieces.
fn pieces(count: u64) -> impl Iterator<Item = Range<u64>> {
    let start = |piece: u64| piece * CHUNK;
    (0..count.div_ceil(CHUNK)).map(move |piece| start(piece)..count.min(start(piece).saturating_add(CHUNK)))
}
