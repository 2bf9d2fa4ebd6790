//! Past states of a graph that keeps its history.
//!
//! `cargo run --release -p hedgerow --example time_travel`

use hedgerow::History;
use hedgerow::prelude::*;

fn main() -> Result<(), Error> {
    let graph = Graph::in_memory(GraphOptions::new().history(History::All).label::<()>("follows"))?;
    let follows = graph.label::<()>("follows")?;

    let first = graph.put_edge(follows, 1, 2)?.at;
    let second = graph.put_edge(follows, 1, 3)?.at;
    graph.delete_edge(follows, 1, 2)?;

    println!("now:              {:?}", graph.neighbors(follows, 1)?);
    println!("after commit {second}:   {:?}", graph.snapshot_at(second)?.neighbors(follows, 1)?);
    println!("after commit {first}:   {:?}", graph.snapshot_at(first)?.neighbors(follows, 1)?);
    Ok(())
}
