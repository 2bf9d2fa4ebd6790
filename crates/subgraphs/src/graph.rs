//! The graph: tables of version chains, and their shared state.

use crate::chain::Chain;
use crate::container::Container;
use crate::directory::Directory;
use crate::garbage::Place;
use crate::options::SubgraphOptions;
use crate::partition::{PARTITIONS, unit_of};
use crate::vertex_block::VertexBlock;
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{Catalog, ColumnType, Direction, LabelId, MemoryUse, Topology, ViewError};
use hedgerow_reclamation::{Garbage, Memory, MemoryChange};
use hedgerow_records::RecordHeap;

/// An in-memory graph of versioned subgraphs. The [crate] documentation explains how it works.
pub struct Subgraphs<C: Container> {
    pub(crate) topology: Topology,
    pub(crate) vertices: Directory<Chain<VertexBlock>>,
    /// One table per label and stored direction, ascending by both.
    pub(crate) adjacencies: Vec<AdjacencyTable<C>>,
    pub(crate) garbage: Garbage<Place>,
    pub(crate) memory: Memory,
    pub(crate) records: RecordHeap,
    catalog: Catalog,
}

/// The chains of one label in one stored direction.
pub(crate) struct AdjacencyTable<C: Container> {
    pub(crate) label: LabelId,
    pub(crate) direction: Direction,
    pub(crate) column: ColumnType,
    pub(crate) chains: Directory<Chain<C>>,
}

impl<C: Container> Subgraphs<C> {
    /// An empty graph.
    pub fn new(options: SubgraphOptions) -> Self {
        let SubgraphOptions { topology, catalog } = options;
        // The catalog checked that its labels can be numbered.
        let labels = (0..).map(LabelId).zip(catalog.labels());
        let adjacencies = labels.flat_map(|(label, schema)| {
            let column = schema.edges.column();
            let table = move |direction: &Direction| AdjacencyTable {
                label,
                direction: *direction,
                column,
                chains: Directory::default(),
            };
            topology.directions().iter().map(table)
        });
        Subgraphs {
            topology,
            vertices: Directory::default(),
            adjacencies: adjacencies.collect(),
            garbage: Garbage::default(),
            memory: Memory::default(),
            records: RecordHeap::new(&catalog, topology),
            catalog,
        }
    }

    /// The labels, and what their edges carry.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Recomputes [`Engine::memory`](hedgerow_model::Engine::memory) by walking everything, with
    /// all partitions locked. For tests.
    ///
    /// O(partitions + large neighbor sets).
    pub fn recount_memory(&self, locks: &HeldLocks<'_>) -> MemoryUse {
        let every = 0..PARTITIONS as u32;
        let vertices = self.vertices.populated(every.clone());
        let vertices = vertices.map(|(partition, chain)| chain.count_bytes(locks, unit_of(partition)));
        let adjacencies = self.adjacencies.iter().flat_map(|table| table.chains.populated(every.clone()));
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

    /// The position of the table that answers reads of `label` in `direction`.
    pub(crate) fn table(&self, label: LabelId, direction: Direction) -> Result<usize, ViewError> {
        if self.catalog.label(label).is_none() {
            return Err(ViewError::UnknownLabel(label));
        }
        let stored = self.topology.stored(direction).ok_or(ViewError::NoReverse)?;
        Ok(self.position(label, stored))
    }
}
