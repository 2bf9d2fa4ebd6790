//! Applying staged changes.

use super::entries::Entries;
use super::garbage::{Part, Place, Superseded};
use super::graph::FineGrained;
use super::row::VERSION_BYTES;
use super::stage::{FineGrainedChanges, RowLink, VertexLink};
use hedgerow_in_memory::reclamation::MemoryChange;
use hedgerow_model::token::Stamp;
use smallvec::SmallVec;

impl<E: Entries> FineGrained<E> {
    /// Changes vertices and rows one by one, each briefly under its own lock.
    ///
    /// Superseded versions that a snapshot may see are filed under the newest registered timestamp,
    /// after the memory counters include them, so that their reclamation subtracts bytes that were
    /// counted.
    pub(super) fn apply_changes(&self, stamp: Stamp, changes: FineGrainedChanges<'_, E>) {
        assert!(std::ptr::eq(self, changes.engine), "changes are applied to the store that staged them");
        let mut applied = Applied { stamp, memory: MemoryChange::default(), superseded: SmallVec::new() };
        changes.vertices.into_iter().for_each(|link| applied.change_vertex(&link));
        changes.rows.into_iter().for_each(|link| applied.change_row(link));
        self.memory.add(applied.memory);
        self.garbage.file(stamp.newest_registered(), applied.superseded);
        self.records.apply(stamp, changes.records);
    }
}

/// The accumulated effects of applying a commit.
struct Applied {
    stamp: Stamp,
    memory: MemoryChange,
    superseded: SmallVec<[Superseded; 2]>,
}

impl Applied {
    fn change_vertex(&mut self, link: &VertexLink<'_>) {
        let (memory, kept) = link.cell.write().apply(&link.effect.change, self.stamp);
        self.memory += memory;
        let place = Place { owner: link.effect.vertex, part: Part::Vertex };
        let superseded = self.stamp.at();
        self.superseded.extend(kept.map(|born| Superseded { place, born, superseded }));
    }

    fn change_row<E: Entries>(&mut self, link: RowLink<'_, E>) {
        let RowLink { table, cell, owner, changes, room } = link;
        let mut row = cell.write();
        let before = row.entries.heap_bytes();
        row.apply(changes, self.stamp, room, |neighbor, born| {
            let part = Part::Neighbor { label: table.label, direction: table.direction, neighbor };
            self.superseded.push(Superseded {
                place: Place { owner, part },
                born,
                superseded: self.stamp.at(),
            });
            self.memory.retained += VERSION_BYTES as isize;
        });
        row.entries.shrink_if_sparse();
        self.memory.live += row.entries.heap_bytes() as isize - before as isize;
    }
}
