//! Applying staged changes.

use crate::block::{BlockWriter, OwnedBlock};
use crate::garbage::{NOTE_BYTES, Superseded, VersionPlace};
use crate::graph::{AdjacencyTable, Tel};
use crate::keeps::Locked;
use crate::layout::bytes_of;
use crate::sparse::is_sparse;
use crate::stage::{NEW, NOTHING, RowLink, TelChanges, VertexLink, WriteTarget};
use hedgerow_in_memory::reclamation::MemoryChange;
use hedgerow_model::token::{HeldLocks, Stamp};
use hedgerow_model::{ChangeSlice, CommitTimestamp, EdgeChange, EdgeValue, VertexId};
use hedgerow_sync::epoch::Guard;
use smallvec::SmallVec;

impl Tel {
    /// Publishes the entries written ahead, ends the superseded entries, and links the copied
    /// blocks. O(changes).
    ///
    /// Superseded entries that a snapshot may see are filed under the newest registered timestamp,
    /// after the memory counters include them, so that their reclamation subtracts bytes that were
    /// counted.
    pub(crate) fn apply_changes(&self, locks: &HeldLocks<'_>, stamp: Stamp, changes: TelChanges<'_>) {
        assert!(std::ptr::eq(self, changes.engine), "changes are applied to the store that staged them");
        let guard = self.retired.domain.pin();
        let mut applied = Applied::new(self, locks, stamp);
        changes.vertices.into_iter().for_each(|link| applied.change_vertex(&link, &guard));
        changes.rows.into_iter().for_each(|link| applied.change_row(link));
        applied.finish();
        self.records.apply(stamp, changes.records);
    }
}

/// Results of applying a commit so far.
pub(crate) struct Applied<'e> {
    engine: &'e Tel,
    keeps: Locked<'e>,
    stamp: Stamp,
    memory: MemoryChange,
    superseded: SmallVec<[Superseded; 2]>,
}

impl<'e> Applied<'e> {
    #[inline]
    pub(crate) fn new(engine: &'e Tel, locks: &HeldLocks<'e>, stamp: Stamp) -> Self {
        Applied {
            engine,
            keeps: Locked::by(locks),
            stamp,
            memory: MemoryChange::default(),
            superseded: SmallVec::new(),
        }
    }

    #[inline]
    pub(crate) fn finish(self) {
        self.engine.memory.add(self.memory);
        self.engine.garbage.file(self.stamp.newest_registered(), self.superseded);
    }

    fn change_vertex(&mut self, link: &VertexLink<'_>, guard: &Guard<'_>) {
        // Pinned, so that versions unlinked here stay readable.
        // SAFETY: the locks of the commit are held until it is applied.
        let (memory, kept) = unsafe { link.vertex.apply(&link.effect.change, self.stamp, guard, guard) };
        self.memory += memory;
        let (place, superseded) = (VersionPlace::of_vertex(link.effect.vertex), self.stamp.at());
        self.superseded.extend(kept.map(|born| Superseded { place, born, superseded }));
    }

    fn change_row(&mut self, link: RowLink<'_>) {
        let RowLink { owner, table, target, old_bytes, changes, positions } = link;
        match target {
            WriteTarget::InPlace(mut writer) => {
                writer.publish(self.stamp.at());
                self.end_old(&mut writer, owner, table, changes, &positions);
            }
            WriteTarget::New(mut block) => {
                let writer = block.writer();
                writer.publish(self.stamp.at());
                self.end_old(writer, owner, table, changes, &positions);
                self.link(block, old_bytes, table as usize, owner);
            }
        }
    }

    /// Links a block in place of one of `old_bytes` bytes, which is no longer used. The owner is
    /// locked.
    pub(crate) fn link(&mut self, block: OwnedBlock<'_>, old_bytes: usize, table: usize, owner: VertexId) {
        self.memory.live += bytes_of(block.class()) as isize - old_bytes as isize;
        let AdjacencyTable { label, direction, .. } = self.engine.table_at(table);
        let (index, context) = (self.engine.index(direction), (&self.engine.retired, &self.engine.memory));
        // SAFETY: the owner is locked, and this thread no longer uses the old block.
        let lists = unsafe { index.link(owner, label, Some(block), context, &self.keeps) };
        self.memory.live += lists;
    }

    /// Returns true if an entry born at `born` that ends with these changes is invisible, now and
    /// later.
    #[inline]
    pub(crate) fn is_unseen_since(&self, born: CommitTimestamp) -> bool {
        born >= self.stamp.editable_from()
    }

    /// The timestamp of the changes.
    #[inline]
    pub(crate) fn at(&self) -> CommitTimestamp {
        self.stamp.at()
    }

    /// The proof that the owners are locked.
    #[inline]
    pub(crate) fn keeps(&self) -> Locked<'e> {
        self.keeps
    }

    /// The engine that the changes are made in.
    #[inline]
    pub(crate) fn engine(&self) -> &'e Tel {
        self.engine
    }

    /// Returns the time in the record of an edge to put, for a table by number.
    pub(crate) fn time_put(&self, table: u32, value: EdgeValue) -> Option<i64> {
        self.engine.time_put(self.engine.table_at(table as usize), value)
    }

    fn end_old(
        &mut self,
        writer: &mut BlockWriter<'_>,
        owner: VertexId,
        table: u32,
        changes: ChangeSlice<'_>,
        positions: &[u32],
    ) {
        let dead = writer.log().dead();
        for (change, position) in changes.iter().zip(positions) {
            if *position != NEW && *position != NOTHING {
                self.end_one(writer, table, &change, *position);
            }
        }
        self.list_if_sparse(writer, owner, table, dead);
    }

    /// Ends the entry of a change, and appends its successor, if any, so that the log stays in the
    /// order in which edges were put. There is room for the successor. An invisible entry is dead
    /// at once.
    #[inline]
    pub(crate) fn end_one(
        &mut self,
        writer: &mut BlockWriter<'_>,
        table: u32,
        change: &EdgeChange,
        position: u32,
    ) {
        let (at, place) = (self.stamp.at(), position as usize);
        let born = writer.log().creations()[place];
        if let Some(value) = change.value {
            writer.write_ahead(change.neighbor(), value, || self.time_put(table, value));
            writer.publish(at);
        }
        if self.is_unseen_since(born) {
            return writer.kill(place, at);
        }
        writer.invalidate(place, at);
        let place = VersionPlace { owner: change.owner(), table, neighbor: change.neighbor(), position };
        self.superseded.push(Superseded { place, born, superseded: at });
        self.memory.retained += NOTE_BYTES as isize;
    }

    /// Lists a log if it has become sparse; `dead` is its number of dead entries before.
    #[inline]
    pub(crate) fn list_if_sparse(&self, writer: &BlockWriter<'_>, owner: VertexId, table: u32, dead: usize) {
        let log = writer.log();
        if log.dead() > dead && is_sparse(log.length(), log.dead()) && !is_sparse(log.length(), dead) {
            self.engine.sparse.push(owner, table, log.bytes());
        }
    }
}
