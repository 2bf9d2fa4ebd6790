//! Named cases at the edges of the layout and of the contract.

use super::support::oracle::Request;
use super::support::pipeline::Pipeline;
use crate::adjacency_list::{AdjacencyList, AdjacencyListError, AdjacencyListOptions};
use hedgerow_model::token::{HeldLocks, Stamp};
use hedgerow_model::{
    Adjacency, Catalogue, Cursor, Direction, EdgeSchema, Effects, Engine, GraphView, LabelId, LabelSchema,
    Outcome, RecordSchema, Timestamp, Topology, VertexId,
};
use std::ops::ControlFlow;

fn put(source: u32, destinations: impl IntoIterator<Item = u32>) -> Request {
    Request::PutEdges { label: 0, source, destinations: destinations.into_iter().collect(), value: 0 }
}

fn delete(source: u32, destinations: impl IntoIterator<Item = u32>) -> Request {
    Request::DeleteEdges { label: 0, source, destinations: destinations.into_iter().collect() }
}

/// How many entries the row of a vertex has, visible or not.
fn entries(pipeline: &Pipeline<AdjacencyList>, vertex: u32) -> usize {
    let row = pipeline.engine.tables[0].rows.get(VertexId::new(vertex));
    row.map_or(0, |row| row.read().entries.len())
}

#[test]
fn a_deleted_edge_stays_in_its_row_as_long_as_somebody_sees_it() {
    let mut pipeline = Pipeline::new(Topology::Directed, None);
    pipeline.commit(&[put(1, 0..10)], 0).unwrap();
    pipeline.commit(&[delete(1, [3])], 0).unwrap();
    assert_eq!(entries(&pipeline, 1), 9, "nobody had seen it");
    pipeline.open();
    pipeline.commit(&[delete(1, [4, 5])], 0).unwrap();
    assert_eq!(entries(&pipeline, 1), 9);
    pipeline.check(&[1, 4]);
    pipeline.close(0);
    assert_eq!(pipeline.reclaim(usize::MAX, 0).versions, 2);
    assert_eq!(entries(&pipeline, 1), 7);
    pipeline.check(&[1, 4]);
}

#[test]
fn an_edge_is_deleted_and_put_again_under_snapshots() {
    let mut pipeline = Pipeline::new(Topology::Undirected, None);
    for _ in 0..4 {
        pipeline.commit(&[put(1, [2, 3])], 0).unwrap();
        pipeline.open();
        pipeline.commit(&[delete(1, [2])], 0).unwrap();
        pipeline.open();
        pipeline.commit(&[put(1, [2])], 0).unwrap();
        pipeline.commit(&[delete(1, [2])], 0).unwrap();
    }
    pipeline.check(&[1, 2, 3]);
    while !pipeline.snapshots.is_empty() {
        pipeline.close(pipeline.snapshots.len() / 2);
        pipeline.reclaim(usize::MAX, 0);
        pipeline.check(&[1, 2, 3]);
        pipeline.assert_counters_are_exact();
    }
    assert_eq!((entries(&pipeline, 1), entries(&pipeline, 2)), (1, 0));
}

#[test]
fn one_commit_inserts_changes_and_deletes_in_one_row() {
    let mut pipeline = Pipeline::new(Topology::Directed, None);
    let values =
        |destinations: Vec<u32>, value| Request::PutEdges { label: 2, source: 0, destinations, value };
    pipeline.commit(&[values((0..100).map(|id| id * 3).collect(), 1)], 0).unwrap();
    for margin in [0, 1000] {
        pipeline.open();
        let deleted =
            Request::DeleteEdges { label: 2, source: 0, destinations: (0..150).step_by(9).collect() };
        pipeline.commit(&[values((0..300).step_by(4).collect(), 2), deleted], margin).unwrap();
        pipeline.check(&[0, 3, 4, 9, 36, 299]);
        pipeline.assert_counters_are_exact();
    }
}

#[test]
fn emptied_rows_give_back_their_arrays() {
    let mut pipeline = Pipeline::new(Topology::Directed, None);
    pipeline.commit(&[put(1, 0..2000)], 0).unwrap();
    let full = pipeline.engine.memory().live_bytes;
    pipeline.open();
    pipeline.commit(&[delete(1, 100..2000)], 0).unwrap();
    assert_eq!(pipeline.engine.memory().live_bytes, full);
    pipeline.close(0);
    pipeline.reclaim(usize::MAX, 0);
    assert!(pipeline.engine.memory().live_bytes < full / 8);
    pipeline.commit(&[delete(1, 0..2000)], 0).unwrap();
    assert_eq!(pipeline.engine.memory().live_bytes, 0);
    pipeline.check(&[1]);
}

#[test]
fn changes_of_nothing_reserve_nothing() {
    let mut pipeline = Pipeline::new(Topology::DirectedWithReverse, None);
    pipeline.commit(&[put(1, 0..500), put(70, [3])], 0).unwrap();
    pipeline.open();
    let before = pipeline.engine.memory();
    let nothing = [delete(70, [4, 5]), delete(1, [5000]), delete(500_000, [6]), put(1, 0..500)];
    pipeline.commit(&nothing, 0).unwrap();
    assert_eq!(pipeline.engine.memory(), before);
    pipeline.check(&[0, 1, 3, 4, 70, 500]);
}

#[test]
fn one_vertex_at_the_end_of_the_id_space_costs_kilobytes() {
    let mut pipeline = Pipeline::new(Topology::Directed, None);
    let vertex = VertexId::MAX.get();
    pipeline.commit(&[Request::PutVertex { vertex, property: None }], 0).unwrap();
    assert!(pipeline.engine.memory().total_bytes() < 512 * 1024);
    pipeline.check(&[0, vertex]);
}

#[test]
fn ids_at_or_above_the_bound_have_no_neighbours() {
    let mut pipeline = Pipeline::new(Topology::Directed, None);
    pipeline.commit(&[put(1, [2])], 0).unwrap();
    pipeline.open();
    pipeline.commit(&[put(3, [2])], 0).unwrap();
    let view = pipeline.engine.view(&pipeline.snapshots[0].token);
    let adjacency = view.adjacency::<()>(LabelId(0), Direction::Out).unwrap();
    assert_eq!(view.vertex_bound(), 3);
    assert_eq!(adjacency.cursor().degree(VertexId::new(3)), Ok(0));
    assert!(!view.contains_vertex(VertexId::new(3)));
}

/// What a cursor hands over is a copy: the row can be changed, and read again, meanwhile.
#[test]
fn a_row_can_be_changed_while_it_is_read() {
    let mut pipeline = Pipeline::new(Topology::Directed, None);
    pipeline.commit(&[put(1, 0..5)], 0).unwrap();
    pipeline.open();
    let token = pipeline.snapshots.remove(0).token;
    let effects = pipeline.oracle.commit(&[put(1, 0..9), delete(1, [0])]);
    let locks = pipeline.locks();
    let mut prepared = Some(pipeline.engine.prepare(&locks, &effects, None).unwrap().changes);
    let adjacency = pipeline.engine.view(&token).adjacency::<()>(LabelId(0), Direction::Out).unwrap();
    let degree = || adjacency.cursor().degree(VertexId::new(1));
    let flow = adjacency.cursor().neighbours(VertexId::new(1), |neighbours, _| {
        // SAFETY: the second stamp; timestamp 1 is registered.
        let stamp = unsafe { Stamp::new(Timestamp(2), Timestamp(2)) };
        pipeline.engine.apply(stamp, prepared.take().expect("the row is one run"));
        assert_eq!((neighbours.len(), degree()), (5, Ok(5)));
        ControlFlow::<()>::Continue(())
    });
    assert!(flow.unwrap().is_continue() && prepared.is_none());
    assert_eq!(degree(), Ok(5));
}

#[test]
fn records_on_edges_are_refused() {
    let edges = EdgeSchema::Record(RecordSchema::default());
    let label = LabelSchema { name: "payment".to_owned(), edges };
    let catalogue = Catalogue::new(vec![label], RecordSchema::default()).unwrap();
    let refused = AdjacencyList::new(AdjacencyListOptions { catalogue, ..Default::default() }).err();
    assert_eq!(refused, Some(AdjacencyListError::EdgeRecords { label: "payment".to_owned() }));
}

#[test]
fn empty_effects_are_a_commit() {
    let mut pipeline = Pipeline::new(Topology::Directed, None);
    pipeline.commit(&[], 0).unwrap();
    let locks = pipeline.locks();
    let nothing = Effects::default();
    let prepared = pipeline.engine.prepare(&locks, &nothing, None).unwrap();
    assert_eq!((prepared.outcome, prepared.changed), (Outcome::default(), false));
}

#[test]
#[should_panic(expected = "changed without its lock")]
fn effects_outside_of_the_locks_are_refused() {
    let mut pipeline = Pipeline::new(Topology::Directed, None);
    let effects = pipeline.oracle.commit(&[put(100, [1])]);
    // SAFETY: no lock is held, and none is claimed but that of vertex 1, which nobody else uses.
    let locks = unsafe { HeldLocks::stripes(&[1], u32::MAX, hedgerow_model::Counts::default()) };
    drop(pipeline.engine.prepare(&locks, &effects, None));
}

#[test]
#[should_panic(expected = "read without its lock")]
fn the_newest_state_outside_of_the_locks_is_refused() {
    let mut pipeline = Pipeline::new(Topology::Directed, None);
    pipeline.commit(&[put(100, [1])], 0).unwrap();
    // SAFETY: nobody else uses the store.
    let locks = unsafe { HeldLocks::stripes(&[1], u32::MAX, pipeline.oracle.counts()) };
    pipeline.engine.latest(&locks).contains_vertex(VertexId::new(100));
}

/// A batch that is prepared by a pool does what it does without.
#[test]
fn a_pool_prepares_the_same() {
    let mut pipeline = Pipeline::new(Topology::Undirected, None);
    let batch: Vec<Request> =
        (0..500).map(|source| put(source, (0..20).map(|i| (source * 7 + i * 31) % 900))).collect();
    pipeline.commit(&batch[..100], 0).unwrap();
    let before = pipeline.oracle.clone();
    let effects = pipeline.oracle.commit(&batch);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let locks = pipeline.locks();
    let prepared = pipeline.engine.prepare(&locks, &effects, Some(&pool)).unwrap();
    assert_eq!(prepared.outcome, pipeline.oracle.outcome_since(&before));
    // SAFETY: the second stamp; nothing is registered.
    let stamp = unsafe { Stamp::new(Timestamp(2), Timestamp::ZERO) };
    pipeline.engine.apply(stamp, prepared.changes);
    pipeline.check(&[0, 1, 63, 64, 65, 500, 899]);
}
