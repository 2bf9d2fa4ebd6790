//! Every kernel runs on a view of an engine on files, with the same results as on the static graph
//! of the same edges.
#![cfg(not(hedgerow_shuttle))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use hedgerow_kernels::csr::{BuildOptions, Csr};
use hedgerow_kernels::{
    Betweenness, Bfs, Communities, Cores, Kernel, KernelErrorKind, LocalClustering, Neighborhood, PageRank,
    Sources, Sssp, TriangleCount, Wcc,
};
use hedgerow_log::files::FileSystem;
use hedgerow_model::{Catalog, CommitTimestamp, Counts, Durable, Engine, LabelId, Topology, VertexId};
use hedgerow_testing::Tested;
use hedgerow_testing::oracle::{Oracle, Request};
use hedgerow_testing::pipeline::{Pipeline, catalog};
use hedgerow_testing::reference::{ReferenceEngine, ReferenceOptions, ReferenceView};
use hedgerow_testing::simulated::{Fault, FaultKind, SimulatedFiles};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::fmt::Debug;
use std::sync::Arc;

const VERTICES: u32 = 60;

/// The label with values of four bytes.
const LABEL: LabelId = LabelId(2);

struct TestedReference;

impl Tested for TestedReference {
    type Engine = ReferenceEngine;

    const UNIT_SIZE: u32 = 1;
    const DURABLE: fn(&Self::Engine) -> Option<&dyn Durable> = |engine| Some(engine);

    fn engine(topology: Topology, catalog: Catalog) -> ReferenceEngine {
        engine(topology, catalog, &SimulatedFiles::new(1))
    }
}

fn engine(topology: Topology, catalog: Catalog, files: &SimulatedFiles) -> ReferenceEngine {
    files.create_directory().unwrap();
    let options =
        ReferenceOptions { topology, catalog, block_bytes: 300, files: 3, ..ReferenceOptions::default() };
    ReferenceEngine::open(Arc::new(files.clone()), options).unwrap()
}

/// Returns a random graph with a snapshot, in several files and in memory, and the static graph of
/// its edges.
fn graph(topology: Topology, files: &SimulatedFiles) -> (Pipeline<TestedReference>, Csr) {
    let (mut random, engine) = (StdRng::seed_from_u64(5), engine(topology, catalog(), files));
    let mut pipeline =
        Pipeline::around(engine, Oracle::new(topology), Counts::default(), CommitTimestamp::ZERO);
    for round in 0..8 {
        let mut requests: Vec<Request> =
            (0..VERTICES).map(|vertex| Request::PutVertex { vertex, property: None }).collect();
        for _ in 0..25 {
            let destinations = (0..3).map(|_| random.random_range(0..VERTICES)).collect();
            let (source, value) = (random.random_range(0..VERTICES), random.random_range(1..20));
            requests.push(match random.random_bool(0.8) {
                true => Request::PutEdges { label: LABEL.0, source, destinations, value },
                false => Request::DeleteEdges { label: LABEL.0, source, destinations },
            });
        }
        pipeline.commit(&requests, 0).unwrap();
        if round % 2 == 0 {
            pipeline.flush().unwrap();
            pipeline.reclaim(usize::MAX, 0);
        }
    }
    pipeline.open();
    let edges = pipeline.oracle.edges[LABEL.index()].iter();
    let edges: Vec<(VertexId, VertexId, u32)> = edges
        .map(|((source, destination), value)| {
            (VertexId::new(*source), VertexId::new(*destination), value.0 as u32)
        })
        .collect();
    let csr = Csr::from_valued_edges(VERTICES, topology, &edges, BuildOptions::default()).unwrap();
    (pipeline, csr)
}

/// Runs a kernel on the view, with its label, and on the static graph.
fn agree<'k, K: Kernel + 'k, T: PartialEq + Debug>(
    view: &ReferenceView<'_>,
    csr: &Csr,
    kernel: impl Fn(LabelId) -> K,
    part: impl Fn(K::Output) -> T,
) {
    let on_view = part(kernel(LABEL).run(view).unwrap());
    let on_csr = part(kernel(LabelId::DEFAULT).run(csr).unwrap());
    assert_eq!(on_view, on_csr, "{}", std::any::type_name::<K>());
}

#[test]
fn every_kernel_computes_what_it_computes_on_the_static_graph() {
    for topology in [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected] {
        let (pipeline, csr) = graph(topology, &SimulatedFiles::new(1));
        let snapshot = &pipeline.snapshots[0];
        let view = pipeline.engine.view(&snapshot.state, &snapshot.token);
        let (source, sources) = (VertexId::new(3), [VertexId::new(3)]);
        let copy = Csr::from_view::<_, u32>(&view, LABEL, BuildOptions::default()).unwrap();
        assert_eq!((copy.offsets(), copy.neighbors()), (csr.offsets(), csr.neighbors()));
        agree(&view, &csr, |label| Bfs { label, ..Bfs::new(source) }, |result| result.depths);
        agree(&view, &csr, |label| Wcc { label, ..Wcc::default() }, |result| result.components);
        agree(&view, &csr, |label| Sssp::<u32> { label, ..Sssp::new(source) }, |result| result.distances);
        agree(&view, &csr, |label| Cores { label, ..Cores::default() }, |result| result.cores);
        agree(&view, &csr, |label| Communities { label, ..Communities::default() }, |result| result.labels);
        let triangles = |label| TriangleCount { label, ..TriangleCount::default() };
        agree(&view, &csr, triangles, |result| result.triangles);
        let clustering = |label| LocalClustering { label, ..LocalClustering::default() };
        agree(&view, &csr, clustering, |result| result.coefficients);
        let around = |label| Neighborhood { label, ..Neighborhood::new(&sources, 2) };
        agree(&view, &csr, around, |result| result.vertices);
        // Sums may be added in another order.
        let rounded = |numbers: Vec<f64>| -> Vec<i64> {
            numbers.iter().map(|number| (number * 1e9).round() as i64).collect()
        };
        agree(&view, &csr, |label| PageRank { label, ..PageRank::default() }, |result| rounded(result.ranks));
        let central = |label| Betweenness { label, ..Betweenness::new(Sources::All) };
        agree(&view, &csr, central, |result| rounded(result.scores));
    }
}

#[test]
fn a_kernel_whose_view_cannot_be_read_fails() {
    let files = SimulatedFiles::new(1);
    let (pipeline, _) = graph(Topology::Undirected, &files);
    let snapshot = &pipeline.snapshots[0];
    let view = pipeline.engine.view(&snapshot.state, &snapshot.token);
    for number in [1, 2, 20] {
        files.inject(Fault { at: files.operations() + number, kind: FaultKind::Device, sticky: true });
        let error = PageRank { label: LABEL, ..PageRank::default() }.run(&view).unwrap_err();
        files.heal();
        assert_eq!(error.kind(), KernelErrorKind::Storage);
        assert!(error.to_string().contains("engine-"), "{error}");
    }
}
