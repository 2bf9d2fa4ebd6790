//! Planning the changes of a commit, before they become visible.

use super::directory::Directory;
use super::entries::Entries;
use super::graph::{FineGrained, Table, unit_of};
use super::row::Row;
use super::vertex::VertexCell;
use super::view::FineGrainedView;
use hedgerow_in_memory::records::{RecordChanges, StagedEffects};
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{
    AdjacencyEffects, Allowance, ChangeSlice, EdgeChange, Effects, EngineError, Outcome, Staged,
    VertexEffect, VertexId,
};
use hedgerow_sync::RwLock;
use rayon::ThreadPool;
use rayon::prelude::*;

/// Effects with fewer changes are staged by one thread even if there is a pool.
const PARALLEL_FROM: usize = 4096;

/// The planned changes of a commit, and the memory for them. Dropping it changes nothing.
pub struct FineGrainedChanges<'l, E: Entries> {
    pub(super) engine: &'l FineGrained<E>,
    pub(super) vertices: Vec<VertexLink<'l>>,
    pub(super) rows: Vec<RowLink<'l, E>>,
    pub(super) records: RecordChanges,
}

/// A vertex that changes.
pub(super) struct VertexLink<'l> {
    pub(super) cell: &'l RwLock<VertexCell>,
    pub(super) effect: &'l VertexEffect,
}

/// A row that changes, and the memory for its new entries, if they need any.
pub(super) struct RowLink<'l, E: Entries> {
    pub(super) table: &'l Table<E>,
    pub(super) cell: &'l RwLock<Row<E>>,
    pub(super) owner: VertexId,
    pub(super) changes: ChangeSlice<'l>,
    pub(super) room: Option<E::Room>,
}

impl<'l, E: Entries> FineGrainedChanges<'l, E> {
    /// No changes.
    pub(super) fn none(engine: &'l FineGrained<E>) -> Self {
        let (vertices, rows) = (Vec::new(), Vec::new());
        FineGrainedChanges { engine, vertices, rows, records: RecordChanges::default() }
    }
}

impl<E: Entries> std::fmt::Debug for FineGrainedChanges<'_, E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (vertices, rows) = (self.vertices.len(), self.rows.len());
        f.debug_struct("FineGrainedChanges").field("vertices", &vertices).field("rows", &rows).finish()
    }
}

/// A vertex that will change, and the growth of its record in bytes.
struct PlannedVertex<'l> {
    effect: &'l VertexEffect,
    growth: isize,
}

/// A row that will change.
struct PlannedRow<'l, E: Entries> {
    owner: VertexId,
    changes: ChangeSlice<'l>,
    /// The memory that its new entries need, if any.
    growth: Option<E::Growth>,
    growth_bytes: isize,
    /// Edges that are added and edges that are removed.
    added: u64,
    removed: u64,
}

impl<E: Entries> FineGrained<E> {
    pub(super) fn stage_effects<'l>(
        &'l self,
        locks: &HeldLocks<'_>,
        effects: &'l Effects,
        room: &'l mut StagedEffects,
        allowance: Allowance,
        pool: Option<&ThreadPool>,
    ) -> Result<Staged<FineGrainedChanges<'l, E>>, EngineError> {
        debug_assert!(effects.is_sorted(), "effects ascend");
        let pool = pool.filter(|_| effects.len() >= PARALLEL_FROM);
        let mut outcome = Outcome::default();
        let newest = FineGrainedView::locked(self, locks);
        let (adjacencies, records) = self.records.stage(effects, room, &newest, |_| false, &mut outcome)?;
        let allowance = allowance.beside(self.records.memory().total_bytes(), records.growth());

        let vertices: Vec<PlannedVertex<'_>> =
            plan(pool, effects.vertices.iter().collect(), |effect| self.plan_vertex(locks, effect));
        let mut growth: isize = vertices.iter().map(|planned| planned.growth).sum();
        growth += missing_bytes(&self.vertices, vertices.iter().map(|planned| planned.effect.vertex));
        let mut tables = Vec::with_capacity(effects.adjacencies.len());
        for effects in adjacencies.filter(|effects| !effects.changes.is_empty()) {
            let table = self.table_of(effects);
            let rows = effects.changes.as_slice().groups(|owner| owner).collect();
            let rows: Vec<PlannedRow<'_, E>> =
                plan(pool, rows, |changes| self.plan_row(locks, table, changes));
            growth += rows.iter().map(|row| row.growth_bytes).sum::<isize>();
            growth += missing_bytes(&table.rows, rows.iter().map(|row| row.owner));
            let added = rows.iter().map(|row| row.added).sum();
            let removed = rows.iter().map(|row| row.removed).sum();
            if added + removed > 0 {
                outcome.count(table.label, added, removed);
            }
            tables.push((table, rows));
        }
        allowance.check(self.memory.used().total_bytes(), growth)?;

        // Nothing fails from here on.
        let vertices = vertices.iter().map(|planned| self.link_vertex(planned)).collect();
        let rows = tables
            .into_iter()
            .flat_map(|(table, rows)| rows.into_iter().map(move |planned| self.link_row(table, planned)));
        let changes = FineGrainedChanges { engine: self, vertices, rows: rows.collect(), records };
        let changed = !(changes.vertices.is_empty() && changes.rows.is_empty());
        Ok(Staged::commit(changes, outcome, changed))
    }

    fn table_of(&self, effects: &AdjacencyEffects) -> &Table<E> {
        let table = self.table(effects.label, effects.direction);
        table.expect("effects name a label of the catalog and a direction that the topology stores")
    }

    /// `None` if the effect makes no difference.
    fn plan_vertex<'l>(&self, locks: &HeldLocks<'_>, effect: &'l VertexEffect) -> Option<PlannedVertex<'l>> {
        check_lock(locks, effect.vertex);
        let growth = match self.vertices.get(effect.vertex) {
            Some(cell) => cell.read().growth(&effect.change),
            None => VertexCell::default().growth(&effect.change),
        };
        growth.map(|growth| PlannedVertex { effect, growth })
    }

    /// `None` if the changes, all of one row, make no difference.
    fn plan_row<'l>(
        &self,
        locks: &HeldLocks<'_>,
        table: &Table<E>,
        changes: ChangeSlice<'l>,
    ) -> Option<PlannedRow<'l, E>> {
        let owner = changes.first_owner();
        check_lock(locks, owner);
        let (mut added, mut removed) = (0, 0);
        // Each edge counts at its canonical entry only.
        let count = |change: &EdgeChange| {
            let counts = self.topology.is_canonical_entry(table.direction, owner, change.neighbor());
            let counter = if change.value.is_some() { &mut added } else { &mut removed };
            *counter += u64::from(counts);
        };
        let plan_of = |row: &Row<E>| {
            let plan = row.plan(changes, count);
            plan.makes_a_difference.then(|| row.entries.growth(table.column, &plan.new))
        };
        let growth = match table.rows.get(owner) {
            Some(cell) => plan_of(&cell.read()),
            None => plan_of(&Row::default()),
        };
        let growth = growth?;
        let growth_bytes = growth.as_ref().map_or(0, |growth| E::growth_bytes(growth, table.column)) as isize;
        Some(PlannedRow { owner, changes, growth, growth_bytes, added, removed })
    }

    fn link_vertex<'l>(&'l self, planned: &PlannedVertex<'l>) -> VertexLink<'l> {
        let cell = self.vertices.get_or_create(planned.effect.vertex, &self.memory);
        VertexLink { cell, effect: planned.effect }
    }

    fn link_row<'l>(&'l self, table: &'l Table<E>, planned: PlannedRow<'l, E>) -> RowLink<'l, E> {
        let PlannedRow { owner, changes, growth, .. } = planned;
        let cell = table.rows.get_or_create(owner, &self.memory);
        let room = growth.map(|growth| E::room(growth, table.column));
        RowLink { table, cell, owner, changes, room }
    }
}

/// Maps `parts` in order, and keeps results other than `None`.
fn plan<C: Send, P: Send>(
    pool: Option<&ThreadPool>,
    parts: Vec<C>,
    plan: impl Fn(C) -> Option<P> + Sync + Send,
) -> Vec<P> {
    match pool {
        Some(pool) => pool.install(|| parts.into_par_iter().filter_map(plan).collect()),
        None => parts.into_iter().filter_map(plan).collect(),
    }
}

fn missing_bytes<C: Default>(directory: &Directory<C>, vertices: impl Iterator<Item = VertexId>) -> isize {
    directory.missing_bytes(vertices) as isize
}

fn check_lock(locks: &HeldLocks<'_>, vertex: VertexId) {
    assert!(locks.covers(unit_of(vertex)), "vertex {vertex} is changed without its lock");
}
