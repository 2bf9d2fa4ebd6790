//! PageRank on fresh snapshots, concurrent with commits.
//!
//! `cargo run --release -p hedgerow --example analytics_beside_writers`

use hedgerow::kernels::PageRank;
use hedgerow::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

const VERTICES: u64 = 10_000;
const EDGES_PER_WRITER: u64 = 100_000;

fn main() -> Result<(), Error> {
    let graph = Graph::in_memory(GraphOptions::new().label::<()>("follows"))?;
    let follows = graph.label::<()>("follows")?;
    let circle: Vec<_> = (0..VERTICES).map(|vertex| (vertex, (vertex + 1) % VERTICES)).collect();
    graph.ingest(follows, &circle)?;
    let is_over = AtomicBool::new(false);

    thread::scope(|scope| {
        let writers = [1, 2].map(|seed| {
            scope.spawn({
                let (graph, follows) = (&graph, follows);
                move || write(graph, follows, seed)
            })
        });
        let analyst = scope.spawn(|| analyze(&graph, follows, &is_over));
        let written = writers.into_iter().try_for_each(|writer| writer.join().expect("a writer panicked"));
        is_over.store(true, Ordering::Relaxed);
        written.and(analyst.join().expect("the analyst panicked"))
    })?;
    println!("{} edges in the end", graph.snapshot()?.edge_count());
    Ok(())
}

/// Commits edges one by one.
fn write(graph: &Graph, follows: Label, seed: u64) -> Result<(), Error> {
    let mut number = seed;
    for _ in 0..EDGES_PER_WRITER {
        // A multiplicative generator is good enough here.
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        graph.put_edge(follows, (number >> 33) % VERTICES, (number >> 13) % VERTICES)?;
    }
    Ok(())
}

/// Ranks the newest state again and again. Neither waits for writers nor blocks them.
fn analyze(graph: &Graph, follows: Label, is_over: &AtomicBool) -> Result<(), Error> {
    while !is_over.load(Ordering::Relaxed) {
        let snapshot = graph.snapshot()?;
        let ranks = snapshot.run(PageRank::default().label(follows))?.ranks;
        let highest = ranks.iter().copied().fold(0.0, f64::max);
        println!("{:>7} edges: the highest rank is {highest:.6}", snapshot.edge_count());
    }
    Ok(())
}
