//! The store and its place among the engines.

use crate::chain::Chain;
use crate::container::Container;
use crate::directory::Directory;
use crate::edge::SubgraphPlan;
use crate::garbage::Place;
use crate::options::SubgraphOptions;
use crate::partition::{PARTITIONS, partition_of, slot_of, unit_of};
use crate::prepare::SubgraphChanges;
use crate::vertex_block::VertexBlock;
use crate::view::SubgraphView;
use hedgerow_model::token::{HeldLocks, LiveTimestamps, Registered, Stamp};
use hedgerow_model::{
    Allowance, Catalogue, ColumnType, Direction, Effects, Engine, EngineError, LabelId, LockUnit, MemoryUse,
    Prepared, Progress, ShortWrites, StoredEdge, Timestamp, Topology, UnitLocks, VertexId, ViewError,
};
use hedgerow_reclamation::{Garbage, Memory, MemoryChange};
use hedgerow_records::{RecordHeap, StagedEffects};
use hedgerow_sync::epoch;
use rayon::ThreadPool;
use std::convert::Infallible;

/// A graph in memory, as versioned subgraphs. See the [crate] for how it works.
pub struct Subgraphs<C: Container> {
    pub(crate) topology: Topology,
    pub(crate) vertices: Directory<Chain<VertexBlock>>,
    /// One table per label and stored direction, ascending by both.
    pub(crate) adjacencies: Vec<AdjacencyTable<C>>,
    pub(crate) garbage: Garbage<Place>,
    pub(crate) memory: Memory,
    pub(crate) records: RecordHeap,
    catalogue: Catalogue,
}

/// One label in one stored direction.
pub(crate) struct AdjacencyTable<C: Container> {
    pub(crate) label: LabelId,
    pub(crate) direction: Direction,
    pub(crate) column: ColumnType,
    pub(crate) chains: Directory<Chain<C>>,
}

impl<C: Container> Subgraphs<C> {
    /// An empty store.
    pub fn new(options: SubgraphOptions) -> Self {
        let SubgraphOptions { topology, catalogue } = options;
        // The catalogue checked that its labels can be numbered.
        let labels = (0..).map(LabelId).zip(catalogue.labels());
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
            records: RecordHeap::new(&catalogue, topology),
            catalogue,
        }
    }

    /// The labels and what lies on their edges.
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// What [`Engine::memory`] has to say, by a walk over everything, all of which is locked. For tests.
    ///
    /// O(partitions + large neighbour sets).
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
        if self.catalogue.label(label).is_none() {
            return Err(ViewError::UnknownLabel(label));
        }
        let stored = self.topology.stored(direction).ok_or(ViewError::NoReverse)?;
        Ok(self.position(label, stored))
    }
}

impl<C: Container> Engine for Subgraphs<C> {
    type Snapshot = ();
    type View<'s> = SubgraphView<'s, C>;
    type Room = StagedEffects;
    type Changes<'l> = SubgraphChanges<'l, C>;
    type LatestError = Infallible;
    type ShortWrites = Self;

    const TELLS_EXISTENCE: bool = true;

    fn lock_unit(&self, vertex: VertexId) -> LockUnit {
        unit_of(partition_of(vertex))
    }

    #[inline]
    fn exists(&self, vertex: VertexId) -> bool {
        let chain = self.vertices.get(partition_of(vertex));
        chain.is_some_and(|chain| chain.newest_occupied() >> slot_of(vertex) & 1 == 1)
    }

    /// Builds a block for each partition that changes; see the [crate]'s contract.
    ///
    /// [`CapacityError::Memory`](hedgerow_model::CapacityError::Memory) is the only error: a block cannot outgrow its offsets, because
    /// large neighbour sets lie outside of it. Effects that name a label or a direction that is
    /// not stored panic: whoever resolved them looked it up in the catalogue.
    fn prepare<'l>(
        &'l self,
        locks: &'l HeldLocks<'_>,
        effects: &'l Effects,
        room: &'l mut StagedEffects,
        allowance: Allowance,
        pool: Option<&ThreadPool>,
    ) -> Result<Prepared<SubgraphChanges<'l, C>>, EngineError> {
        self.prepare_changes(locks, effects, room, allowance, pool)
    }

    fn apply(&self, stamp: Stamp, changes: SubgraphChanges<'_, C>) {
        self.apply_changes(stamp, changes);
    }

    /// Containers that cannot say where a change belongs have no short way.
    #[inline]
    fn short_writes(&self) -> Option<&Self> {
        C::LOCATES.then_some(self)
    }

    fn open_snapshot(&self, _: &Registered) -> Result<(), EngineError> {
        Ok(())
    }

    fn view<'s>(&'s self, (): &'s (), at: &'s Registered) -> SubgraphView<'s, C> {
        SubgraphView::registered(self, at)
    }

    fn latest<'l>(&'l self, locks: &'l HeldLocks<'_>) -> Result<SubgraphView<'l, C>, Infallible> {
        Ok(SubgraphView::locked(self, locks))
    }

    fn maintain(
        &self,
        live: &LiveTimestamps,
        units: &dyn UnitLocks,
        budget_bytes: usize,
    ) -> Result<Progress, EngineError> {
        let mut reclaimed = hedgerow_reclamation::reclaim(self, live, units, budget_bytes);
        self.records.reclaim_after(&mut reclaimed, live, budget_bytes);
        epoch::pin().flush();
        Ok(reclaimed.into())
    }

    fn retained(&self, units: &dyn UnitLocks) -> Vec<(Timestamp, usize)> {
        let mut retained = hedgerow_reclamation::retained(self, units);
        self.records.add_retained(&mut retained);
        retained
    }

    fn memory(&self) -> MemoryUse {
        self.memory.used().plus(self.records.memory())
    }
}

impl<C: Container> ShortWrites for Subgraphs<C> {
    type Plan = SubgraphPlan;

    #[inline]
    fn prefetch(&self, edges: &[StoredEdge]) {
        self.prefetch_places(edges);
    }

    #[inline]
    fn plan_edge(&self, locks: &HeldLocks<'_>, edge: &StoredEdge, may_grow: bool) -> Option<SubgraphPlan> {
        if may_grow { self.plan_one(locks, edge) } else { None }
    }

    #[inline]
    fn plan_edges(
        &self,
        locks: &HeldLocks<'_>,
        edges: &[StoredEdge],
        may_grow: bool,
        plans: &mut Vec<SubgraphPlan>,
    ) {
        if may_grow {
            self.plan_several(locks, edges, plans);
        }
    }

    #[inline]
    fn apply_edge(&self, stamp: Stamp, edge: &StoredEdge, plan: &SubgraphPlan) {
        self.apply_one(stamp, edge, plan);
    }
}
