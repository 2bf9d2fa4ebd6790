//! Every kernel on every engine gives the same results on a snapshot as on its static copy,
//! whatever happened to the graph before and whatever writers do meanwhile. The kernels' own tests
//! check the static graph against the definitions.

use crate::engines::ENGINES;
use hedgerow::kernels::{
    Betweenness, Bfs, BuildOptions, Communities, Cores, Csr, Execution, Kernel, LocalClustering,
    Neighborhood, PageRank, Precision, Sources, Sssp, TriangleCount, TriangleOrder, Wcc, WccMethod,
};
use hedgerow::{
    ColumnType, Edge, EdgeSchema, EngineKind, Graph, GraphOptions, Key, LabelId, LabelSchema, Snapshot,
    Topology, VertexId, WriteGraph,
};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::thread;

const TOPOLOGIES: [Topology; 3] = [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected];

/// A graph whose edges have weights.
fn graph(engine: EngineKind, topology: Topology) -> Graph {
    let weighted = LabelSchema { name: "edge".into(), edges: EdgeSchema::Value(ColumnType::F64) };
    Graph::in_memory(GraphOptions::new().engine(engine).topology(topology).label_schema(weighted)).unwrap()
}

/// A snapshot and its static copy.
struct Pair<'a> {
    snapshot: &'a Snapshot,
    csr: Csr,
    what: String,
}

impl Pair<'_> {
    /// The results of a kernel on the snapshot and on its copy.
    fn run<K: Kernel + Copy, T>(&self, kernel: K, part: impl Fn(K::Output) -> T) -> [T; 2] {
        [part(self.snapshot.run(kernel).unwrap()), part(kernel.run(&self.csr).unwrap())]
    }

    fn agree<K: Kernel + Copy, T>(&self, kernel: K, part: impl Fn(K::Output) -> T)
    where
        T: PartialEq + std::fmt::Debug,
    {
        let [live, copy] = self.run(kernel, part);
        assert_eq!(live, copy, "{} on {}", std::any::type_name::<K>(), self.what);
    }
}

/// Runs every kernel on the snapshot and on its copy.
fn kernels_agree(snapshot: &Snapshot, execution: Execution<'_>, what: String) {
    let csr = snapshot.to_csr::<f64>(LabelId::DEFAULT, BuildOptions::default()).unwrap();
    let pair = Pair { snapshot, csr, what };
    for method in [WccMethod::Sampling, WccMethod::Plain] {
        let kernel = Wcc { method, execution, ..Wcc::default() };
        pair.agree(kernel, |result| (result.components, result.count));
    }
    for order in [TriangleOrder::ById, TriangleOrder::ByDegree] {
        let kernel = TriangleCount { order, execution, ..TriangleCount::default() };
        pair.agree(kernel, |result| result.triangles);
    }
    pair.agree(LocalClustering { execution, ..LocalClustering::default() }, |result| result.coefficients);
    pair.agree(Communities { execution, ..Communities::default() }, |result| result.labels);
    pair.agree(Cores { execution, ..Cores::default() }, |result| result.cores);
    for precision in [Precision::Double, Precision::Single] {
        let kernel = PageRank { precision, execution, ..PageRank::default() };
        let ranks = pair.run(kernel, |result| result.ranks);
        // Sums may be computed in different chunks.
        let most = if precision == Precision::Double { 1e-9 } else { 1e-5 };
        assert!(ranks[0].iter().zip(&ranks[1]).all(|(live, copy)| (live - copy).abs() <= most * copy));
    }

    let mut sources = Vec::new();
    snapshot.for_each_vertex(|vertex, _| sources.push(vertex)).unwrap();
    sources.truncate(5);
    let Some(source) = sources.first().copied() else { return };
    for kernel in [Bfs::new(source), Bfs::top_down(source)] {
        pair.agree(Bfs { execution, ..kernel }, |result| result.depths);
    }
    pair.agree(Sssp::<f64> { execution, ..Sssp::new(source) }, |result| result.distances);
    for limit in [None, Some(20)] {
        let kernel = Neighborhood { limit, execution, ..Neighborhood::new(&sources, 2) };
        pair.agree(kernel, |result| result.vertices);
    }
    let kernel = Betweenness { execution, ..Betweenness::new(Sources::Given(&sources)) };
    pair.agree(kernel, |result| result.scores);
}

fn weight(source: u64, destination: u64) -> f64 {
    f64::from((source * 31 + destination * 17) as u32 % 100) / 8.0
}

/// A step of a graph's history.
#[derive(Clone, Debug)]
enum Step {
    Put(Vec<(u64, u64)>),
    DeleteEdge(u64, u64),
    DeleteVertex(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let key = 0..40_u64;
    let edges = prop::collection::vec((key.clone(), key.clone()), 1..30);
    let step = prop_oneof![
        4 => edges.prop_map(Step::Put),
        2 => (key.clone(), key.clone()).prop_map(|(source, destination)| Step::DeleteEdge(source, destination)),
        1 => key.prop_map(Step::DeleteVertex),
    ];
    prop::collection::vec(step, 0..20)
}

fn apply(graph: &impl WriteGraph, step: &Step) {
    match step {
        Step::Put(edges) => {
            for (from, to) in edges {
                graph.put_edge_with(LabelId::DEFAULT, *from, *to, weight(*from, *to)).unwrap();
            }
        }
        Step::DeleteEdge(source, destination) => {
            graph.delete_edge(LabelId::DEFAULT, *source, *destination).unwrap();
        }
        Step::DeleteVertex(vertex) => {
            graph.delete_vertex(*vertex).unwrap();
        }
    }
}

/// The vertices and the edges by key, with the bits of their weights.
fn edges(snapshot: &Snapshot) -> (BTreeSet<Key>, BTreeSet<(Key, Key, u64)>) {
    let vertices = snapshot.vertices().map(|vertex| vertex.unwrap().1).collect();
    let edges = snapshot.all_edges::<f64>(LabelId::DEFAULT).unwrap().map(|edge| {
        let Edge { source, destination, data } = edge.unwrap();
        // An undirected edge begins at the lower id, which a transaction may choose otherwise.
        let swap = snapshot.topology().is_undirected() && destination < source;
        let (source, destination) = if swap { (destination, source) } else { (source, destination) };
        (source, destination, data.to_bits())
    });
    (vertices, edges.collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn kernels_agree_after_any_history(steps in steps(), topology in prop::sample::select(&TOPOLOGIES)) {
        for engine in ENGINES {
            let graph = graph(engine, topology);
            let (before, after) = steps.split_at(steps.len() / 2);
            before.iter().for_each(|step| apply(&graph, step));
            let old = graph.snapshot().unwrap();
            let transaction = graph.begin().unwrap();
            after.iter().for_each(|step| apply(&transaction, step));
            let staged = transaction.snapshot().unwrap();
            after.iter().for_each(|step| apply(&graph, step));
            let new = graph.snapshot().unwrap();
            prop_assert_eq!(edges(&staged), edges(&new));
            for (snapshot, age) in [(old, "an old"), (new, "a new"), (staged, "a transaction's")] {
                let what = format!("{age} snapshot of {engine:?}, {topology:?}");
                kernels_agree(&snapshot, Execution::default(), what);
            }
        }
    }
}

#[test]
fn kernels_agree_while_writers_run() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let execution = Execution::default().on(&pool);
    for engine in ENGINES {
        for topology in TOPOLOGIES {
            let graph = graph(engine, topology);
            let edges: Vec<_> = (0..5_000_u64).map(|edge| (edge * edge % 601, edge * 13 % 797)).collect();
            apply(&graph, &Step::Put(edges));
            thread::scope(|scope| {
                for writer in 0..2 {
                    let graph = &graph;
                    scope.spawn(move || {
                        for step in 0..2_000u64 {
                            let (source, destination) = (step * 7 % 500 + writer, step * 13 % 800);
                            let value = weight(source, destination);
                            graph.put_edge_with(LabelId::DEFAULT, source, destination, value).unwrap();
                            if step % 50 == 0 {
                                graph.delete_vertex(step * 3 % 500).unwrap();
                            }
                        }
                    });
                }
                for _ in 0..3 {
                    let what = format!("a live snapshot of {engine:?}, {topology:?}");
                    kernels_agree(&graph.snapshot().unwrap(), execution, what);
                }
            });
        }
    }
}

#[test]
fn sources_that_do_not_exist_are_an_error_in_every_engine() {
    for engine in ENGINES {
        let graph = graph(engine, Topology::Undirected);
        apply(&graph, &Step::Put(vec![(1, 2)]));
        let (snapshot, absent) = (graph.snapshot().unwrap(), [VertexId::new(1000)]);
        let errors = [
            snapshot.run(Bfs::new(absent[0])).unwrap_err(),
            snapshot.run(Sssp::<f64>::new(absent[0])).unwrap_err(),
            snapshot.run(Neighborhood::new(&absent, 1)).unwrap_err(),
            snapshot.run(Betweenness::new(Sources::Given(&absent))).unwrap_err(),
        ];
        for error in errors {
            assert!(error.to_string().contains("no vertex"), "{engine:?}: {error}");
        }
    }
}
