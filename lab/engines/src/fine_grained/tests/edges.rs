//! Edge cases of rows.

use super::Pipeline;
use crate::fine_grained::{ArtEntries, Entries, SortedEntries};
use hedgerow_model::token::Stamp;
use hedgerow_model::{
    Adjacency, Allowance, CommitTimestamp, Cursor, Direction, Engine, GraphView, LabelId, Topology, VertexId,
};
use hedgerow_testing::contract::{delete, put};
use std::ops::ControlFlow;

/// Returns the number of entries in the row of a vertex, visible or not.
fn entries<E: Entries>(pipeline: &Pipeline<E>, vertex: u32) -> usize {
    let row = pipeline.engine.tables.get(0).unwrap().rows.get(VertexId::new(vertex));
    row.map_or(0, |row| row.read().entries.count())
}

#[test]
fn a_deleted_edge_stays_in_its_row_while_it_is_visible() {
    delete_under_a_snapshot::<SortedEntries>();
    delete_under_a_snapshot::<ArtEntries>();
}

fn delete_under_a_snapshot<E: Entries>() {
    let mut pipeline = Pipeline::<E>::new(Topology::Directed, None);
    pipeline.commit(&[put(1, 0..10)], 0).unwrap();
    pipeline.commit(&[delete(1, [3])], 0).unwrap();
    assert_eq!(entries(&pipeline, 1), 9, "it was never visible");
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
fn emptied_rows_give_back_their_arrays() {
    empty_a_row::<SortedEntries>();
    empty_a_row::<ArtEntries>();
}

fn empty_a_row<E: Entries>() {
    let mut pipeline = Pipeline::<E>::new(Topology::Directed, None);
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

/// A cursor lends a copy: the row can be changed, and read again, meanwhile.
#[test]
fn a_row_can_be_changed_while_it_is_read() {
    change_a_row_while_it_is_read::<SortedEntries>();
    change_a_row_while_it_is_read::<ArtEntries>();
}

fn change_a_row_while_it_is_read<E: Entries>() {
    let mut pipeline = Pipeline::<E>::new(Topology::Directed, None);
    pipeline.commit(&[put(1, 0..5)], 0).unwrap();
    pipeline.open();
    let token = pipeline.snapshots.remove(0).token;
    let effects = pipeline.oracle.commit(&[put(1, 0..9), delete(1, [0])]);
    let (mut locks, mut room) = (pipeline.locks(), Default::default());
    let staged =
        pipeline.engine.stage(&locks, (&effects).into(), &mut room, Allowance::UNLIMITED, None).unwrap();
    let mut staged = Some(staged.changes);
    let adjacency = pipeline.engine.view(&(), &token).adjacency::<()>(LabelId(0), Direction::Out).unwrap();
    let degree = || adjacency.cursor().degree(VertexId::new(1));
    let flow = adjacency.cursor().neighbors(VertexId::new(1), |neighbors, _| {
        // SAFETY: the second stamp; timestamp 1 is registered.
        let stamp = unsafe { Stamp::new(CommitTimestamp(2), CommitTimestamp(2)) };
        let changes = staged.take().expect("the row is one run");
        pipeline.engine.apply(&mut locks, stamp.into(), changes);
        assert_eq!((neighbors.len(), degree()), (5, Ok(5)));
        ControlFlow::<()>::Continue(())
    });
    assert!(flow.unwrap().is_continue() && staged.is_none());
    assert_eq!(degree(), Ok(5));
}
