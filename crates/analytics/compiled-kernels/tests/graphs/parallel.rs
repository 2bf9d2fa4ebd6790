//! Kernels over parallel edges, on every engine and on static copies: PageRank counts each edge,
//! all other kernels see a pair of vertices once.

use crate::engines::ENGINES;
use hedgerow::kernels::{
    Betweenness, BuildOptions, Communities, Cores, Csr, Execution, GraphView, Kernel, KernelError,
    LocalClustering, PageRank, PageRankResult, Precision, Sources, TriangleCount, Wcc, scan_each_edge,
};
use hedgerow::prelude::*;
use hedgerow::{EdgeSchema, LabelId, ParallelSchema, VertexId};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const TOPOLOGIES: [Topology; 3] = [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected];
const PAYS: LabelId = LabelId(1);

fn graph(engine: EngineKind, topology: Topology) -> Graph {
    let pays = ParallelSchema { key: "number".to_owned(), record: RecordSchema::default() };
    let pays = LabelSchema { name: "pays".to_owned(), edges: EdgeSchema::Parallel(pays) };
    let options = GraphOptions::new().engine(engine).topology(topology);
    Graph::in_memory(options.label::<()>("knows").label_schema(pays)).unwrap()
}

#[derive(Clone, Debug)]
enum Step {
    /// Edges between two vertices, with consecutive keys.
    Put(u64, u64, std::ops::Range<u64>),
    Delete(u64, u64, u64),
    DeleteAll(u64, u64),
    DeleteVertex(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let end = 0..12_u64;
    // Engines in memory cut long lists into chunks.
    let length = prop_oneof![9 => 1..5_u64, 1 => 150..400_u64];
    let put = (end.clone(), end.clone(), 0..6_u64, length);
    let step = prop_oneof![
        8 => put.prop_map(|(source, destination, first, length)| {
            Step::Put(source, destination, first..first + length)
        }),
        2 => (end.clone(), end.clone(), 0..6_u64).prop_map(|(from, to, key)| Step::Delete(from, to, key)),
        1 => (end.clone(), end.clone()).prop_map(|(from, to)| Step::DeleteAll(from, to)),
        1 => end.prop_map(Step::DeleteVertex),
    ];
    prop::collection::vec(step, 0..25)
}

/// The test's model of the graph: the vertices, and the edge keys of each pair.
#[derive(Clone, Default)]
struct Multigraph {
    undirected: bool,
    vertices: BTreeSet<u64>,
    edges: BTreeMap<(u64, u64), BTreeSet<u64>>,
}

impl Multigraph {
    fn apply(&mut self, graph: &impl WriteGraph, step: &Step) {
        let pair = |from: u64, to: u64| match self.undirected {
            true => (from.min(to), from.max(to)),
            false => (from, to),
        };
        match step.clone() {
            Step::Put(from, to, keys) => {
                for key in keys.clone() {
                    graph.update_parallel_edge(PAYS, from, to, key, &EdgeUpdate::put()).unwrap();
                }
                self.vertices.extend([from, to]);
                self.edges.entry(pair(from, to)).or_default().extend(keys);
            }
            Step::Delete(from, to, key) => {
                graph.update_parallel_edge(PAYS, from, to, key, &EdgeUpdate::delete()).unwrap();
                self.edges.entry(pair(from, to)).or_default().remove(&key);
            }
            Step::DeleteAll(from, to) => {
                graph.delete_edge(PAYS, from, to).unwrap();
                self.edges.remove(&pair(from, to));
            }
            Step::DeleteVertex(vertex) => {
                graph.delete_vertex(vertex).unwrap();
                self.vertices.remove(&vertex);
                self.edges.retain(|(from, to), _| *from != vertex && *to != vertex);
            }
        }
        self.edges.retain(|_, keys| !keys.is_empty());
    }

    /// The destinations of each vertex, once per edge.
    fn destinations(&self) -> BTreeMap<u64, Vec<u64>> {
        let mut all: BTreeMap<_, _> = self.vertices.iter().map(|vertex| (*vertex, Vec::new())).collect();
        for ((from, to), keys) in &self.edges {
            let mut add = |from: &u64, to: u64| {
                let destinations: &mut Vec<u64> = all.get_mut(from).unwrap();
                destinations.extend(keys.iter().map(|_| to));
            };
            add(from, *to);
            if self.undirected && from != to {
                add(to, *from);
            }
        }
        all
    }

    /// PageRank by its definition: every edge carries an equal share of the rank of its source.
    fn ranks(&self, iterations: u32) -> BTreeMap<u64, f64> {
        let (destinations, count) = (self.destinations(), self.vertices.len() as f64);
        let mut ranks: BTreeMap<_, _> = self.vertices.iter().map(|vertex| (*vertex, 1.0 / count)).collect();
        for _ in 0..iterations {
            let dangling = destinations.iter().filter(|(_, to)| to.is_empty());
            let dangling: f64 = dangling.map(|(vertex, _)| ranks[vertex]).sum();
            let base = 0.15 / count + 0.85 * dangling / count;
            let mut next: BTreeMap<_, _> = self.vertices.iter().map(|vertex| (*vertex, base)).collect();
            for (vertex, to) in &destinations {
                for destination in to {
                    *next.get_mut(destination).unwrap() += 0.85 * ranks[vertex] / to.len() as f64;
                }
            }
            ranks = next;
        }
        ranks
    }

    fn edge_count(&self) -> u64 {
        self.edges.values().map(|keys| keys.len() as u64).sum()
    }

    fn check(&self, snapshot: &Snapshot, execution: Execution<'_>, what: &str) {
        assert_eq!(snapshot.exact_edge_count_of(PAYS).unwrap(), self.edge_count(), "{what}");
        assert!(snapshot.edge_count().may_be(self.edge_count()), "{what}");
        assert!(snapshot.pair_count_of(PAYS).may_be(self.edges.len() as u64), "{what}");
        let kernel = PageRank { iterations: 8, execution, ..PageRank::default() };
        let copy = snapshot.to_csr::<()>(PAYS, BuildOptions::default()).unwrap();
        let live = snapshot.run(PageRank { label: PAYS, ..kernel }).unwrap();
        self.check_ranks(snapshot, &live, 1e-9, what);
        self.check_ranks(snapshot, &kernel.run(&copy).unwrap(), 1e-9, what);
        let kernel = PageRank { precision: Precision::Single, ..kernel };
        self.check_ranks(snapshot, &snapshot.run(PageRank { label: PAYS, ..kernel }).unwrap(), 1e-5, what);
        self.check_pairs(snapshot, &copy, execution, what);
        assert_eq!(snapshot.run(EachEdge).unwrap(), self.rows(snapshot), "{what}");
    }

    /// Checks that the numbers of edges are known, as they are outside of a transaction.
    fn check_counts(&self, snapshot: &Snapshot, what: &str) {
        assert_eq!(snapshot.edge_count(), self.edge_count(), "{what}");
        assert_eq!(snapshot.edge_count_of(PAYS), self.edge_count(), "{what}");
        assert_eq!(snapshot.pair_count_of(PAYS), self.edges.len() as u64, "{what}");
    }

    fn check_ranks(&self, snapshot: &Snapshot, found: &PageRankResult, tolerance: f64, what: &str) {
        let mut others = found.ranks.clone();
        for (vertex, expected) in self.ranks(8) {
            let id = snapshot.vertex_id(vertex).unwrap().unwrap();
            let rank = std::mem::take(&mut others[id.index()]);
            assert!(
                (rank - expected).abs() <= tolerance * expected,
                "{what}: {vertex}: {rank}, not {expected}"
            );
        }
        assert!(others.iter().all(|rank| *rank == 0.0), "{what}: ids without a vertex");
    }

    /// Checks that all other kernels compute the same on the snapshot and on its copy as on the
    /// pairs.
    fn check_pairs(&self, snapshot: &Snapshot, copy: &Csr, execution: Execution<'_>, what: &str) {
        let id = |vertex: &u64| snapshot.vertex_id(*vertex).unwrap().unwrap();
        let pairs: Vec<_> = self.edges.keys().map(|(from, to)| (id(from), id(to))).collect();
        let bound = snapshot.vertex_bound();
        let pairs = Csr::from_edges(bound, snapshot.topology(), &pairs, BuildOptions::default()).unwrap();
        let vertices: BTreeSet<_> = self.vertices.iter().map(id).collect();
        let absent = (0..bound).map(VertexId::new).filter(|id| !vertices.contains(id));
        let pairs = pairs.without_vertices(absent).unwrap();
        macro_rules! agree {
            ($kernel:expr, $part:ident) => {
                let kernel = $kernel;
                let expected = kernel.run(&pairs).unwrap().$part;
                assert_eq!(kernel.run(copy).unwrap().$part, expected, "{what}");
                let mut kernel = kernel;
                kernel.label = PAYS;
                assert_eq!(snapshot.run(kernel).unwrap().$part, expected, "{what}");
            };
        }
        agree!(Communities { execution, ..Communities::default() }, labels);
        agree!(Cores { execution, ..Cores::default() }, cores);
        agree!(Wcc { execution, ..Wcc::default() }, components);
        agree!(TriangleCount { execution, ..TriangleCount::default() }, triangles);
        agree!(LocalClustering { execution, ..LocalClustering::default() }, coefficients);
        agree!(Betweenness { execution, ..Betweenness::new(Sources::All) }, scores);
    }

    /// The rows of out-neighbors, by id.
    fn rows(&self, snapshot: &Snapshot) -> BTreeMap<VertexId, Vec<VertexId>> {
        let id = |vertex: u64| snapshot.vertex_id(vertex).unwrap().unwrap();
        let rows = self.destinations().into_iter().filter(|(_, to)| !to.is_empty());
        let rows = rows.map(|(vertex, to)| {
            let mut to: Vec<_> = to.into_iter().map(id).collect();
            to.sort_unstable();
            (id(vertex), to)
        });
        rows.collect()
    }
}

/// A kernel that reads each edge.
struct EachEdge;

impl Kernel for EachEdge {
    type Output = BTreeMap<VertexId, Vec<VertexId>>;

    fn run<V: GraphView>(self, view: &V) -> Result<Self::Output, KernelError> {
        let mut rows = BTreeMap::<_, Vec<_>>::new();
        scan_each_edge(view, PAYS, Direction::Out, 0..u32::MAX, |owner, neighbors| {
            rows.entry(owner).or_default().extend_from_slice(neighbors);
        })?;
        // Without parallel edges, the engine provides the rows, in any order.
        rows.values_mut().for_each(|row| row.sort_unstable());
        Ok(rows)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn page_rank_counts_each_edge_and_other_kernels_each_pair(
        steps in steps(),
        topology in prop::sample::select(&TOPOLOGIES),
    ) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        for engine in ENGINES {
            let graph = graph(engine, topology);
            let mut expected =
                Multigraph { undirected: topology.is_undirected(), ..Multigraph::default() };
            let (before, after) = steps.split_at(steps.len() / 2);
            before.iter().for_each(|step| expected.apply(&graph, step));
            let (old, old_expected) = (graph.snapshot().unwrap(), expected.clone());
            let (transaction, mut in_transaction) = (graph.begin().unwrap(), expected.clone());
            after.iter().for_each(|step| in_transaction.apply(&transaction, step));
            let (staged, execution) = (transaction.snapshot().unwrap(), Execution::default());
            in_transaction.check(&staged, execution, &format!("a transaction on {engine:?}"));
            after.iter().for_each(|step| expected.apply(&graph, step));
            let new = graph.snapshot().unwrap();
            old_expected.check_counts(&old, &format!("an old snapshot of {engine:?}"));
            old_expected.check(&old, Execution::default(), &format!("an old snapshot of {engine:?}"));
            let execution = Execution::default().on(&pool);
            expected.check_counts(&new, &format!("a new snapshot of {engine:?}"));
            expected.check(&new, execution, &format!("a new snapshot of {engine:?}"));
        }
    }
}
