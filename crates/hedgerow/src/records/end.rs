//! The end of a graph that has records on its edges: handles free nothing by themselves. What an engine embeds goes with its memory.

use super::heap::OwnedRecord;
use super::parallel;
use crate::commit::locks::LockGuard;
use crate::storage::Store;
use hedgerow_model::record_memory::is_embedded;
use hedgerow_model::{
    Adjacency, Column, Cursor, Direction, Engine, GraphView, LabelId, RecordHandle, Topology,
};
use std::ops::ControlFlow;

impl<E: Engine> Drop for Store<E> {
    /// Frees the records of all edges, and those that were kept. O(edges of labels that have records).
    fn drop(&mut self) {
        if self.sequencer.is_poisoned() {
            // Nobody knows which records the commit that ended half way has put.
            return;
        }
        let labels = (0..).map(LabelId).zip(self.catalogue.labels());
        let with_records: Vec<LabelId> =
            labels.filter(|(_, schema)| schema.edges.record().is_some()).map(|(label, _)| label).collect();
        if with_records.is_empty() {
            return;
        }
        let guard = LockGuard::lock(&self.units, self.units.all());
        let held = guard.held(&self.sequencer);
        // What cannot be read any more cannot be freed either.
        let Ok(newest) = self.engine.latest(&held) else { return };
        for label in with_records {
            free_newest(&newest, label, self.topology, self.records.are_parallel(label));
        }
        for kept in std::mem::take(&mut self.records.garbage).buckets().into_values().flatten() {
            // SAFETY: it was let go when it was filed, and comes out of the garbage once. The graph has no views any more.
            drop(unsafe { OwnedRecord::take_back(kept.place.value) });
        }
    }
}

/// Frees the records that edges have in the newest state of a graph which ends.
fn free_newest<V: GraphView>(newest: &V, label: LabelId, topology: Topology, are_parallel: bool) {
    let Ok(adjacency) = newest.adjacency::<RecordHandle>(label, Direction::Out) else { return };
    let mut cursor = adjacency.cursor();
    let scanned = cursor.scan(0..newest.vertex_bound(), |owner, neighbours, handles| {
        for (neighbour, handle) in neighbours.iter().zip(handles) {
            if topology.is_canonical_entry(Direction::Out, owner, *neighbour) {
                let value = handle.to_bits();
                if are_parallel {
                    // SAFETY: it was let go at the commit of its edge, which has one canonical entry. The graph has no other views
                    // any more, and this one is not read again.
                    unsafe { parallel::free(value) };
                } else if !is_embedded(value) {
                    // SAFETY: as above.
                    drop(unsafe { OwnedRecord::take_back(value) });
                }
            }
        }
        ControlFlow::<()>::Continue(())
    });
    // What cannot be read any more cannot be freed either.
    let _ = scanned.is_ok_and(|flow| flow.is_continue());
}
