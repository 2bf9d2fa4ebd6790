//! The store and its place among the engines.

use super::directory::Directory;
use super::garbage::Garbage;
use super::memory::Memory;
use super::options::{AdjacencyListError, AdjacencyListOptions};
use super::prepare::AdjacencyListChanges;
use super::row::Row;
use super::vertex::VertexCell;
use super::view::AdjacencyListView;
use hedgerow_model::token::{HeldLocks, LiveTimestamps, Registered, Stamp};
use hedgerow_model::{
    CapacityError, Catalogue, ColumnType, Direction, Effects, Engine, LabelId, LockUnit, MemoryUse, Prepared,
    Reclaimed, Timestamp, Topology, UnitLocks, VertexId, ViewError,
};
use hedgerow_sync::RwLock;
use rayon::ThreadPool;

/// A graph in memory as sorted adjacency lists with a version per edge. See the
/// [module](super) for how it works.
pub struct AdjacencyList {
    pub(super) topology: Topology,
    pub(super) memory_limit: Option<usize>,
    pub(super) vertices: Directory<RwLock<VertexCell>>,
    /// One table per label and stored direction, ascending by both.
    pub(super) tables: Vec<Table>,
    pub(super) garbage: Garbage,
    pub(super) memory: Memory,
    catalogue: Catalogue,
}

/// One label in one stored direction.
pub(super) struct Table {
    pub(super) label: LabelId,
    pub(super) direction: Direction,
    pub(super) column: ColumnType,
    /// Readers share the lock of a row while they copy from it.
    pub(super) rows: Directory<RwLock<Row>>,
}

impl AdjacencyList {
    /// An empty store.
    ///
    /// # Errors
    /// A label declares records on its edges, which this engine does not support.
    pub fn new(options: AdjacencyListOptions) -> Result<Self, AdjacencyListError> {
        options.check()?;
        let AdjacencyListOptions { topology, catalogue, memory_limit } = options;
        // The catalogue checked that its labels can be numbered.
        let labels = (0..).map(LabelId).zip(catalogue.labels());
        let tables = labels.flat_map(|(label, schema)| {
            let column = schema.edges.column();
            let table = move |direction: &Direction| Table {
                label,
                direction: *direction,
                column,
                rows: Directory::default(),
            };
            topology.directions().iter().map(table)
        });
        Ok(AdjacencyList {
            topology,
            memory_limit,
            vertices: Directory::default(),
            tables: tables.collect(),
            garbage: Garbage::default(),
            memory: Memory::default(),
            catalogue,
        })
    }

    /// The labels and what lies on their edges.
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// The table that answers reads of `label` in `direction`.
    pub(super) fn table(&self, label: LabelId, direction: Direction) -> Result<&Table, ViewError> {
        if self.catalogue.label(label).is_none() {
            return Err(ViewError::UnknownLabel(label));
        }
        let stored = self.topology.stored(direction).ok_or(ViewError::NoReverse)?;
        let directions = self.topology.directions().len();
        Ok(&self.tables[label.index() * directions + usize::from(stored == Direction::In)])
    }
}

/// The lock that covers a vertex.
pub(super) const fn unit_of(vertex: VertexId) -> LockUnit {
    LockUnit(vertex.get())
}

impl Engine for AdjacencyList {
    type View<'s> = AdjacencyListView<'s>;
    type Changes<'l> = AdjacencyListChanges<'l>;

    fn lock_unit(&self, vertex: VertexId) -> LockUnit {
        unit_of(vertex)
    }

    /// Finds out what changes and reserves memory for it; see the [module](super)'s contract.
    ///
    /// [`CapacityError::Memory`] is the only error. Effects that name a label or a direction that
    /// is not stored panic: whoever resolved them looked it up in the catalogue.
    fn prepare<'l>(
        &'l self,
        locks: &'l HeldLocks<'_>,
        effects: &'l Effects,
        pool: Option<&ThreadPool>,
    ) -> Result<Prepared<AdjacencyListChanges<'l>>, CapacityError> {
        self.prepare_changes(locks, effects, pool)
    }

    /// O(entries behind the first change of each row that changes): entries are inserted in place.
    fn apply(&self, stamp: Stamp, changes: AdjacencyListChanges<'_>) {
        self.apply_changes(stamp, changes);
    }

    fn view<'s>(&'s self, at: &'s Registered) -> AdjacencyListView<'s> {
        AdjacencyListView::registered(self, at)
    }

    fn latest<'l>(&'l self, locks: &'l HeldLocks<'_>) -> AdjacencyListView<'l> {
        AdjacencyListView::locked(self, locks)
    }

    fn reclaim(&self, live: &LiveTimestamps, units: &dyn UnitLocks, budget_bytes: usize) -> Reclaimed {
        self.reclaim_versions(live, units, budget_bytes)
    }

    fn retained(&self, _units: &dyn UnitLocks) -> Vec<(Timestamp, usize)> {
        self.retained_bytes()
    }

    fn memory(&self) -> MemoryUse {
        self.memory.used()
    }
}
