//! Commits of one edge each: the edge is looked up in its logs, and appended or ended there.

use crate::apply::Applied;
use crate::block::{BlockWriter, END_OF_TIME, EntryLog, OwnedBlock};
use crate::garbage::Vertex;
use crate::graph::{AdjacencyTable, Tel, check_lock};
use crate::index::BlockIndex;
use crate::layout::Need;
use crate::stage::{NEW, NOTHING, fit_for_more, position_of};
use hedgerow_in_memory::staging::{EdgeEntries, EdgePlan, EdgePlans, StagedEdges};
use hedgerow_model::token::{HeldLocks, Stamp, Stamps};
use hedgerow_model::{Direction, EdgeChange, Staged, StoredEdge, VertexId};
use hedgerow_sync::prefetch;
use smallvec::SmallVec;

/// Maximum size of a log that is copied to a larger block while a single edge is applied, which
/// takes little time.
const COPIED_BYTES: usize = 1 << 15;

/// Bytes at the start of a block prefetched before the accessed part is known.
const FIRST_LINES: usize = 128;

/// The position of each entry of an edge in its log, or `NEW`, or `NOTHING` if there is nothing to
/// do.
pub type EdgePlaces = [u32; 2];

/// One entry of an edge, and its log.
struct EdgeEntry<'l> {
    change: &'l EdgeChange,
    direction: Direction,
    table: AdjacencyTable,
    log: Option<EntryLog<'l>>,
}

impl Tel {
    /// Plans the changes of the first edges: up to the first that lacks an end, that is in a label
    /// with records, for which a large log would have to be copied, or for which a log would grow
    /// although `may_grow` is false or the file is full.
    #[inline(always)]
    pub(crate) fn stage_edges<'l>(
        &self,
        locks: &HeldLocks<'l>,
        edges: &'l [StoredEdge],
        plans: &'l mut EdgePlans<EdgePlaces>,
        may_grow: bool,
    ) -> Staged<StagedEdges<'l, EdgePlaces>> {
        let is_several = edges.len() > 1;
        if is_several {
            self.prefetch(edges);
        }
        let find = |edge: &'l StoredEdge, entries: &mut EdgeEntries<EdgeEntry<'l>>| {
            let (source, destination) = edge.ends();
            let exist = self.exists_now(source) && self.exists_now(destination);
            if exist {
                self.find_entries(locks, edge, entries);
            }
            exist
        };
        let fetch = |EdgeEntry { change, log, .. }: &EdgeEntry<'_>| {
            if let (true, Some(log)) = (is_several, log) {
                log.prefetch_change(change.neighbor());
            }
        };
        StagedEdges::plan(edges, plans, find, fetch, |edge, own| self.plan_entries(edge, own, may_grow))
    }

    #[inline(always)]
    pub(crate) fn apply_edges(
        &self,
        locks: &HeldLocks<'_>,
        stamps: Stamps,
        staged: StagedEdges<'_, EdgePlaces>,
    ) {
        staged.apply(stamps, |stamp, edge, plan| self.apply_edge(locks, stamp, edge, plan.places));
    }

    #[inline(never)]
    fn apply_edge(&self, locks: &HeldLocks<'_>, stamp: Stamp, edge: &StoredEdge, places: EdgePlaces) {
        let mut applied = Applied::new(self, locks, stamp);
        for ((direction, change), position) in edge.entries().iter().zip(places) {
            if position == NOTHING {
                continue;
            }
            let number = self.position(edge.label, *direction);
            let (table, keeps) = (self.table_at(number), applied.keeps());
            let log = self.log(table, change.owner(), &keeps);
            let has_room =
                |log: EntryLog<'_>| change.value.is_none_or(|value| log.has_room(table.need_of(value)));
            match log {
                Some(log) if has_room(log) => {
                    // SAFETY: the owner is locked, and the log was just looked up.
                    let mut writer = unsafe { BlockWriter::new(log) };
                    applied.write_one(&mut writer, number as u32, change, position);
                }
                log => applied.grow(log, number, change, position),
            }
        }
        applied.finish();
    }

    #[inline]
    pub(crate) fn exists_now(&self, vertex: VertexId) -> bool {
        self.vertices.get(vertex.get()).is_some_and(Vertex::exists_now)
    }

    /// Prefetches the slots of all ends, then the blocks that they point to.
    #[inline]
    fn prefetch(&self, edges: &[StoredEdge]) {
        let slots = |edge: &StoredEdge| -> SmallVec<[_; 2]> {
            let entries = edge.entries().iter();
            entries
                .filter_map(|(stored, change)| self.index(*stored).directory.get(change.owner().get()))
                .collect()
        };
        for edge in edges {
            slots(edge).into_iter().for_each(|slot| prefetch(slot, 1));
            let (source, destination) = edge.ends();
            let existence = [source, destination].map(|end| self.vertices.get(end.get()));
            existence.into_iter().flatten().for_each(|slot| prefetch(slot, 1));
        }
        edges.iter().flat_map(slots).for_each(|slot| BlockIndex::prefetch_block(slot, FIRST_LINES));
    }

    /// Appends the entries of an edge, each with its log.
    #[inline]
    fn find_entries<'l>(
        &self,
        locks: &HeldLocks<'l>,
        edge: &'l StoredEdge,
        entries: &mut EdgeEntries<EdgeEntry<'l>>,
    ) {
        for (direction, change) in edge.entries() {
            check_lock(locks, change.owner());
            let table = self.table_at(self.position(edge.label, *direction));
            let log = self.log_of(table, change.owner(), locks);
            entries.push(EdgeEntry { change, direction: *direction, table, log });
        }
    }

    #[inline]
    fn plan_entries(
        &self,
        edge: &StoredEdge,
        entries: &[EdgeEntry<'_>],
        may_grow: bool,
    ) -> Option<EdgePlan<EdgePlaces>> {
        if self.records.has_records(edge.label) {
            // The edge's record is put or deleted with it.
            return None;
        }
        let (mut added, mut removed, mut changed) = (0, 0, false);
        let mut positions = [NOTHING; 2];
        for (number, EdgeEntry { change, direction, table, log }) in entries.iter().enumerate() {
            let position = match log {
                Some(log) => position_of(*log, log.find(change.neighbor(), END_OF_TIME), change.value),
                None if change.value.is_some() => NEW,
                None => NOTHING,
            };
            positions[number] = position;
            if position == NOTHING {
                continue;
            }
            changed = true;
            let has_room = |log: &EntryLog<'_>, value| log.has_room(table.need_of(value));
            let grows =
                change.value.is_some_and(|value| log.as_ref().is_none_or(|log| !has_room(log, value)));
            let is_large = log.is_some_and(|log| log.bytes() > COPIED_BYTES);
            if grows && (is_large || !may_grow || self.store.is_full()) {
                return None;
            }
            if self.topology.is_canonical_entry(*direction, change.owner(), change.neighbor()) {
                added += u8::from(position == NEW);
                removed += u8::from(change.value.is_none());
            }
        }
        Some(EdgePlan { changed, added, removed, places: positions })
    }
}

impl Applied<'_> {
    /// Makes one change in a log that has room for it.
    #[inline]
    fn write_one(&mut self, writer: &mut BlockWriter<'_>, table: u32, change: &EdgeChange, position: u32) {
        if let (NEW, Some(value)) = (position, change.value) {
            writer.write_ahead(change.neighbor(), value, || self.time_put(table, value));
            writer.publish(self.at());
            return;
        }
        let dead = writer.log().dead();
        self.end_one(writer, table, change, position);
        self.list_if_sparse(writer, change.owner(), table, dead);
    }

    /// Makes one change in a larger copy of a log, or in a log's first block.
    #[cold]
    fn grow(&mut self, log: Option<EntryLog<'_>>, number: usize, change: &EdgeChange, position: u32) {
        let engine = self.engine();
        engine.retired.free_if_due(&engine.store);
        let table = engine.table_at(number);
        let more = change.value.map_or_else(Need::default, |value| table.need_of(value));
        let fit = fit_for_more(table, log, more).unwrap_or_else(|| table.fit(more));
        let block = OwnedBlock::new(&engine.store, fit, table.label);
        let (mut block, left_out) = engine.copied(table, block, log);
        let position = match position {
            NEW => NEW,
            position => position - left_out.partition_point(|dead| *dead < position) as u32,
        };
        self.write_one(block.writer(), number as u32, change, position);
        self.link(block, log.map_or(0, |log| log.bytes()), number, change.owner());
    }
}
