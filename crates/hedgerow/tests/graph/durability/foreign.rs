//! Undamaged logs with content that no graph would write: refused with its position, without a
//! panic.

use crate::oracle::options;
use hedgerow::store::StoreError;
use hedgerow::{
    Catalog, CheckpointOptions, CommitTimestamp, Direction, EngineKind, ErrorKind, Graph, GraphOptions, Key,
    KeyKind, LabelId, ReadGraph, RecordSchema, Topology, Value, WriteGraph,
};
use hedgerow_log::{Body, CommitRef, Log, LogOptions, StoreError as LogStoreError, StoreFiles};
use hedgerow_model::Record;
use hedgerow_model::{
    AdjacencyEffects, AppendedEdges, EdgeChange, EdgeValue, Effects, VertexChange, VertexEffect, VertexId,
};
use hedgerow_testing::simulated::SimulatedFiles;
use std::sync::Arc;

const TOPOLOGY: Topology = Topology::DirectedWithReverse;

fn id(number: u32) -> VertexId {
    VertexId::new(number)
}

fn vertex(number: u32, values: Vec<Value>) -> VertexEffect {
    VertexEffect { vertex: id(number), change: VertexChange::Put(Record::new(values)) }
}

fn deleted(number: u32) -> VertexEffect {
    VertexEffect { vertex: id(number), change: VertexChange::Delete }
}

fn edge(label: u16, owner: u32, neighbor: u32, value: u64) -> AdjacencyEffects {
    let value = Some(EdgeValue(value));
    let change = EdgeChange::new(id(owner), id(neighbor), value);
    AdjacencyEffects {
        label: LabelId(label),
        direction: Direction::Out,
        changes: [change].into_iter().collect(),
    }
}

fn key(number: u32, key: u64) -> (VertexId, Key) {
    (id(number), Key::Number(key))
}

/// Returns a store of vertices 0 and 1 with keys 10 and 11, and one more commit.
fn store_with(
    effects: &Effects,
    keys: &[(VertexId, Key)],
    catalog: Option<&Catalog>,
) -> (SimulatedFiles, Result<Graph, hedgerow::Error>) {
    store_of(
        &options(TOPOLOGY, KeyKind::Number),
        TOPOLOGY,
        &CommitRef { keys, catalog, ..CommitRef::of(effects) },
    )
}

/// Like [`store_with`], with these options.
fn store_of(
    options: &GraphOptions,
    topology: Topology,
    commit: &CommitRef<'_>,
) -> (SimulatedFiles, Result<Graph, hedgerow::Error>) {
    let files = SimulatedFiles::new(1);
    let options = options.clone().segment_bytes(4096).simulated();
    let graph = options.create_on(Arc::new(files.clone())).unwrap();
    graph.put_edge(LabelId::DEFAULT, 10, 11).unwrap();
    graph.close().unwrap();
    drop(graph);
    let store = StoreFiles::open(Arc::new(files.clone())).unwrap();
    let recovered = store.replay(CommitTimestamp::ZERO, |_, _| Ok::<(), LogStoreError>(())).unwrap();
    let log =
        Log::start(store, &recovered, LogOptions { segment_bytes: 4096, ..LogOptions::default() }).unwrap();
    let mut body = Body::default();
    body.encode(commit, topology);
    let appended = log.append(CommitTimestamp(2), 0, &mut body).unwrap();
    log.wait_durable(appended.at()).unwrap();
    log.close().unwrap();
    drop(log);
    let graph = options.open_on(Arc::new(files.clone()));
    (files, graph)
}

#[track_caller]
fn refused(effects: &Effects, keys: &[(VertexId, Key)], catalog: Option<&Catalog>, words: &str) {
    let (_, opened) = store_with(effects, keys, catalog);
    check_refused(opened, words);
}

#[track_caller]
fn check_refused(opened: Result<Graph, hedgerow::Error>, words: &str) {
    let error = opened.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Storage, "{error}");
    let Some(StoreError::Damaged { path, offset, what }) = error.store() else { panic!("{error:?}") };
    assert!(path.ends_with("log-0000000002") && *offset >= 64, "{error}");
    assert!(what.contains("the commit of timestamp 2") && what.contains(words), "{error}");
}

fn of_vertices(vertices: Vec<VertexEffect>) -> Effects {
    Effects { vertices, ..Effects::default() }
}

fn of_edge(edge: AdjacencyEffects) -> Effects {
    Effects { adjacencies: [edge].into_iter().collect(), ..Effects::default() }
}

#[test]
fn what_belongs_there_is_taken() {
    let effects = Effects {
        vertices: vec![vertex(2, vec![Value::I64(3), Value::Null])],
        adjacencies: [edge(1, 2, 0, 1.5f64.to_bits())].into_iter().collect(),
        ..Effects::default()
    };
    let (_, opened) = store_with(&effects, &[key(2, 12)], None);
    let snapshot = opened.unwrap().snapshot().unwrap();
    assert_eq!((snapshot.edge_count().at_most(), snapshot.vertex_count()), (2, 3));
    assert_eq!(snapshot.get_edge::<f64>(LabelId(1), 12, 10).unwrap(), Some(1.5));
}

/// Ids between those of vertices may belong to commits that were never made, any number of them:
/// they are free, and cost nothing.
#[test]
fn ids_far_apart_are_taken() {
    let far = 4_000_000_000;
    let effects = Effects { vertices: vec![vertex(far, Vec::new())], ..of_edge(edge(0, far, 0, 0)) };
    let (files, opened) = store_with(&effects, &[key(far, 12)], None);
    let graph = opened.unwrap();
    graph.put_edge(LabelId::DEFAULT, 13, 12).unwrap();
    let snapshot = graph.snapshot().unwrap();
    assert_eq!(snapshot.vertex_id(13).unwrap(), Some(id(2)), "the smallest free id");
    assert_eq!((snapshot.edge_count().at_most(), snapshot.vertex_count()), (3, 4));
    assert!(graph.memory().total_bytes() < 256 << 20, "{:?}", graph.memory());
    drop(snapshot);
    graph.checkpoint(&CheckpointOptions::new()).unwrap();
    drop(graph);
    let graph = options(TOPOLOGY, KeyKind::Number).open_on(Arc::new(files)).unwrap();
    assert!(
        graph.contains_edge(LabelId::DEFAULT, 13, 12).unwrap()
            && graph.contains_edge(LabelId::DEFAULT, 12, 10).unwrap()
    );
}

#[test]
fn edges_that_cannot_be_are_refused() {
    refused(&of_edge(edge(7, 0, 1, 0)), &[], None, "edges of label number 7, which does not exist");
    refused(&of_edge(edge(0, 0, 1, 5)), &[], None, "values that are no ()");
    refused(&of_edge(edge(2, 0, 1, 1 << 40)), &[], None, "values that are no u32");
    refused(&of_edge(edge(0, 0, 5, 0)), &[], None, "an edge of vertex 5, which does not exist");
    refused(&of_edge(edge(0, 4_000_000_000, 0, 0)), &[], None, "an edge of vertex 4000000000");
    let dangling = Effects { vertices: vec![deleted(1)], ..of_edge(edge(0, 0, 1, 0)) };
    refused(&dangling, &[], None, "an edge of vertex 1, which does not exist");
}

/// Edges in log order: `hybrid` appends them, unless its memory is limited; other engines sort
/// them.
#[test]
fn edges_as_they_came_are_taken_or_refused() {
    let hybrid = |options: GraphOptions| options.engine(EngineKind::Hybrid);
    let limited = |options: GraphOptions| options.engine(EngineKind::Hybrid).memory_limit(1 << 30);
    let rapid = |options: GraphOptions| options.engine(EngineKind::Rapid);
    for choose in [hybrid, limited, rapid] {
        for topology in [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected] {
            let opened = |label: u16, edges: &[(u32, u32)], values: &[u64]| {
                let position = |edge: &(u32, u32)| EdgeChange::position_of(id(edge.0), id(edge.1));
                let positions: Vec<u64> = edges.iter().map(position).collect();
                let appended = AppendedEdges { label: LabelId(label), edges: &positions, values };
                let effects = of_vertices(vec![vertex(2, Vec::new())]);
                let keys = [key(2, 12)];
                let commit = CommitRef { keys: &keys, appended: Some(appended), ..CommitRef::of(&effects) };
                store_of(&choose(options(topology, KeyKind::Number)), topology, &commit).1
            };
            let weights = [4, 2.5f64.to_bits(), 0, 1.5f64.to_bits()];
            let graph = opened(1, &[(2, 0), (1, 2), (1, 0), (2, 0)], &weights).unwrap();
            graph.reclaim().unwrap();
            let snapshot = graph.snapshot().unwrap();
            assert_eq!((snapshot.edge_count().exact(), snapshot.vertex_count()), (Some(4), 3));
            let weight = |source: u64, destination: u64| {
                snapshot.get_edge::<f64>(LabelId(1), source, destination).unwrap()
            };
            assert_eq!((weight(12, 10), weight(11, 12), weight(11, 10)), (Some(1.5), Some(2.5), Some(0.0)));
            let is_undirected = topology == Topology::Undirected;
            assert_eq!(weight(10, 12), is_undirected.then_some(1.5), "from its smaller end");
            check_refused(opened(7, &[(0, 1)], &[]), "edges of label number 7, which does not exist");
            check_refused(opened(0, &[(0, 1)], &[5]), "values that are no ()");
            check_refused(opened(2, &[(0, 1)], &[1 << 40]), "values that are no u32");
            check_refused(opened(0, &[(0, 1), (5, 0)], &[]), "an edge of vertex 5, which does not exist");
        }
    }
}

#[test]
fn vertices_that_cannot_be_are_refused() {
    refused(&of_vertices(vec![deleted(3)]), &[], None, "deletes vertex 3, which does not exist");
    let wrong = vec![vertex(0, vec![Value::Bool(true), Value::Null])];
    refused(&of_vertices(wrong), &[], None, "gives vertex 0 a record that it cannot have");
    refused(&of_vertices(vec![vertex(0, vec![Value::Null])]), &[], None, "the schema has 2 fields");
}

#[test]
fn keys_that_cannot_be_are_refused() {
    let one = of_vertices(vec![vertex(2, Vec::new())]);
    refused(&one, &[], None, "other keys than new vertices");
    refused(&one, &[key(3, 12)], None, "other keys than new vertices");
    refused(&one, &[key(2, 10)], None, "gives the key 10 to a second vertex");
    refused(&one, &[(id(2), Key::Text("ten".into()))], None, "a key that does not fit");
    let two = of_vertices(vec![vertex(2, Vec::new()), vertex(3, Vec::new())]);
    refused(&two, &[key(2, 12), key(3, 12)], None, "gives the key 12 to a second vertex");
}

#[test]
fn labels_that_change_are_refused() {
    let other = Catalog::new(Vec::new(), RecordSchema::default()).unwrap();
    refused(&Effects::default(), &[], Some(&other), "changes labels or properties");
}
