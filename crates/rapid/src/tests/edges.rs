//! Named cases at the edges of the layout and of the contract.

use super::support::oracle::Request;
use super::support::pipeline::Pipeline;
use crate::large_set::{LARGE, SMALL_AGAIN};
use crate::{Rapid, RapidError, RapidOptions};
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{
    Adjacency, Catalogue, Cursor, Direction, EdgeSchema, Engine, GraphView, LabelId, LabelSchema, Outcome,
    RecordSchema, Topology, VertexId,
};
use std::ops::ControlFlow;

fn put(source: u32, destinations: impl IntoIterator<Item = u32>) -> Request {
    Request::PutEdges { label: 0, source, destinations: destinations.into_iter().collect(), value: 0 }
}

fn delete(source: u32, destinations: impl IntoIterator<Item = u32>) -> Request {
    Request::DeleteEdges { label: 0, source, destinations: destinations.into_iter().collect() }
}

fn runs(pipeline: &Pipeline<Rapid>, vertex: u32) -> usize {
    let locks = pipeline.locks();
    let adjacency = pipeline.engine.latest(&locks).adjacency::<()>(LabelId(0), Direction::Out).unwrap();
    let mut runs = 0;
    let count = |_: &[VertexId], _: &[()]| {
        runs += 1;
        ControlFlow::<()>::Continue(())
    };
    assert!(adjacency.cursor().neighbours(VertexId::new(vertex), count).unwrap().is_continue());
    runs
}

#[test]
fn a_set_becomes_large_and_small_again_at_its_thresholds() {
    let (large, small) = (LARGE as u32, SMALL_AGAIN as u32);
    let mut pipeline = Pipeline::new(Topology::Directed, None);
    pipeline.commit(&[put(1, 0..large), put(2, 0..3)], 0).unwrap();
    assert_eq!(runs(&pipeline, 1), 1);
    pipeline.open();
    pipeline.commit(&[put(1, [large])], 0).unwrap();
    assert!(runs(&pipeline, 1) > 1);
    pipeline.open();
    pipeline.commit(&[delete(1, small..large)], 0).unwrap();
    assert!(runs(&pipeline, 1) > 1, "{small} and the last are left");
    pipeline.commit(&[delete(1, [0, 1])], 0).unwrap();
    assert_eq!(runs(&pipeline, 1), 1);
    pipeline.commit(&[delete(1, 0..=large), delete(2, 0..3)], 0).unwrap();
    assert_eq!(runs(&pipeline, 1), 0);
    pipeline.commit(&[put(1, 0..=large), put(63, [0, 64])], 0).unwrap();
    pipeline.check(&[0, 1, 2, 3, 63, 64, large]);
}

#[test]
fn a_partition_is_emptied_and_filled_again_under_a_snapshot() {
    let mut pipeline = Pipeline::new(Topology::Undirected, None);
    pipeline.commit(&[put(0, [63, 64]), put(64, [64])], 0).unwrap();
    pipeline.open();
    let deleted = [0, 63, 64].map(|vertex| Request::DeleteVertex { vertex });
    pipeline.commit(&deleted, 0).unwrap();
    pipeline.open();
    pipeline.commit(&[put(63, [63, 0])], 0).unwrap();
    pipeline.check(&[0, 63, 64]);
}

#[test]
fn changes_of_nothing_build_nothing() {
    let mut pipeline = Pipeline::new(Topology::DirectedWithReverse, None);
    let many = 0..2 * LARGE as u32;
    pipeline.commit(&[put(1, many.clone()), put(70, [3])], 0).unwrap();
    pipeline.open();
    let before = pipeline.engine.memory();
    pipeline.commit(&[delete(70, [4, 5]), delete(1, [5000]), delete(500, [6]), put(1, many)], 0).unwrap();
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

#[test]
fn records_on_edges_are_refused() {
    let edges = EdgeSchema::Record(RecordSchema::default());
    let label = LabelSchema { name: "payment".to_owned(), edges };
    let catalogue = Catalogue::new(vec![label], RecordSchema::default()).unwrap();
    let refused = Rapid::new(RapidOptions { catalogue, ..RapidOptions::default() }).err();
    assert_eq!(refused, Some(RapidError::EdgeRecords { label: "payment".to_owned() }));
}

#[test]
fn empty_effects_are_a_commit() {
    let mut pipeline = Pipeline::new(Topology::Directed, None);
    pipeline.commit(&[], 0).unwrap();
    let locks = pipeline.locks();
    let nothing = hedgerow_model::Effects::default();
    let prepared = pipeline.engine.prepare(&locks, &nothing, None).unwrap();
    assert_eq!(prepared.outcome, Outcome::default());
}

#[test]
#[should_panic(expected = "without its lock")]
fn effects_outside_of_the_locks_are_refused() {
    let mut pipeline = Pipeline::new(Topology::Directed, None);
    let effects = pipeline.oracle.commit(&[put(100, [1])]);
    // SAFETY: no lock is held, and none is claimed but that of partition 0, which nobody uses.
    let locks = unsafe { HeldLocks::stripes(&[0], u32::MAX, hedgerow_model::Counts::default()) };
    drop(pipeline.engine.prepare(&locks, &effects, None));
}

#[test]
#[should_panic(expected = "without its lock")]
fn the_newest_state_outside_of_the_locks_is_refused() {
    let mut pipeline = Pipeline::new(Topology::Directed, None);
    pipeline.commit(&[put(100, [1])], 0).unwrap();
    // SAFETY: nobody else uses the store.
    let locks = unsafe { HeldLocks::stripes(&[0], u32::MAX, pipeline.oracle.counts()) };
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
    let stamp =
        unsafe { hedgerow_model::token::Stamp::new(hedgerow_model::Timestamp(2), Default::default()) };
    pipeline.engine.apply(stamp, prepared.changes);
    pipeline.check(&[0, 1, 63, 64, 65, 500, 899]);
}
