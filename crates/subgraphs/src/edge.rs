//! The short way of one edge: looked up in its container, and edited there.

use crate::chain::{Chain, Change, Successor};
use crate::container::{Container, Tally};
use crate::engine::{AdjacencyTable, Subgraphs};
use crate::garbage::{Place, Superseded, Table};
use crate::partition::{partition_of, unit_of};
use crate::reclamation::MemoryChange;
use hedgerow_model::token::{HeldLocks, Stamp};
use hedgerow_model::{Direction, EdgeOutcome, EdgePlan, LabelId, StoredEdge, Timestamp};
use smallvec::SmallVec;

impl<C: Container> Subgraphs<C> {
    /// `None` where there is no container yet, where one would become empty or is changed twice, and where a limit
    /// has to be watched.
    #[inline]
    pub(crate) fn plan_one(&self, locks: &HeldLocks<'_>, edge: &StoredEdge) -> Option<EdgePlan> {
        if self.memory_limit.is_some() || is_within_partition(edge) {
            return None;
        }
        let (mut added, mut removed, mut changed) = (0, 0, false);
        let mut bases = [Timestamp::ZERO; 2];
        for ((direction, change), base) in edge.entries().iter().zip(&mut bases) {
            let chain = self.chain_of(edge.label, *direction, partition_of(change.owner))?;
            let container = chain.newest(locks, unit_of(partition_of(change.owner)))?;
            *base = chain.born();
            let mut tally = Tally::new(self.topology, *direction);
            if !container.edits(change, &mut tally) {
                return None;
            }
            changed |= tally.changed() > 0;
            let (more_added, more_removed) = tally.edges();
            added += more_added;
            removed += more_removed;
        }
        Some(EdgePlan { changed, outcome: EdgeOutcome { label: edge.label, added, removed }, bases })
    }

    #[inline]
    pub(crate) fn apply_one(&self, stamp: Stamp, edge: &StoredEdge, plan: &EdgePlan) {
        let mut memory = MemoryChange::default();
        let mut superseded = SmallVec::new();
        for ((direction, change), base) in edge.entries().iter().zip(&plan.bases) {
            let partition = partition_of(change.owner);
            let chain = self.chain_of(edge.label, *direction, partition).expect("planned with its chain");
            let edits = Change::Edit(std::slice::from_ref(change));
            let linked = chain.link(Successor { base: *base, change: edits, allocated: 0 }, stamp);
            memory += linked.memory;
            if let Some(born) = linked.kept {
                let table = Table::Adjacency(self.position(edge.label, *direction) as u32);
                superseded.push(Superseded {
                    place: Place { table, partition },
                    born,
                    superseded: stamp.at(),
                });
            }
        }
        self.memory.add(memory);
        self.garbage.file(stamp.newest_registered(), superseded);
    }

    /// The chain of a partition in a stored direction, if it was ever used.
    #[inline]
    pub(crate) fn chain_of(&self, label: LabelId, stored: Direction, partition: u32) -> Option<&Chain<C>> {
        let AdjacencyTable { chains, .. } = self.adjacencies.get(self.position(label, stored))?;
        chains.get(partition)
    }
}

/// Whether both entries of an edge are kept in one container.
#[inline]
fn is_within_partition(edge: &StoredEdge) -> bool {
    match edge.entries() {
        [(one_direction, one), (other_direction, other)] => {
            one_direction == other_direction && partition_of(one.owner) == partition_of(other.owner)
        }
        _ => false,
    }
}
