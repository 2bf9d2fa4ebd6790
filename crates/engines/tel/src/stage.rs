//! Planning the changes of a commit and making room for them, before they become visible.

use crate::block::{BlockWriter, END_OF_TIME, EntryLog, OwnedBlock, VALID};
use crate::garbage::Vertex;
use crate::graph::{AdjacencyTable, Tel, check_lock};
use crate::keeps::Locked;
use crate::layout::{Fit, Need, bytes_of};
use crate::store::Full;
use crate::view::TelView;
use hedgerow_in_memory::records::{RecordChanges, StagedEffects};
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{
    AdjacencyEffects, Allowance, CapacityError, ChangeSlice, Direction, EdgeValue, Effects, EngineError,
    Outcome, Staged, VertexEffect, VertexId,
};
use hedgerow_sync::atomic::Ordering;
use rayon::ThreadPool;
use rayon::prelude::*;
use smallvec::SmallVec;

/// Minimum number of changes that a pool stages in parallel; one thread stages fewer.
const PARALLEL_FROM: usize = 4096;

/// Maximum number of changes of one log that are looked up one by one; more are looked up together,
/// in one pass over the log.
const TOGETHER_FROM: usize = 8;

/// Position of a change without a valid entry: one is appended.
pub(crate) const NEW: u32 = u32::MAX;

/// Position of a change that makes no difference.
pub(crate) const NOTHING: u32 = u32::MAX - 1;

/// The planned changes of a commit, and the memory for them. Dropping it changes nothing.
pub struct TelChanges<'l> {
    pub(crate) engine: &'l Tel,
    pub(crate) vertices: Vec<VertexLink<'l>>,
    pub(crate) rows: Vec<RowLink<'l>>,
    pub(crate) records: RecordChanges,
}

/// A vertex that changes.
pub(crate) struct VertexLink<'l> {
    pub(crate) vertex: &'l Vertex,
    pub(crate) effect: &'l VertexEffect,
}

/// A log that changes. Its new entries are already written, where no reader looks.
pub(crate) struct RowLink<'l> {
    pub(crate) owner: VertexId,
    pub(crate) table: u32,
    pub(crate) target: WriteTarget<'l>,
    /// Bytes of the currently linked block.
    pub(crate) old_bytes: usize,
    pub(crate) changes: ChangeSlice<'l>,
    /// The position in the target of each change's entry. Empty if every put is new.
    pub(crate) positions: Positions,
}

/// The positions of the entries of changes, or [`NEW`] or [`NOTHING`].
pub(crate) type Positions = SmallVec<[u32; 4]>;

/// The block that the changes are written to.
pub(crate) enum WriteTarget<'l> {
    InPlace(BlockWriter<'l>),
    New(OwnedBlock<'l>),
}

impl<'l> WriteTarget<'l> {
    #[inline]
    fn writer(&mut self) -> &mut BlockWriter<'l> {
        match self {
            WriteTarget::InPlace(writer) => writer,
            WriteTarget::New(block) => block.writer(),
        }
    }
}

impl std::fmt::Debug for TelChanges<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (vertices, rows) = (self.vertices.len(), self.rows.len());
        f.debug_struct("TelChanges").field("vertices", &vertices).field("rows", &rows).finish()
    }
}

/// A vertex that will change, and the growth of its record in bytes.
struct PlannedVertex<'l> {
    effect: &'l VertexEffect,
    growth: isize,
}

/// A log that will change.
struct PlannedRow<'l> {
    owner: VertexId,
    table: usize,
    log: Option<EntryLog<'l>>,
    changes: ChangeSlice<'l>,
    positions: Positions,
    /// The block that will replace the log's, if necessary.
    fit: Option<Fit>,
    /// Number of edges added and, in `removed`, of edges removed.
    added: u64,
    removed: u64,
}

impl PlannedRow<'_> {
    fn growth(&self) -> isize {
        let old = self.log.map_or(0, |log| log.bytes());
        self.fit.map_or(0, |fit| bytes_of(fit.class) as isize - old as isize)
    }
}

impl Tel {
    pub(crate) fn stage_effects<'l>(
        &'l self,
        locks: &HeldLocks<'l>,
        effects: &'l Effects,
        room: &'l mut StagedEffects,
        allowance: Allowance,
        pool: Option<&ThreadPool>,
    ) -> Result<Staged<TelChanges<'l>>, EngineError> {
        debug_assert!(effects.is_sorted(), "effects ascend");
        self.retired.free_if_due(&self.store);
        let pool = pool.filter(|_| effects.len() >= PARALLEL_FROM);
        let mut outcome = Outcome::default();
        let newest = TelView::locked(self, locks);
        // Labels with one record per edge, stored in blocks.
        let embeds = |label| self.table_at(self.position(label, Direction::Out)).has_records;
        let (adjacencies, records) = self.records.stage(effects, room, &newest, embeds, &mut outcome)?;
        let allowance = allowance.beside(self.records.memory().total_bytes(), records.growth());

        let vertices: Vec<PlannedVertex<'_>> =
            map(pool, effects.vertices.iter(), |effect| self.plan_vertex(locks, effect));
        let mut growth: isize = vertices.iter().map(|planned| planned.growth).sum();
        growth +=
            self.vertices.missing_bytes(vertices.iter().map(|planned| planned.effect.vertex.get())) as isize;
        let mut rows: Vec<PlannedRow<'_>> = Vec::new();
        for effects in adjacencies.filter(|effects| !effects.changes.is_empty()) {
            let (number, table) = self.table_of(effects);
            let of_owner = effects.changes.as_slice().groups(|owner| owner);
            let planned: Vec<PlannedRow<'_>> =
                map(pool, of_owner, |changes| self.plan_row(locks, number, changes));
            growth += planned.iter().map(PlannedRow::growth).sum::<isize>();
            let directory = &self.index(table.direction).directory;
            growth += directory.missing_bytes(planned.iter().map(|row| row.owner.get())) as isize;
            let added = planned.iter().map(|row| row.added).sum();
            let removed = planned.iter().map(|row| row.removed).sum();
            if added + removed > 0 {
                outcome.count(table.label, added, removed);
            }
            match rows.is_empty() {
                true => rows = planned,
                false => rows.extend(planned),
            }
        }
        allowance.check(self.memory_use().total_bytes(), growth)?;

        let rows = try_map(pool, rows, |planned| self.build_row(planned))?;
        // Nothing fails from here on.
        let vertices = vertices.iter().map(|planned| self.link_vertex(planned)).collect();
        let changes = TelChanges { engine: self, vertices, rows, records };
        let changed = !(changes.vertices.is_empty() && changes.rows.is_empty());
        Ok(Staged::commit(changes, outcome, changed))
    }

    fn table_of(&self, effects: &AdjacencyEffects) -> (usize, AdjacencyTable) {
        let number = self.position(effects.label, effects.direction);
        let table = self.table_at(number);
        assert_eq!(table.direction, effects.direction, "effects name a direction that the topology stores");
        (number, table)
    }

    /// Returns `None` if the effect makes no difference.
    fn plan_vertex<'l>(&self, locks: &HeldLocks<'_>, effect: &'l VertexEffect) -> Option<PlannedVertex<'l>> {
        check_lock(locks, effect.vertex);
        let never = Vertex::default();
        let vertex = self.vertices.get(effect.vertex.get()).unwrap_or(&never);
        let growth = vertex.growth(&effect.change, &Locked::by(locks))?;
        Some(PlannedVertex { effect, growth })
    }

    /// Returns `None` if the changes, all of one log, make no difference. O(changes), and a pass
    /// over the log if many of them may be in it.
    fn plan_row<'l>(
        &self,
        locks: &HeldLocks<'l>,
        number: usize,
        changes: ChangeSlice<'l>,
    ) -> Option<PlannedRow<'l>> {
        let (owner, table) = (changes.first_owner(), self.table_at(number));
        check_lock(locks, owner);
        let log = self.log_of(table, owner, locks);
        let positions = log.map_or_else(Positions::new, |log| positions_of(log, changes));
        let (mut more, mut deleted) = (Need::default(), 0);
        let (mut added, mut removed) = (0, 0);
        if log.is_none() && changes.are_puts() && !table.has_records {
            more.entries = changes.len();
            added = self.topology.count_edges(table.direction, changes);
        } else {
            for (number, change) in changes.iter().enumerate() {
                // Each edge counts at its canonical entry only.
                let counts = self.topology.is_canonical_entry(table.direction, owner, change.neighbor());
                match (positions.get(number).copied().unwrap_or(NEW), change.value) {
                    (NOTHING, _) | (NEW, None) => {}
                    (position, Some(value)) => {
                        more = more + table.need_of(value);
                        added += u64::from(counts && position == NEW);
                    }
                    (_, None) => {
                        deleted += 1;
                        removed += u64::from(counts);
                    }
                }
            }
        }
        if more.entries + deleted == 0 {
            return None;
        }
        let fit = fit_for_more(table, log, more);
        Some(PlannedRow { owner, table: number, log, changes, positions, fit, added, removed })
    }

    /// The log of a locked vertex.
    pub(crate) fn log_of<'l>(
        &self,
        table: AdjacencyTable,
        owner: VertexId,
        locks: &HeldLocks<'l>,
    ) -> Option<EntryLog<'l>> {
        let slot = self.index(table.direction).directory.get(owner.get())?;
        crate::index::BlockIndex::log_at(slot, table.label, Locked::of(locks))
    }

    fn link_vertex<'l>(&'l self, planned: &PlannedVertex<'l>) -> VertexLink<'l> {
        let vertex = self.vertices.get_or_create(planned.effect.vertex.get(), &self.memory);
        VertexLink { vertex, effect: planned.effect }
    }

    /// Copies the log if it has to move, and writes new entries beyond the part that readers see.
    /// O(changes), and O(log) if it is copied.
    fn build_row<'l>(&'l self, planned: PlannedRow<'l>) -> Result<RowLink<'l>, CapacityError> {
        let PlannedRow { owner, table: number, log, changes, mut positions, fit, .. } = planned;
        let table = self.table_at(number);
        self.index(table.direction).directory.get_or_create(owner.get(), &self.memory);
        let mut target = match (fit, log) {
            (None, Some(log)) => {
                // SAFETY: the owner is locked, and nothing was published since the log was looked
                // up.
                WriteTarget::InPlace(unsafe { BlockWriter::new(log) })
            }
            (fit, log) => {
                let fit = fit.unwrap_or_else(|| table.fit(Need::default()));
                let block = OwnedBlock::try_new(&self.store, fit, table.label);
                let block =
                    block.map_err(|Full { needed, reason }| CapacityError::Scratch { needed, reason })?;
                let (block, left_out) = self.copied(table, block, log);
                for position in positions.iter_mut().filter(|position| **position < NOTHING) {
                    *position -= left_out.partition_point(|dead| dead < position) as u32;
                }
                WriteTarget::New(block)
            }
        };
        self.write_new(target.writer(), table, changes, &positions);
        let old_bytes = log.map_or(0, |log| log.bytes());
        Ok(RowLink { owner, table: number as u32, target, old_bytes, changes, positions })
    }

    /// Writes new entries ahead, sorted by time if edges have one: the puts of a commit have no
    /// other order.
    fn write_new(
        &self,
        writer: &mut BlockWriter<'_>,
        table: AdjacencyTable,
        changes: ChangeSlice<'_>,
        positions: &[u32],
    ) {
        let is_new = |number: usize| positions.get(number).is_none_or(|position| *position == NEW);
        let new = changes.iter().enumerate().filter(|(number, _)| is_new(*number));
        let new = new.filter_map(|(_, change)| Some((change.neighbor(), change.value?)));
        if table.time.is_none() {
            return new.for_each(|(neighbor, value)| writer.write_ahead(neighbor, value, || None));
        }
        let timed = new.map(|(neighbor, value)| (self.time_put(table, value), neighbor, value));
        let mut timed: SmallVec<[_; 2]> = timed.collect();
        timed.sort_by_key(|(time, ..)| *time);
        timed.into_iter().for_each(|(time, neighbor, value)| writer.write_ahead(neighbor, value, || time));
    }

    /// Copies the entries of a log, except the dead ones, into `block`. Returns the block and the
    /// positions of the dead ones. O(log).
    pub(crate) fn copied<'s>(
        &self,
        table: AdjacencyTable,
        mut block: OwnedBlock<'s>,
        log: Option<EntryLog<'_>>,
    ) -> (OwnedBlock<'s>, Vec<u32>) {
        let mut left_out = Vec::new();
        if let Some(log) = log {
            block.copy_from(log, self.time_in(table), |position| left_out.push(position as u32));
        }
        (block, left_out)
    }
}

/// Returns the block that a log needs to have room for `more`, or `None` if it has enough room. The
/// owner is locked.
///
/// A copied log gets spare room of a quarter of its contents, so that copies cost O(1) per change.
#[inline]
pub(crate) fn fit_for_more(table: AdjacencyTable, log: Option<EntryLog<'_>>, more: Need) -> Option<Fit> {
    let Some(log) = log else { return Some(table.fit(more)) };
    if log.has_room(more) {
        return None;
    }
    let kept = log.need_of_kept();
    Some(table.fit(kept + more + kept.quarter()))
}

/// Returns true if a column of this width stores both values identically.
#[inline]
pub(crate) fn is_same_value(width: usize, one: EdgeValue, other: EdgeValue) -> bool {
    match width {
        0 => true,
        4 => one.0 as u32 == other.0 as u32,
        _ => one == other,
    }
}

/// Returns the position of a change's entry, given the valid entry, if any.
#[inline]
pub(crate) fn position_of(log: EntryLog<'_>, found: Option<usize>, value: Option<EdgeValue>) -> u32 {
    match (found, value) {
        (None, Some(_)) => NEW,
        (None, None) => NOTHING,
        (Some(position), Some(value)) if is_same_value(log.layout().width, log.value(position), value) => {
            NOTHING
        }
        (Some(position), _) => position as u32,
    }
}

/// Returns the positions of the entries of changes in a log. The changes ascend by neighbor.
fn positions_of(log: EntryLog<'_>, changes: ChangeSlice<'_>) -> Positions {
    if changes.len() <= TOGETHER_FROM || log.length() <= TOGETHER_FROM {
        let found = changes
            .iter()
            .map(|change| position_of(log, log.find(change.neighbor(), END_OF_TIME), change.value));
        return found.collect();
    }
    let mut positions: Positions =
        changes.iter().map(|change| position_of(log, None, change.value)).collect();
    let suspects: Vec<(VertexId, usize)> = changes
        .iter()
        .enumerate()
        .filter(|(_, change)| log.may_have(change.neighbor()))
        .map(|(number, change)| (change.neighbor(), number))
        .collect();
    if suspects.is_empty() {
        return positions;
    }
    let (first, last) = (suspects[0].0, suspects[suspects.len() - 1].0);
    for (position, id) in log.ids().iter().enumerate() {
        if *id < first || last < *id {
            continue;
        }
        let Ok(found) = suspects.binary_search_by_key(id, |(neighbor, _)| *neighbor) else { continue };
        if log.invalidations()[position].load(Ordering::Relaxed) == VALID {
            let number = suspects[found].1;
            positions[number] =
                position_of(log, Some(position), changes.get(number).and_then(|change| change.value));
        }
    }
    positions
}

/// Maps `parts` in order, and keeps the results that are not `None`.
fn map<C: Send, P: Send>(
    pool: Option<&ThreadPool>,
    parts: impl Iterator<Item = C>,
    map: impl Fn(C) -> Option<P> + Sync + Send,
) -> Vec<P> {
    match pool {
        Some(pool) => {
            let parts: Vec<C> = parts.collect();
            pool.install(|| parts.into_par_iter().filter_map(map).collect())
        }
        None => parts.filter_map(map).collect(),
    }
}

/// Maps `parts` in order, if all succeed.
fn try_map<C: Send, P: Send, E: Send>(
    pool: Option<&ThreadPool>,
    parts: Vec<C>,
    map: impl Fn(C) -> Result<P, E> + Sync + Send,
) -> Result<Vec<P>, E> {
    match pool {
        Some(pool) => pool.install(|| parts.into_par_iter().map(map).collect()),
        None => parts.into_iter().map(map).collect(),
    }
}
