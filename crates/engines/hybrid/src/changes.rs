//! Turns the effects of a commit into runs of the log.

use crate::edge_log::{NewRun, RunChange, RunCommits};
use crate::graph::{Hybrid, NOTE_BYTES, check_lock};
use crate::view::HybridView;
use hedgerow_in_memory::reclamation::{MemoryChange, Superseded};
use hedgerow_in_memory::records::{RecordChanges, StagedEffects};
use hedgerow_in_memory::vertices::Vertex;
use hedgerow_model::token::{HeldLocks, Stamp};
use hedgerow_model::{
    Adjacency, AdjacencyEffects, Allowance, AppendedEdges, Column, ColumnType, Cursor, Direction, EdgeChange,
    EdgeValue, Effects, EngineError, GraphView, LabelId, Outcome, RecordHandle, Staged, VertexEffect,
    VertexId,
};
use smallvec::SmallVec;

/// The staged changes of a commit. Dropping it changes nothing.
pub struct HybridChanges<'l> {
    engine: &'l Hybrid,
    vertices: Vec<VertexLink<'l>>,
    edges: SmallVec<[LabelChanges; 1]>,
    /// Further edges, in the order of arrival.
    appended: Option<NewRun<'l>>,
    records: RecordChanges,
}

/// A vertex that changes.
struct VertexLink<'l> {
    vertex: &'l Vertex<NOTE_BYTES>,
    effect: &'l VertexEffect,
}

/// Edges of one label to put and to delete.
#[derive(Debug)]
struct LabelChanges {
    label: LabelId,
    column: ColumnType,
    put: Vec<u64>,
    /// One value per edge to put, or none if edges have no values.
    values: Vec<u64>,
    deleted: Vec<u64>,
}

impl LabelChanges {
    fn new(label: LabelId, column: ColumnType, most: usize) -> Self {
        let values = if column.width() > 0 { Vec::with_capacity(most) } else { Vec::new() };
        LabelChanges { label, column, put: Vec::with_capacity(most), values, deleted: Vec::new() }
    }

    #[inline]
    fn add(&mut self, change: &EdgeChange) {
        match change.value {
            Some(EdgeValue(bits)) => {
                self.put.push(change.position());
                if self.column.width() > 0 {
                    self.values.push(bits);
                }
            }
            None => self.deleted.push(change.position()),
        }
    }

    fn is_empty(&self) -> bool {
        self.put.is_empty() && self.deleted.is_empty()
    }

    fn runs(&self) -> impl Iterator<Item = NewRun<'_>> {
        let LabelId(table) = self.label;
        let put = if self.values.is_empty() { RunChange::Put } else { RunChange::PutValues(&self.values) };
        let runs = [(put, &self.put), (RunChange::Delete, &self.deleted)];
        let runs = runs.into_iter().filter(|(_, edges)| !edges.is_empty());
        runs.map(move |(change, edges)| NewRun { table, change, commits: RunCommits::One, edges })
    }
}

impl std::fmt::Debug for HybridChanges<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HybridChanges")
            .field("vertices", &self.vertices.len())
            .field("edges", &self.edges)
            .finish()
    }
}

impl Hybrid {
    pub(crate) fn stage_effects<'l>(
        &'l self,
        locks: &HeldLocks<'_>,
        (effects, appended): (&'l Effects, Option<AppendedEdges<'l>>),
        room: &'l mut StagedEffects,
        allowance: Allowance,
    ) -> Result<Staged<HybridChanges<'l>>, EngineError> {
        debug_assert!(effects.is_sorted(), "effects ascend");
        self.domain.free_if_due();
        let mut outcome = Outcome::default();
        let newest = HybridView::locked(self, locks);
        let (adjacencies, records) = self.records.stage(effects, room, &newest, |_| false, &mut outcome)?;
        let mut edges = SmallVec::new();
        for effects in adjacencies {
            effects.changes.iter().for_each(|change| check_lock(locks, change.owner(), "changed"));
            // The log has each edge once; the entries at both ends follow from it.
            if effects.direction == Direction::Out {
                let changes = match self.records.has_records(effects.label) {
                    true => self.changes_of_records(effects, &newest, &mut outcome),
                    false => self.changes_of_values(effects, &mut outcome),
                };
                edges.extend((!changes.is_empty()).then_some(changes));
            }
        }
        let appended = appended.filter(|appended| !appended.edges.is_empty());
        let appended = appended.map(|appended| {
            outcome.defer(appended.label, appended.edges.len() as u64, 0);
            self.run_of(&appended)
        });
        let (vertices, vertex_growth) = self.changed_vertices(locks, effects);
        if allowance.is_limited() {
            let runs = edges.iter().flat_map(LabelChanges::runs);
            let growth = runs.map(|run| run.words() * size_of::<u64>()).sum::<usize>() as isize;
            let growth = growth + vertex_growth + records.growth();
            allowance.check(self.memory_use().total_bytes(), growth)?;
        }
        let vertices = vertices
            .into_iter()
            .map(|effect| {
                let vertex = self.vertices.get_or_create(effect.vertex.get(), &self.memory);
                VertexLink { vertex, effect }
            })
            .collect();
        let changes = HybridChanges { engine: self, vertices, edges, appended, records };
        let is_change =
            !(changes.vertices.is_empty() && changes.edges.is_empty()) || changes.appended.is_some();
        Ok(Staged::commit(changes, outcome, is_change))
    }

    /// Returns the changes of a label without records. Archiving finds out which of them make a
    /// difference.
    fn changes_of_values(&self, effects: &AdjacencyEffects, outcome: &mut Outcome) -> LabelChanges {
        let AdjacencyEffects { label, direction, changes } = effects;
        let mut edges = LabelChanges::new(*label, self.column_of(*label), changes.len());
        for change in changes.iter() {
            if self.topology.is_canonical_entry(*direction, change.owner(), change.neighbor()) {
                edges.add(&change);
            }
        }
        if !edges.is_empty() {
            outcome.defer(*label, edges.put.len() as u64, edges.deleted.len() as u64);
        }
        edges
    }

    /// Returns the changes of a label with records, without those that make no difference: their
    /// edges were looked up for the records.
    fn changes_of_records(
        &self,
        effects: &AdjacencyEffects,
        newest: &HybridView<'_>,
        outcome: &mut Outcome,
    ) -> LabelChanges {
        let AdjacencyEffects { label, direction, changes } = effects;
        let handles = newest.adjacency::<RecordHandle>(*label, Direction::Out);
        let handles = handles.expect("a label with records has an adjacency of handles");
        let mut handles = handles.cursor();
        let mut edges = LabelChanges::new(*label, self.column_of(*label), changes.len());
        let (mut added, mut removed) = (0, 0);
        for change in changes.iter() {
            if self.topology.is_canonical_entry(*direction, change.owner(), change.neighbor()) {
                let found =
                    handles.find(change.owner(), change.neighbor()).expect("memory is always readable");
                let found = found.map(Column::to_bits);
                if found != change.value {
                    edges.add(&change);
                }
                added += u64::from(found.is_none() && change.value.is_some());
                removed += u64::from(found.is_some() && change.value.is_none());
            }
        }
        if added + removed > 0 {
            outcome.count(*label, added, removed);
        }
        edges
    }

    /// Returns the vertices that change, and the growth of the newest state in bytes.
    fn changed_vertices<'l>(
        &self,
        locks: &HeldLocks<'_>,
        effects: &'l Effects,
    ) -> (Vec<&'l VertexEffect>, isize) {
        let (never, pinned) = (Vertex::default(), self.domain.pin());
        let (mut changed, mut growth) = (Vec::<&VertexEffect>::new(), 0);
        for effect in &effects.vertices {
            check_lock(locks, effect.vertex, "changed");
            let vertex = self.vertices.get(effect.vertex.get()).unwrap_or(&never);
            if let Some(grows) = vertex.growth(&effect.change, &pinned) {
                changed.push(effect);
                growth += grows;
            }
        }
        let missing = self.vertices.missing_bytes(changed.iter().map(|effect| effect.vertex.get()));
        (changed, growth + missing as isize)
    }

    #[inline]
    pub(crate) fn column_of(&self, label: LabelId) -> ColumnType {
        self.tables.at(self.tables.number_of(label, Direction::Out)).column
    }

    /// Appends the edges of a commit to the log, and changes its vertices. O(changes).
    pub(crate) fn apply_changes(&self, stamp: Stamp, changes: HybridChanges<'_>) {
        let HybridChanges { engine, vertices, edges, appended, records } = changes;
        assert!(std::ptr::eq(self, engine), "changes are applied to the store that staged them");
        self.records.apply(stamp, records);
        self.apply_vertices(stamp, &vertices);
        let runs = edges.iter().flat_map(LabelChanges::runs).chain(appended);
        let runs: SmallVec<[NewRun<'_>; 2]> = runs.collect();
        if !runs.is_empty() {
            self.log.reserve(stamp.at(), &runs).write(&runs);
        }
    }

    fn apply_vertices(&self, stamp: Stamp, vertices: &[VertexLink<'_>]) {
        if vertices.is_empty() {
            return;
        }
        let pinned = self.domain.pin();
        let mut memory = MemoryChange::default();
        let mut superseded: SmallVec<[Superseded<VertexId>; 2]> = SmallVec::new();
        for VertexLink { vertex, effect } in vertices {
            // SAFETY: the locks of the commit are held until it is applied.
            let (change, kept) = unsafe { vertex.apply(&effect.change, stamp, &pinned, &pinned) };
            memory += change;
            self.upkeep.note_vertex(effect.vertex);
            let place = effect.vertex;
            superseded.extend(kept.map(|born| Superseded { place, born, superseded: stamp.at() }));
        }
        self.memory.add(memory);
        self.upkeep.note_superseded(superseded.len());
        self.garbage.file(stamp.newest_registered(), superseded);
    }
}
