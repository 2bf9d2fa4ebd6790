//! An edge list into a store on disk, batch by batch, and questions about it.
//!
//! `cargo run --release -p hedgerow --example import_and_query [FILE]`

use hedgerow::kernels::Wcc;
use hedgerow::{CheckpointOptions, Direction, Graph, GraphOptions, LabelId, Topology};
use hedgerow_formats::{Batch, GraphReader, ReadOptions};

const SAMPLE: &str = "# who knows whom\n1 2\n2 3\n3 1\n4 5\n1 4\n6 7\n";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut reader = match std::env::args_os().nth(1) {
        Some(path) => GraphReader::<u64>::open(path)?,
        None => GraphReader::from_reader("sample", SAMPLE.as_bytes(), ReadOptions::default())?,
    };
    let folder = tempfile::tempdir()?;
    let graph = Graph::create(folder.path(), GraphOptions::new().topology(Topology::Undirected))?;

    // Each batch is one commit, which survives a loss of power when `ingest` returns.
    let mut batch = Batch::new();
    while reader.read_batch(&mut batch)? {
        let edges: Vec<_> = batch.edges.iter().map(|edge| (edge.source, edge.destination)).collect();
        graph.ingest(&edges)?;
    }
    // Opens faster from here on.
    graph.checkpoint(&CheckpointOptions::new())?;
    graph.close()?;
    drop(graph);

    let graph = Graph::open(folder.path())?;
    let snapshot = graph.snapshot()?;
    println!("{} vertices, {} edges", snapshot.vertex_count(), snapshot.edge_count());
    println!("components: {}", snapshot.run(Wcc::default())?.count);

    let mut largest = (0, None);
    snapshot.try_for_each_vertex(|_, key| {
        let degree = snapshot.degree(LabelId::DEFAULT, Direction::Out, &key)?;
        if degree > largest.0 {
            largest = (degree, Some(key));
        }
        Ok::<_, hedgerow::Error>(())
    })?;
    if let (degree, Some(key)) = largest {
        println!("vertex {key} knows the most others: {degree}");
    }
    Ok(())
}
