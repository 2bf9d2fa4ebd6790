//! The cost of finding the first neighbor of a vertex, and then each further one: LiveGraph's first
//! figure (section 2.1).
//!
//! All structures hold the same graph, put in the same random order, and read the same vertices in
//! the same random order, in turns.

mod args;
mod costs;
mod picture;
mod structures;

pub use args::Arguments;

use crate::compare::graph::Graph;
use crate::compare::options::folder_in;
use anyhow::{Context, Result, ensure};
use costs::{Costs, table};
use hedgerow::VertexId;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Instant;
use structures::{Kind, Rows};

/// Maximum number of vertices to read.
const SAMPLES: usize = 1 << 18;

/// Measures and prints.
pub fn run(mut arguments: Arguments) -> Result<()> {
    if arguments.structures.is_empty() {
        arguments.structures = structures::KINDS.iter().collect();
    }
    let mut costs = Vec::new();
    for scale in &arguments.scales {
        measure(&arguments, *scale, &mut costs)?;
    }
    print!("{}", table(&costs)?);
    let write =
        |path: &PathBuf, text: String| std::fs::write(path, text).with_context(|| path.display().to_string());
    if let Some(path) = &arguments.json {
        write(path, serde_json::to_string_pretty(&costs)?)?;
    }
    if let Some(path) = &arguments.picture {
        write(path, picture::draw(&costs)?)?;
    }
    Ok(())
}

fn measure(arguments: &Arguments, scale: u32, costs: &mut Vec<Costs>) -> Result<()> {
    let graph = Graph::kronecker(scale, arguments.seed)?;
    let samples = samples(&graph, arguments.seed);
    let directory = arguments.store.clone().unwrap_or_else(std::env::temp_dir);
    let folder = folder_in(&directory)?;
    let make = |kind: &&'static Kind| {
        eprintln!("{}: making {}", graph.name, kind.name);
        let folder = folder.path().join(kind.name);
        std::fs::create_dir(&folder)?;
        (kind.make)(&folder, &graph).with_context(|| kind.name)
    };
    let structures = arguments.structures.iter().map(make).collect::<Result<Vec<_>>>()?;
    let sums = structures.iter().map(|rows| rows.sum(&samples, usize::MAX)).collect::<Result<Vec<_>>>()?;
    ensure!(sums.windows(2).all(|pair| pair[0] == pair[1]), "the structures hold different edges: {sums:?}");
    let neighbors = neighbors_of(&graph, &samples);
    let mut taken = vec![(Vec::new(), Vec::new()); structures.len()];
    for repetition in 1..=arguments.repetitions {
        eprintln!("{}: repetition {repetition}", graph.name);
        for (rows, (seeks, scans)) in structures.iter().zip(&mut taken) {
            let seek = nanoseconds(&**rows, &samples, 1)?;
            let all = nanoseconds(&**rows, &samples, usize::MAX)?;
            seeks.push(seek / samples.len() as f64);
            scans.push((all - seek).max(0.0) / (neighbors - samples.len()) as f64);
        }
    }
    for (kind, (seeks, scans)) in arguments.structures.iter().zip(taken) {
        let (seek, scan) = (median(seeks), median(scans));
        costs.push(Costs { scale, edges: graph.stream.len(), structure: kind.name, seek, scan });
    }
    drop(structures);
    folder.close().with_context(|| format!("what is in {} could not be removed", directory.display()))
}

/// Vertices that have neighbors, in random order, some of them several times.
fn samples(graph: &Graph, seed: u64) -> Vec<VertexId> {
    let distinct: HashSet<VertexId> = graph.stream.iter().map(|(source, _)| *source).collect();
    let mut sources: Vec<VertexId> = distinct.into_iter().collect();
    sources.sort_unstable();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    sources.shuffle(&mut random);
    let count = SAMPLES.min(4 * sources.len());
    (0..count).map(|_| sources[random.random_range(0..sources.len())]).collect()
}

/// Total number of neighbors of the samples.
fn neighbors_of(graph: &Graph, samples: &[VertexId]) -> usize {
    let mut degrees = vec![0; graph.vertices as usize];
    graph.stream.iter().for_each(|(source, _)| degrees[source.get() as usize] += 1);
    samples.iter().map(|sample| degrees[sample.get() as usize]).sum()
}

fn nanoseconds(rows: &dyn Rows, samples: &[VertexId], most: usize) -> Result<f64> {
    let begin = Instant::now();
    std::hint::black_box(rows.sum(samples, most)?);
    Ok(begin.elapsed().as_secs_f64() * 1e9)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}
