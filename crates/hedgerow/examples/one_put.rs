//! One put of an edge into a store on engine `rapid`, which `cargo xtask doors` traces.
//!
//! `cargo run --release -p hedgerow --example one_put`

use hedgerow::EngineKind;
use hedgerow::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let options = GraphOptions::new().engine(EngineKind::Rapid).label::<()>("knows");
    let graph = options.create(folder.path().join("store"))?;
    let knows = graph.label::<()>("knows")?;

    // Every vertex has an edge to the next, so that the traced put makes no vertex.
    for vertex in 0..64 {
        graph.put_edge(knows, vertex, (vertex + 1) % 64)?;
    }
    put_one(&graph, knows, 1, 3)?;
    assert_eq!(graph.neighbors(knows, 1)?, [2, 3]);
    Ok(())
}

/// Puts one edge, which survives a loss of power when this returns.
#[inline(never)]
fn put_one(graph: &Graph, knows: Label<()>, from: u64, to: u64) -> Result<(), Error> {
    graph.put_edge(knows, from, to)?;
    Ok(())
}
