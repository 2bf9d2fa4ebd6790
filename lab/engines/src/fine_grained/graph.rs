//! The graph: vertices, and the rows of their neighbors.

use super::directory::Directory;
use super::entries::Entries;
use super::garbage::Place;
use super::row::Row;
use super::vertex::VertexCell;
use hedgerow_in_memory::reclamation::{Garbage, Memory, MemoryChange};
use hedgerow_in_memory::records::RecordHeap;
use hedgerow_model::{
    ColumnType, Direction, EngineOptions, LabelId, LabelSchema, LockUnit, MemoryUse, Topology, VertexId,
    ViewError,
};
use hedgerow_sync::{GrowingList, RwLock};

/// An in-memory graph with a version per edge. The [module](super) documentation explains how it
/// works.
pub struct FineGrained<E> {
    pub(super) topology: Topology,
    pub(super) vertices: Directory<RwLock<VertexCell>>,
    /// One table per label and stored direction, ascending by both.
    pub(super) tables: GrowingList<Table<E>>,
    pub(super) garbage: Garbage<Place>,
    pub(super) memory: Memory,
    pub(super) records: RecordHeap,
}

/// The rows of one label in one stored direction.
pub(super) struct Table<E> {
    pub(super) label: LabelId,
    pub(super) direction: Direction,
    pub(super) column: ColumnType,
    /// Readers share the lock of a row while they copy from it.
    pub(super) rows: Directory<RwLock<Row<E>>>,
}

impl<E: Entries> Table<E> {
    /// Returns the tables of a label, one per stored direction.
    pub(super) fn of(
        label: LabelId,
        schema: &LabelSchema,
        topology: Topology,
    ) -> impl Iterator<Item = Self> + use<E> {
        let column = schema.edges.column();
        let table = move |direction: &Direction| Table {
            label,
            direction: *direction,
            column,
            rows: Directory::default(),
        };
        topology.directions().iter().map(table)
    }
}

impl<E: Entries> FineGrained<E> {
    /// Creates an empty graph.
    pub fn new(options: EngineOptions) -> Self {
        let EngineOptions { topology, catalog } = options;
        // The catalog checked that its labels can be numbered.
        let labels = catalog.labels().iter().zip((0..).map(LabelId));
        let tables = labels.flat_map(|(schema, label)| Table::of(label, schema, topology));
        FineGrained {
            topology,
            vertices: Directory::default(),
            tables: GrowingList::new(tables.collect()),
            garbage: Garbage::default(),
            memory: Memory::default(),
            records: RecordHeap::new(&catalog, topology),
        }
    }

    /// Recomputes [`Engine::memory`](hedgerow_model::Engine::memory) by walking everything. For
    /// tests.
    ///
    /// O(entries + versions).
    pub fn recount_memory(&self) -> MemoryUse {
        let mut counted = MemoryChange::default();
        for (_, cell) in self.vertices.populated(0..u32::MAX) {
            counted += cell.read().count_bytes();
        }
        for (_, cell) in self.tables.iter().flat_map(|table| table.rows.populated(0..u32::MAX)) {
            counted += cell.read().count_bytes();
        }
        MemoryUse {
            live_bytes: counted.live as usize,
            retained_bytes: counted.retained as usize,
            ..self.memory.used()
        }
        .plus(self.records.memory())
    }

    /// Returns the table that answers reads of `label` in `direction`.
    pub(super) fn table(&self, label: LabelId, direction: Direction) -> Result<&Table<E>, ViewError> {
        let directions = self.topology.directions().len();
        let at = |stored| self.tables.get(label.index() * directions + usize::from(stored == Direction::In));
        at(Direction::Out).ok_or(ViewError::UnknownLabel(label))?;
        self.topology.stored(direction).and_then(at).ok_or(ViewError::NoReverse)
    }
}

/// Returns the lock that covers a vertex.
pub(super) const fn unit_of(vertex: VertexId) -> LockUnit {
    LockUnit(vertex.get())
}
