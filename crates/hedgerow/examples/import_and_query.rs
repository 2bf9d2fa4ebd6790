//! Imports an edge list into a store on disk, batch by batch, and queries it.
//!
//! `cargo run --release -p hedgerow --example import_and_query [FILE]`

use hedgerow::CheckpointOptions;
use hedgerow::kernels::Wcc;
use hedgerow::prelude::*;
use hedgerow_formats::{Batch, GraphReader, ReadOptions};

const SAMPLE: &str = "# who knows whom\n1 2\n2 3\n3 1\n4 5\n1 4\n6 7\n";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut reader = match std::env::args_os().nth(1) {
        Some(path) => GraphReader::<u64>::open(path)?,
        None => GraphReader::from_reader("sample", SAMPLE.as_bytes(), ReadOptions::default())?,
    };
    let folder = tempfile::tempdir()?;
    let options = GraphOptions::new().topology(Topology::Undirected).label::<()>("knows");
    let graph = options.create(folder.path())?;
    let knows = graph.label::<()>("knows")?;

    // Each batch is one commit, which survives a loss of power when `ingest` returns.
    let mut batch = Batch::new();
    while reader.read_batch(&mut batch)? {
        let edges: Vec<_> = batch.edges.iter().map(|edge| (edge.source, edge.destination)).collect();
        graph.ingest(knows, &edges)?;
    }
    // The next opening is faster after a checkpoint.
    graph.checkpoint(&CheckpointOptions::new())?;
    graph.close()?;
    drop(graph);

    let graph = Graph::open(folder.path())?;
    let snapshot = graph.snapshot()?;
    println!("{} vertices, {} edges", snapshot.vertex_count(), snapshot.edge_count());
    println!("components: {}", snapshot.run(Wcc::default().label(knows))?.count);

    let mut most = (0, None);
    for vertex in snapshot.vertices() {
        let (_, key) = vertex?;
        let degree = snapshot.degree(knows, &key)?;
        if degree > most.0 {
            most = (degree, Some(key));
        }
    }
    if let (degree, Some(key)) = most {
        println!("vertex {key} knows the most others: {degree}");
    }
    Ok(())
}
