//! The graph: the log, the adjacencies and the vertices, and the parts that maintain them.

use crate::adjacency::BlockSizes;
use crate::edge_log::EdgeLog;
use crate::tables::AdjacencyTables;
use crate::upkeep::Upkeep;
use hedgerow_in_memory::reclamation::{Garbage, Memory, Superseded};
use hedgerow_in_memory::records::RecordHeap;
use hedgerow_in_memory::vertices::VertexTable;
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{Catalog, CommitTimestamp, LockUnit, Topology, VertexId};
use hedgerow_sync::epoch::Domain;

/// Bytes of the note that files a superseded version of a vertex.
pub(crate) const NOTE_BYTES: usize = size_of::<Superseded<VertexId>>();

/// Options of the engine: its content, and when it archives.
#[derive(Clone, Debug)]
pub struct HybridOptions {
    /// Directed edges, with or without their reverse, or undirected edges.
    pub topology: Topology,
    /// The labels and the schemas of their edges.
    pub catalog: Catalog,
    /// Policy for the sizes of the blocks of rows.
    pub block_sizes: BlockSizes,
    /// Number of edges in the log at which maintenance archives them (GraphOne, 5.1.2: the
    /// archiving threshold).
    pub archived_from: usize,
    /// Number of edges in the log at which commits wait for archiving. From half of it on they
    /// pause.
    pub most_waiting: usize,
}

impl HybridOptions {
    /// Usual sizes: edges are archived from 64 Ki on, and commits wait at 4 Mi.
    #[must_use]
    pub fn new(topology: Topology, catalog: Catalog) -> Self {
        let block_sizes = BlockSizes::default();
        HybridOptions { topology, catalog, block_sizes, archived_from: 1 << 16, most_waiting: 1 << 22 }
    }
}

/// A graph in memory with an edge log. See the [crate](crate).
pub struct Hybrid {
    pub(crate) topology: Topology,
    pub(crate) vertices: VertexTable<NOTE_BYTES>,
    pub(crate) tables: AdjacencyTables,
    pub(crate) log: EdgeLog,
    pub(crate) upkeep: Upkeep,
    /// Superseded versions of vertices.
    pub(crate) garbage: Garbage<VertexId>,
    /// Memory of vertices.
    pub(crate) memory: Memory,
    /// Domain of the readers of vertices.
    pub(crate) domain: Domain,
    pub(crate) records: RecordHeap,
}

impl Hybrid {
    /// Creates an empty graph.
    #[must_use]
    pub fn new(options: HybridOptions) -> Self {
        let HybridOptions { topology, catalog, block_sizes, archived_from, most_waiting } = options;
        let upkeep = Upkeep::new(archived_from, most_waiting);
        Hybrid {
            topology,
            vertices: VertexTable::default(),
            tables: AdjacencyTables::new(topology, block_sizes, &catalog),
            log: EdgeLog::new(upkeep.buffer_words(), CommitTimestamp::ZERO),
            upkeep,
            garbage: Garbage::default(),
            memory: Memory::default(),
            domain: Domain::default(),
            records: RecordHeap::new(&catalog, topology),
        }
    }
}

/// Checks that a vertex, which is a lock unit, is locked.
#[inline]
pub(crate) fn check_lock(locks: &HeldLocks<'_>, vertex: VertexId, done: &str) {
    assert!(locks.covers(unit_of(vertex)), "vertex {vertex} is {done} without its lock");
}

/// The lock that covers a vertex.
#[inline]
pub(crate) const fn unit_of(vertex: VertexId) -> LockUnit {
    LockUnit(vertex.get())
}
