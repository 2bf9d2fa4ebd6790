//! Past states of a graph that keeps its history.
//!
//! `cargo run --release -p hedgerow --example time_travel`

use hedgerow::{Error, Graph, GraphOptions, History};

fn main() -> Result<(), Error> {
    let graph = Graph::in_memory(GraphOptions::new().history(History::All))?;

    let first = graph.put_edge(1, 2)?.at;
    let second = graph.put_edge(1, 3)?.at;
    graph.delete_edge(1, 2)?;

    println!("now:              {:?}", graph.neighbors(1)?);
    println!("after commit {second}:   {:?}", graph.snapshot_at(second)?.neighbors(1)?);
    println!("after commit {first}:   {:?}", graph.snapshot_at(first)?.neighbors(1)?);
    Ok(())
}
