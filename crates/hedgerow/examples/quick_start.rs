//! A graph in memory: commits, a snapshot, kernels.
//!
//! `cargo run --release -p hedgerow --example quick_start`

use hedgerow::kernels::{Bfs, PageRank};
use hedgerow::prelude::*;

fn main() -> Result<(), Error> {
    let graph = Graph::in_memory(GraphOptions::new().topology(Topology::Undirected).label::<()>("knows"))?;
    let knows = graph.label::<()>("knows")?;

    // One commit, and three edges in another.
    graph.put_edge(knows, 10, 20)?;
    graph.ingest(knows, &[(20, 30), (30, 10), (30, 40)])?;

    // A snapshot never changes, whatever is committed after it was opened.
    let before = graph.snapshot()?;
    graph.delete_edge(knows, 30, 40)?;
    println!("30 knew {:?}, and knows {:?}", before.neighbors(knows, 30)?, graph.neighbors(knows, 30)?);

    let source = before.vertex_id(10)?.expect("vertex 10 was put with its edge");
    println!("reached from 10: {} vertices", before.run(Bfs::new(source).label(knows))?.reached);

    let ranks = before.run(PageRank::default().label(knows))?.ranks;
    for (key, rank) in before.with_keys(&ranks)? {
        println!("rank of {key}: {rank:.3}");
    }
    Ok(())
}
