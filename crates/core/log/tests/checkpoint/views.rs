//! Checkpoints of views: reading returns the state of the view, and the file is small.

use crate::backwards::Backwards;
use crate::damage::file_of;
use hedgerow_formats::Kronecker;
use hedgerow_kernels::csr::{BuildOptions, Csr};
use hedgerow_log::checkpoint::{Checkpoint, Description, ViewSource, WriteOptions, WrittenCheckpoint, write};
use hedgerow_log::files::FileSystem;
use hedgerow_model::{
    Adjacency, Catalog, Column, ColumnType, CommitTimestamp, Counts, Cursor, Direction, EdgeSchema,
    GraphView, Key, KeyKind, LabelId, LabelSchema, RecordSchema, Topology, VertexId,
};
use hedgerow_testing::simulated::SimulatedFiles;
use std::ops::ControlFlow;

fn kronecker(scale: u32, topology: Topology) -> Csr {
    let generator = Kronecker::new(scale, 16, 1).unwrap();
    let mut edges = Vec::new();
    generator.fill(0..generator.edges(), &mut edges);
    let id = |number: u64| VertexId::try_from(number).unwrap();
    let edges: Vec<_> = edges.into_iter().map(|(from, to)| (id(from), id(to), (from ^ to) as u32)).collect();
    Csr::from_valued_edges(1 << scale, topology, &edges, BuildOptions::default()).unwrap()
}

fn write_view<W: Column, V: GraphView>(csr: &V, files: &SimulatedFiles) -> WrittenCheckpoint {
    let is_topology = W::TYPE == ColumnType::Unit;
    let edges = if is_topology { EdgeSchema::Topology } else { EdgeSchema::Value(W::TYPE) };
    let labels = vec![LabelSchema { name: "edge".to_owned(), edges }];
    let description = Description {
        store: [1; 16],
        timestamp: CommitTimestamp(1),
        wall_clock: 0,
        topology: csr.topology(),
        keys: KeyKind::Dense,
        catalog: Catalog::new(labels, RecordSchema::default()).unwrap(),
        counts: Counts {
            vertex_bound: csr.vertex_bound(),
            vertices: csr.vertex_count(),
            edges: [csr.edge_count(LabelId::DEFAULT).at_most()].into_iter().collect(),
            beside: None,
        },
        input: None,
    };
    files.create_directory().unwrap();
    let source = ViewSource::new(csr, |vertex| Key::Number(vertex.get().into()));
    write(files, "checkpoint", &description, &source, &WriteOptions::default()).unwrap()
}

fn check<W: Column>(csr: &Csr) {
    let (files, backwards) = (SimulatedFiles::new(1), SimulatedFiles::new(1));
    write_view::<W, _>(csr, &files);
    write_view::<W, _>(&Backwards(csr), &backwards);
    assert!(
        file_of(&files, "checkpoint") == file_of(&backwards, "checkpoint"),
        "regardless of the order of neighbors"
    );
    let checkpoint = Checkpoint::open(&files, "checkpoint").unwrap();
    let mut read = Vec::new();
    for chunk in checkpoint.edge_chunks(LabelId::DEFAULT) {
        let run = |source: VertexId, run: &[VertexId], values: &[W]| {
            read.extend(run.iter().zip(values).map(|(destination, value)| (source, *destination, *value)));
        };
        checkpoint.read_edges::<W>(chunk, run).unwrap();
    }
    let mut shown = Vec::new();
    let adjacency = csr.adjacency::<W>(LabelId::DEFAULT, Direction::Out).unwrap();
    let scanned = adjacency.cursor().scan(0..csr.vertex_bound(), |source, run, values| {
        let entries = run.iter().zip(values).map(|(destination, value)| (source, *destination, *value));
        let is_undirected = csr.topology().is_undirected();
        shown.extend(entries.filter(|(source, destination, _)| !is_undirected || source <= destination));
        ControlFlow::<()>::Continue(())
    });
    assert!(scanned.is_ok() && read == shown);
}

#[test]
fn views_come_back_with_and_without_values() {
    for topology in [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected] {
        let csr = kronecker(12, topology);
        check::<()>(&csr);
        check::<u32>(&csr);
    }
}

/// The format promises, for graphs with skewed degrees, at most 2.2 bytes per end of an edge at
/// scale 20; the graphs here take less.
#[test]
fn topology_takes_less_than_a_byte_for_each_end_of_an_edge() {
    let csr = kronecker(15, Topology::Undirected);
    let written = write_view::<(), _>(&csr, &SimulatedFiles::new(1));
    let bytes = written.edge_bytes[0] as f64 / csr.neighbors().len() as f64;
    assert!(bytes < 0.65, "{bytes}");
    let csr = kronecker(15, Topology::Directed);
    let written = write_view::<(), _>(&csr, &SimulatedFiles::new(1));
    let bytes = written.edge_bytes[0] as f64 / csr.neighbors().len() as f64;
    assert!(bytes < 1.35, "{bytes}");
}
