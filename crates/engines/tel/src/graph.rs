//! The graph: logs of edges by vertex, and their shared state.

use crate::block::{EntryLog, record_bytes, record_put};
use crate::garbage::{NOTE_BYTES, VersionPlace};
use crate::index::BlockIndex;
use crate::keeps::Locked;
use crate::layout::{Fit, Need};
use crate::retired::RetiredBlocks;
use crate::sparse::SparseLogs;
use crate::store::BlockStore;
use hedgerow_encoding::decode_record_value;
use hedgerow_in_memory::reclamation::{Garbage, Memory, MemoryChange};
use hedgerow_in_memory::records::RecordHeap;
use hedgerow_in_memory::vertices::{Keeps, VertexTable};
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{
    ColumnType, Direction, EdgeSchema, EdgeValue, EngineOptions, LabelId, LabelSchema, LockUnit, MemoryUse,
    Topology, ValueRef, VertexId, ViewError,
};
use hedgerow_sync::GrowingList;
use std::io;
use std::path::Path;

/// An in-memory graph with a log of edges per vertex. The [crate] documentation explains how it
/// works.
pub struct Tel {
    pub(crate) topology: Topology,
    pub(crate) vertices: VertexTable<NOTE_BYTES>,
    /// One per stored direction.
    pub(crate) indexes: Vec<BlockIndex>,
    /// One per label and stored direction, ascending by both.
    pub(crate) tables: GrowingList<AdjacencyTable>,
    pub(crate) store: BlockStore,
    pub(crate) retired: RetiredBlocks,
    pub(crate) garbage: Garbage<VersionPlace>,
    pub(crate) sparse: SparseLogs,
    pub(crate) memory: Memory,
    pub(crate) records: RecordHeap,
}

/// The logs of one label in one stored direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AdjacencyTable {
    pub(crate) label: LabelId,
    pub(crate) direction: Direction,
    pub(crate) column: ColumnType,
    /// Bytes of each value.
    width: u32,
    /// True if blocks contain the records that values point to.
    pub(crate) has_records: bool,
    /// The property of a record that is the time of the edge.
    pub(crate) time: Option<u32>,
}

impl AdjacencyTable {
    /// The tables of a label, one per stored direction.
    pub(crate) fn of(
        label: LabelId,
        schema: &LabelSchema,
        topology: Topology,
    ) -> impl Iterator<Item = Self> + use<> {
        let column = schema.edges.column();
        // At most 8.
        let width = column.width() as u32;
        let (has_records, time) = match &schema.edges {
            // There are fewer properties than 2^32.
            EdgeSchema::Record(record) => (true, record.time().map(|property| property as u32)),
            _ => (false, None),
        };
        let table = move |direction: &Direction| AdjacencyTable {
            label,
            direction: *direction,
            column,
            width,
            has_records,
            time,
        };
        topology.directions().iter().map(table)
    }

    /// The smallest block with room for `need`.
    #[inline]
    pub(crate) fn fit(self, need: Need) -> Fit {
        match self.has_records {
            true => Fit::with_records(need),
            false => Fit::plain(self.width as usize, need.entries),
        }
    }

    /// Returns the need of a new entry with this value.
    #[inline]
    pub(crate) fn need_of(self, value: EdgeValue) -> Need {
        let record_bytes = if self.has_records { record_bytes(value) } else { 0 };
        Need { entries: 1, record_bytes }
    }
}

impl Tel {
    /// Creates an empty graph.
    pub fn new(options: EngineOptions) -> Self {
        Self::with_blocks_in(BlockStore::default(), options)
    }

    /// Creates an empty graph with its blocks in a memory-mapped file, for graphs larger than
    /// memory. The file is scratch space: it has no name, is deleted with the graph, and takes up
    /// to `limit` bytes, if given.
    ///
    /// The tables of pointers to blocks, and the vertices, stay in memory. In builds that check
    /// memory, blocks stay there, too.
    ///
    /// # Errors
    /// The file cannot be created in the directory, or its file system cannot reserve room for it.
    /// Such a file is supported on Linux only.
    pub fn with_scratch(options: EngineOptions, directory: &Path, limit: Option<usize>) -> io::Result<Self> {
        Ok(Self::with_blocks_in(BlockStore::in_file(directory, limit)?, options))
    }

    fn with_blocks_in(store: BlockStore, options: EngineOptions) -> Self {
        let EngineOptions { topology, catalog } = options;
        // The catalog checked that its labels can be numbered.
        let labels = catalog.labels().iter().zip((0..).map(LabelId));
        let tables = labels.flat_map(|(schema, label)| AdjacencyTable::of(label, schema, topology));
        Tel {
            topology,
            vertices: VertexTable::default(),
            indexes: topology.directions().iter().map(|_| BlockIndex::default()).collect(),
            tables: GrowingList::new(tables.collect()),
            store,
            retired: RetiredBlocks::default(),
            garbage: Garbage::default(),
            sparse: SparseLogs::default(),
            memory: Memory::default(),
            records: RecordHeap::new(&catalog, topology),
        }
    }

    /// Recomputes [`Engine::memory`](hedgerow_model::Engine::memory) by walking everything, with
    /// all vertices locked. For tests.
    ///
    /// O(vertices + entries).
    pub fn recount_memory(&self, locks: &HeldLocks<'_>) -> MemoryUse {
        let keeps = Locked::by(locks);
        let mut counted = MemoryChange::default();
        for (_, vertex) in self.vertices.entries(0..u32::MAX) {
            counted += vertex.count_bytes(&keeps);
        }
        for index in &self.indexes {
            index.count_bytes(&keeps, |log, bytes| {
                counted.live += bytes as isize;
                counted.retained += log.map_or(0, |log| crate::sparse::note_bytes(log) as isize);
            });
        }
        MemoryUse {
            live_bytes: counted.live as usize,
            retained_bytes: counted.retained as usize + self.retired.bytes(),
            ..self.memory.used()
        }
        .plus(self.records.memory())
    }

    /// Free bytes in the store of blocks; see [`MemoryUse::reserved_bytes`]. Each graph has its own
    /// store. O(shards).
    pub fn reserved_bytes(&self) -> usize {
        self.store.free_bytes()
    }

    /// Returns the unlinked bytes that wait until no reader can be reading them. Part of
    /// [`MemoryUse::retained_bytes`]. O(1).
    pub fn unlinked_bytes(&self) -> usize {
        self.retired.bytes()
    }

    /// The memory in use, without records of edges.
    pub(crate) fn memory_use(&self) -> MemoryUse {
        let mut used = self.memory.used();
        used.retained_bytes += self.retired.bytes();
        used
    }

    /// The number of the table of a label in a stored direction.
    #[inline]
    pub(crate) fn position(&self, label: LabelId, stored: Direction) -> usize {
        label.index() * self.indexes.len() + usize::from(stored == Direction::In)
    }

    /// The table at a position.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub(crate) fn table_at(&self, position: usize) -> AdjacencyTable {
        *self.tables.get(position).expect("effects name labels of the catalog")
    }

    /// The table that answers reads of `label` in `direction`.
    pub(crate) fn table(&self, label: LabelId, direction: Direction) -> Result<AdjacencyTable, ViewError> {
        let has_label = self.tables.get(self.position(label, Direction::Out)).is_some();
        let stored = self.topology.stored(direction).filter(|_| has_label);
        let table = stored.and_then(|stored| self.tables.get(self.position(label, stored)).copied());
        table.ok_or(if has_label { ViewError::NoReverse } else { ViewError::UnknownLabel(label) })
    }

    /// The index of a stored direction.
    #[inline]
    pub(crate) fn index(&self, stored: Direction) -> &BlockIndex {
        &self.indexes[usize::from(stored == Direction::In)]
    }

    /// Returns the time in the record of an edge to put. O(1) if the label has no time.
    #[inline]
    pub(crate) fn time_put(&self, table: AdjacencyTable, value: EdgeValue) -> Option<i64> {
        table.time.and_then(|property| time_in_record(record_put(value), property as usize))
    }

    /// Reads the time in the record of an entry.
    pub(crate) fn time_in(&self, table: AdjacencyTable) -> impl Fn(&[u8]) -> Option<i64> {
        move |record| table.time.and_then(|property| time_in_record(record, property as usize))
    }

    /// The log of a vertex in a table, if there is one.
    #[inline]
    pub(crate) fn log<'a>(
        &self,
        table: AdjacencyTable,
        owner: VertexId,
        keeps: &'a impl Keeps,
    ) -> Option<EntryLog<'a>> {
        self.index(table.direction).log(owner, table.label, keeps)
    }
}

impl Drop for Tel {
    fn drop(&mut self) {
        self.indexes.iter_mut().for_each(|index| index.clear(&self.store));
        self.retired.clear(&self.store);
    }
}

/// The time in a property of a record; `None` if it is null.
fn time_in_record(record: &[u8], property: usize) -> Option<i64> {
    match decode_record_value(record, property) {
        Ok(ValueRef::Timestamp(time) | ValueRef::I64(time)) => Some(time),
        _ => None,
    }
}

/// The lock that covers a vertex.
#[inline]
pub(crate) const fn unit_of(vertex: VertexId) -> LockUnit {
    LockUnit(vertex.get())
}

/// Panics if the lock of a vertex is not held.
#[inline]
pub(crate) fn check_lock(locks: &HeldLocks<'_>, vertex: VertexId) {
    assert!(locks.covers(unit_of(vertex)), "vertex {vertex} is changed without its lock");
}
