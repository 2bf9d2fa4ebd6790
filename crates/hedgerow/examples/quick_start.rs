//! A graph in memory: commits, a snapshot, a kernel.
//!
//! `cargo run --release -p hedgerow --example quick_start`

use hedgerow::kernels::{Bfs, PageRank};
use hedgerow::{Error, Graph, GraphOptions, Topology};

fn main() -> Result<(), Error> {
    let graph = Graph::in_memory(GraphOptions::new().topology(Topology::Undirected))?;

    // One commit, and three edges in another.
    graph.put_edge(10, 20)?;
    graph.ingest(&[(20u64, 30u64), (30, 10), (30, 40)])?;

    // A snapshot never changes, whatever is committed after it was opened.
    let before = graph.snapshot()?;
    graph.delete_edge(30, 40)?;
    println!("neighbors of 30, before and now: {:?} {:?}", before.neighbors(30)?, graph.neighbors(30)?);

    let source = before.vertex_id(10)?.expect("vertex 10 was put with its edge");
    println!("reached from 10: {} vertices", before.run(Bfs::new(source))?.reached);

    let ranks = before.run(PageRank::default())?.ranks;
    before.for_each_vertex(|vertex, key| println!("rank of {key}: {:.3}", ranks[vertex.index()]))?;
    Ok(())
}
