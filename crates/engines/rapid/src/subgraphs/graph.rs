//! The graph: tables of version chains, and their shared state.

use crate::subgraphs::chain::Chain;
use crate::subgraphs::container::Container;
use crate::subgraphs::directory::PartitionDirectory;
use crate::subgraphs::garbage::{ChainPlace, ChainTable};
use crate::subgraphs::partition::{PARTITIONS, unit_of};
use crate::subgraphs::vertex_block::VertexBlock;
use hedgerow_in_memory::reclamation::{Garbage, Memory, MemoryChange};
use hedgerow_in_memory::records::RecordHeap;
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{
    ColumnType, Direction, EngineOptions, LabelId, LabelSchema, MemoryUse, Topology, ViewError,
};
use hedgerow_sync::GrowingList;
use hedgerow_sync::epoch::Domain;

/// An in-memory graph of versioned subgraphs. The [crate] documentation explains how it works.
pub struct Subgraphs<C: Container> {
    pub(crate) topology: Topology,
    pub(crate) vertices: PartitionDirectory<Chain<VertexBlock>>,
    /// One table per label and stored direction, ascending by both.
    pub(crate) adjacencies: GrowingList<AdjacencyTable<C>>,
    pub(crate) garbage: Garbage<ChainPlace>,
    pub(crate) memory: Memory,
    /// Domain of readers that search superseded versions.
    pub(crate) domain: Domain,
    pub(crate) records: RecordHeap,
}

/// The chains of one label in one stored direction.
pub(crate) struct AdjacencyTable<C: Container> {
    pub(crate) direction: Direction,
    pub(crate) column: ColumnType,
    pub(crate) chains: PartitionDirectory<Chain<C>>,
}

impl<C: Container> AdjacencyTable<C> {
    /// The tables of a label, one per stored direction.
    pub(super) fn of(schema: &LabelSchema, topology: Topology) -> impl Iterator<Item = Self> + use<C> {
        let column = schema.edges.column();
        let table = move |direction: &Direction| AdjacencyTable {
            direction: *direction,
            column,
            chains: PartitionDirectory::default(),
        };
        topology.directions().iter().map(table)
    }
}

impl<C: Container> Subgraphs<C> {
    /// Creates an empty graph.
    pub fn new(options: EngineOptions) -> Self {
        let EngineOptions { topology, catalog } = options;
        let adjacencies = catalog.labels().iter().flat_map(|label| AdjacencyTable::of(label, topology));
        Subgraphs {
            topology,
            vertices: PartitionDirectory::default(),
            adjacencies: GrowingList::new(adjacencies.collect()),
            garbage: Garbage::default(),
            memory: Memory::default(),
            domain: Domain::default(),
            records: RecordHeap::new(&catalog, topology),
        }
    }

    /// Recomputes [`Engine::memory`](hedgerow_model::Engine::memory) by walking everything, with
    /// all partitions locked. For tests.
    ///
    /// O(partitions + large neighbor sets).
    pub fn recount_memory(&self, locks: &HeldLocks<'_>) -> MemoryUse {
        let every = 0..PARTITIONS as u32;
        let vertices = self.vertices.entries(every.clone());
        let vertices = vertices.map(|(partition, chain)| chain.count_bytes(locks, unit_of(partition)));
        let adjacencies = self.adjacencies.iter().flat_map(|table| table.chains.entries(every.clone()));
        let adjacencies = adjacencies.map(|(partition, chain)| chain.count_bytes(locks, unit_of(partition)));
        let mut counted = MemoryChange::default();
        vertices.chain(adjacencies).for_each(|change| counted += change);
        MemoryUse {
            live_bytes: counted.live as usize,
            retained_bytes: counted.retained as usize,
            ..self.memory.used()
        }
        .plus(self.records.memory())
    }

    /// The position of the table of a label in a stored direction.
    #[inline]
    pub(crate) fn position(&self, label: LabelId, stored: Direction) -> usize {
        label.index() * self.topology.directions().len() + usize::from(stored == Direction::In)
    }

    /// The table of a label in a stored direction.
    ///
    /// # Panics
    /// If there is none: effects name labels of the catalog and directions that the topology
    /// stores.
    pub(crate) fn table_of(&self, label: LabelId, stored: Direction) -> (ChainTable, &AdjacencyTable<C>) {
        // Labels have 16 bits.
        let position = self.position(label, stored) as u32;
        let table = self.table_at(position);
        assert_eq!(table.direction, stored, "effects name a direction that the topology stores");
        (ChainTable::Adjacency(position), table)
    }

    /// The table at a position.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub(crate) fn table_at(&self, position: u32) -> &AdjacencyTable<C> {
        let table = self.adjacencies.get(position as usize);
        table.expect("effects name labels of the catalog")
    }

    /// Returns the table that answers reads of `label` in `direction`.
    #[inline]
    pub(crate) fn table(
        &self,
        label: LabelId,
        direction: Direction,
    ) -> Result<&AdjacencyTable<C>, ViewError> {
        let stored = self.topology.stored(direction);
        let table = stored.and_then(|stored| self.adjacencies.get(self.position(label, stored)));
        table.ok_or_else(|| match self.adjacencies.get(self.position(label, Direction::Out)) {
            Some(_) => ViewError::NoReverse,
            None => ViewError::UnknownLabel(label),
        })
    }
}
