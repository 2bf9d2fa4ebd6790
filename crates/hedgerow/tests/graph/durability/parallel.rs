//! Very many parallel edges between two vertices, in more than one chunk.

use super::own_files;
use hedgerow::kernels::{BuildOptions, Kernel, PageRank};
use hedgerow::{
    CheckpointOptions, Direction, EdgeSchema, EdgeUpdate, EngineKind, Field, Graph, GraphOptions, LabelId,
    LabelSchema, ParallelSchema, ReadGraph, Record, RecordSchema, Snapshot, Topology, ValueType, WriteGraph,
};
use hedgerow_testing::simulated::SimulatedFiles;
use std::collections::BTreeMap;
use std::sync::Arc;

const PAYS: LabelId = LabelId::DEFAULT;

/// The commits of a test.
const COMMITS: u64 = 1_500;

fn options(engine: EngineKind, topology: Topology) -> GraphOptions {
    let amount = Field { name: "amount".to_owned(), value_type: ValueType::I64, nullable: false };
    let schema = ParallelSchema { key: "number".to_owned(), record: RecordSchema { fields: vec![amount] } };
    let pays = LabelSchema { name: "pays".to_owned(), edges: EdgeSchema::Parallel(schema) };
    GraphOptions::new().engine(engine).topology(topology).label_schema(pays).segment_bytes(1 << 16)
}

/// Returns the changes of a commit: some edges are put, few are deleted, not in the order of their
/// keys.
fn changes(commit: u64) -> impl Iterator<Item = (u64, Option<i64>)> {
    (0..1 + commit % 5).map(move |number| {
        let key = (commit * 5 + number) * 7_919 % 6_007;
        (key, (number != 3).then_some(commit as i64))
    })
}

fn apply(expected: &mut BTreeMap<u64, i64>, commit: u64) {
    for (key, amount) in changes(commit) {
        match amount {
            Some(amount) => drop(expected.insert(key, amount)),
            None => drop(expected.remove(&key)),
        }
    }
}

fn commit(graph: &Graph, commit: u64) {
    let transaction = graph.begin().unwrap();
    for (key, amount) in changes(commit) {
        let update = amount.map_or(EdgeUpdate::delete(), |amount| EdgeUpdate::put().set("amount", amount));
        transaction.update_parallel_edge(PAYS, 2, 1, key, &update).unwrap();
    }
    transaction.commit().unwrap();
}

fn check(snapshot: &Snapshot, expected: &BTreeMap<u64, i64>) {
    let edges = snapshot.parallel_edges::<Record>(PAYS, 2, 1, ..).unwrap();
    let read = edges.into_iter().map(|(key, record)| (key, record.values()[0].as_i64().unwrap()));
    assert_eq!(read.collect::<BTreeMap<_, _>>(), *expected);
    let degree = snapshot.parallel_degree((PAYS, Direction::Out), 2).unwrap();
    assert_eq!(degree, expected.len() as u64);
    let some = snapshot.parallel_neighbors::<Record>((PAYS, Direction::In), 1, 1_000..2_000).unwrap();
    assert_eq!(some.len(), expected.range(1_000..2_000).count());
    assert_eq!(snapshot.neighbors(LabelId::DEFAULT, 2).unwrap().len(), usize::from(!expected.is_empty()));
}

#[test]
fn they_come_back_from_the_log_and_from_checkpoints() {
    for (engine, topology) in
        [(EngineKind::Rapid, Topology::DirectedWithReverse), (EngineKind::Tel, Topology::Undirected)]
    {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bank");
        let graph = options(engine, topology).create(&path).unwrap();
        let mut expected = BTreeMap::new();
        let mut early = None;
        for number in 0..COMMITS {
            commit(&graph, number);
            apply(&mut expected, number);
            if number == COMMITS / 3 {
                early = Some((graph.snapshot().unwrap(), expected.clone()));
            }
            if number == COMMITS / 2 {
                graph.checkpoint(&CheckpointOptions::new()).unwrap();
            }
        }
        check(&graph.snapshot().unwrap(), &expected);
        let (snapshot, then) = early.take().unwrap();
        check(&snapshot, &then);
        drop(snapshot);
        assert!(!graph.reclaim().unwrap().more);
        let memory = graph.memory();
        assert_eq!(memory.retained_bytes, 0);
        graph.close().unwrap();
        let logged: u64 = std::fs::read_dir(&path)
            .unwrap()
            .map(|file| file.unwrap())
            .filter(|file| file.file_name().to_string_lossy().contains("log"))
            .map(|file| file.metadata().unwrap().len())
            .sum();
        assert!(
            logged < 200 * COMMITS + (1 << 17),
            "{logged} bytes: each commit is logged by what it changes"
        );
        for reopened in [engine, EngineKind::Rapid, EngineKind::Tel] {
            let graph = options(reopened, topology).open(&path).unwrap();
            check(&graph.snapshot().unwrap(), &expected);
            graph.close().unwrap();
        }
        let graph = Graph::open(&path).unwrap();
        assert!(graph.delete_edge(PAYS, 1, 2).unwrap().changed == Some(topology.is_undirected()));
        assert!(graph.delete_edge(PAYS, 2, 1).unwrap().changed == Some(!topology.is_undirected()));
        check(&graph.snapshot().unwrap(), &BTreeMap::new());
        assert!(!graph.reclaim().unwrap().more);
        assert!(graph.memory().live_bytes * 10 < memory.live_bytes + (1 << 20));
        graph.close().unwrap();
        check(&Graph::open(&path).unwrap().snapshot().unwrap(), &BTreeMap::new());
    }
}

#[test]
fn labels_that_are_added_later_are_those_of_the_graph_from_then_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bank");
    let graph = GraphOptions::new().create(&path).unwrap();
    graph.put_edge(LabelId::DEFAULT, 1, 2).unwrap();
    graph.checkpoint(&CheckpointOptions::new()).unwrap();
    graph.put_edge(LabelId::DEFAULT, 2, 3).unwrap();
    let pays = options(EngineKind::Rapid, Topology::Directed);
    let label = Graph::in_memory(pays).unwrap().catalog().labels()[0].clone();
    let locked = hedgerow::store::add_labels(&path, std::slice::from_ref(&label)).unwrap_err();
    assert_eq!(locked.kind(), hedgerow::ErrorKind::Locked);
    graph.close().unwrap();
    hedgerow::store::add_labels(&path, std::slice::from_ref(&label)).unwrap();
    let again = hedgerow::store::add_labels(&path, &[label]).unwrap_err();
    assert_eq!(again.kind(), hedgerow::ErrorKind::InvalidInput);
    let graph = Graph::open(&path).unwrap();
    let pays = graph.catalog().label_id("pays").unwrap();
    let put = EdgeUpdate::put().set("amount", 5);
    assert_eq!(graph.update_parallel_edge(pays, 3, 4, 1, &put).unwrap().written.edges_added, 1);
    assert_eq!(graph.update_parallel_edge(pays, 3, 4, 2, &put).unwrap().written.edges_added, 1);
    graph.close().unwrap();
    for _ in 0..2 {
        let graph = Graph::open(&path).unwrap();
        assert_eq!(graph.snapshot().unwrap().neighbors(LabelId::DEFAULT, 2).unwrap(), [3]);
        assert_eq!(graph.snapshot().unwrap().parallel_edges::<Record>(pays, 3, 4, ..).unwrap().len(), 2);
        graph.checkpoint(&CheckpointOptions::new()).unwrap();
        graph.close().unwrap();
    }
}

/// In one iteration from equal ranks, vertex 1 passes three quarters of its rank to vertex 2 and a
/// quarter to vertex 3, in proportion to its edges.
#[test]
fn page_rank_and_counts_are_of_each_edge_in_files_too() {
    for engine in [EngineKind::Rapid, EngineKind::Tel].into_iter().chain(own_files::ENGINES) {
        for topology in [Topology::Directed, Topology::DirectedWithReverse] {
            let files = Arc::new(SimulatedFiles::new(1));
            let options = options(engine, topology).threads(1).simulated();
            let graph = options.clone().create_on(files.clone()).unwrap();
            for key in 0..9 {
                let put = EdgeUpdate::put().set("amount", 1);
                graph.update_parallel_edge(PAYS, 1, 2, key * 1_000, &put).unwrap();
                if key % 3 == 0 {
                    graph.update_parallel_edge(PAYS, 1, 3, key, &put).unwrap();
                }
                if key == 4 {
                    graph.checkpoint(&CheckpointOptions::new()).unwrap();
                }
            }
            check_ranks(&graph.snapshot().unwrap());
            let report = graph.checkpoint(&CheckpointOptions::new()).unwrap();
            assert_eq!(report.edges, 12, "{engine:?}");
            drop(graph);
            check_ranks(&options.open_on(files).unwrap().snapshot().unwrap());
        }
    }
}

fn check_ranks(snapshot: &Snapshot) {
    assert_eq!((snapshot.edge_count(), snapshot.pair_count_of(PAYS)), (12.into(), 2.into()));
    let kernel = PageRank { iterations: 1, label: PAYS, ..PageRank::default() };
    let ranks = snapshot.run(kernel).unwrap().ranks;
    let copy = snapshot.to_csr::<()>(PAYS, BuildOptions::default()).unwrap();
    assert_eq!(kernel.run(&copy).unwrap().ranks, ranks);
    let base = (0.15 + 0.85 * 2.0 / 3.0) / 3.0;
    for (vertex, edges) in [(1, 0.0), (2, 9.0), (3, 3.0)] {
        let rank = ranks[snapshot.vertex_id(vertex).unwrap().unwrap().index()];
        let expected = base + 0.85 / 3.0 * edges / 12.0;
        assert!((rank - expected).abs() < 1e-12, "{vertex}: {rank}, not {expected}");
    }
}
