//! Commits of one edge each: the edge is located in its containers and edited in place.

use crate::subgraphs::chain::{Chain, Successor, VersionChange};
use crate::subgraphs::container::{Container, Tally};
use crate::subgraphs::garbage::{ChainPlace, ChainTable, Superseded};
use crate::subgraphs::graph::{AdjacencyTable, Subgraphs};
use crate::subgraphs::partition::{partition_of, slot_of, unit_of};
use hedgerow_in_memory::staging::{EdgeEntries, EdgePlan, EdgePlans, StagedEdges};
use hedgerow_model::token::{HeldLocks, Stamp, Stamps};
use hedgerow_model::{CommitTimestamp, Direction, EdgeChange, LabelId, Staged, StoredEdge, VertexId};
use hedgerow_sync::prefetch;
use smallvec::SmallVec;

/// The places of the entries of an edge in their containers.
#[derive(Clone, Copy, Debug)]
pub struct EdgePlaces {
    /// The births of the versions in which the entries were located.
    bases: [CommitTimestamp; 2],
    /// The place of each entry, as [`Container::locate`] numbers places.
    places: [u64; 2],
}

impl<C: Container> Subgraphs<C> {
    /// Plans the changes of the first edges: up to the first that lacks an end, that is in a label
    /// with records, or whose container is missing, would become empty, or would be changed twice.
    #[inline(always)]
    pub(crate) fn stage_edges<'l>(
        &'l self,
        locks: &HeldLocks<'_>,
        edges: &'l [StoredEdge],
        plans: &'l mut EdgePlans<EdgePlaces>,
    ) -> Staged<StagedEdges<'l, EdgePlaces>> {
        if let [_, _, ..] = edges {
            self.prefetch(edges);
        }
        let find = |edge: &'l StoredEdge, entries: &mut EdgeEntries<_>| {
            let (source, destination) = edge.ends();
            self.exists_now(source) && self.exists_now(destination) && self.find_entries(locks, edge, entries)
        };
        StagedEdges::plan(edges, plans, find, EdgeEntry::prefetch, |_, entries| self.plan_entries(entries))
    }

    #[inline(always)]
    pub(crate) fn apply_edges(&self, stamps: Stamps, staged: StagedEdges<'_, EdgePlaces>) {
        staged.apply(stamps, |stamp, edge, plan| self.apply_edge(stamp, edge, &plan.places));
    }

    #[inline(never)]
    fn apply_edge(&self, stamp: Stamp, edge: &StoredEdge, places: &EdgePlaces) {
        for (number, (direction, change)) in edge.entries().iter().enumerate() {
            let partition = partition_of(change.owner());
            let chain = self.chain_of(edge.label, *direction, partition).expect("planned with its chain");
            let base = places.bases[number];
            if chain.edit_unseen_at(base, places.places[number], change, stamp) {
                continue;
            }
            let edits = VersionChange::Edit(change.into());
            let linked = chain.link(Successor { base, change: edits, allocated: 0 }, stamp, &self.domain);
            self.memory.add(linked.memory);
            if let Some(born) = linked.kept {
                let table = ChainTable::Adjacency(self.position(edge.label, *direction) as u32);
                let place = ChainPlace { table, partition };
                let superseded = Superseded { place, born, superseded: stamp.at() };
                self.garbage.file(stamp.newest_registered(), SmallVec::from_iter([superseded]));
            }
        }
    }

    /// Prefetches the chains of all edges, then the locations of the rows that the chains point to.
    #[inline]
    fn prefetch(&self, edges: &[StoredEdge]) {
        for edge in edges {
            self.chains_of(edge).for_each(|(chain, _)| prefetch(chain, 1));
            let (source, destination) = edge.ends();
            let existence = [source, destination].map(|end| self.vertices.get(partition_of(end)));
            existence.into_iter().flatten().for_each(|chain| prefetch(chain, 1));
        }
        let chains = edges.iter().flat_map(|edge| self.chains_of(edge));
        chains.for_each(|(chain, change)| C::prefetch_place(chain.hint(), slot_of(change.owner())));
    }

    #[inline]
    pub(crate) fn exists_now(&self, vertex: VertexId) -> bool {
        let chain = self.vertices.get(partition_of(vertex));
        chain.is_some_and(|chain| chain.newest_occupied() >> slot_of(vertex) & 1 == 1)
    }

    /// Appends the locations of an edge's entries. Returns false if the edge must be staged as
    /// effects.
    #[inline]
    fn find_entries<'l>(
        &'l self,
        locks: &'l HeldLocks<'_>,
        edge: &'l StoredEdge,
        entries: &mut EdgeEntries<EdgeEntry<'l, C>>,
    ) -> bool {
        if is_within_partition(edge) || self.records.has_records(edge.label) {
            return false;
        }
        edge.entries().iter().all(|(direction, change)| {
            let partition = partition_of(change.owner());
            let chain = self.chain_of(edge.label, *direction, partition);
            let found = chain.and_then(|chain| Some((chain, chain.newest(locks, unit_of(partition))?)));
            found.inspect(|(chain, container)| {
                entries.push(EdgeEntry { direction: *direction, change, chain, container });
            });
            found.is_some()
        })
    }

    #[inline]
    fn plan_entries(&self, entries: &[EdgeEntry<'_, C>]) -> Option<EdgePlan<EdgePlaces>> {
        let (mut added, mut removed, mut changed) = (0, 0, false);
        let (mut bases, mut places) = ([CommitTimestamp::ZERO; 2], [0; 2]);
        for (number, EdgeEntry { direction, change, chain, container }) in entries.iter().enumerate() {
            let mut tally = Tally::new(self.topology, *direction);
            (bases[number], places[number]) = (chain.born(), container.locate(change, &mut tally)?);
            changed |= tally.changed() > 0;
            let (more_added, more_removed) = tally.edges();
            added += more_added;
            removed += more_removed;
        }
        // An edge counts at most once.
        let (added, removed, places) = (added as u8, removed as u8, EdgePlaces { bases, places });
        Some(EdgePlan { changed, added, removed, places })
    }

    /// The chains that store an edge, if they were ever used, each with its change.
    #[inline]
    pub(crate) fn chains_of<'e>(
        &'e self,
        edge: &'e StoredEdge,
    ) -> impl Iterator<Item = (&'e Chain<C>, &'e EdgeChange)> {
        edge.entries().iter().filter_map(|(direction, change)| {
            Some((self.chain_of(edge.label, *direction, partition_of(change.owner()))?, change))
        })
    }

    /// The chain of a partition in a stored direction, if it was ever used.
    #[inline]
    pub(crate) fn chain_of(&self, label: LabelId, stored: Direction, partition: u32) -> Option<&Chain<C>> {
        let AdjacencyTable { chains, .. } = self.adjacencies.get(self.position(label, stored))?;
        chains.get(partition)
    }
}

/// An entry of an edge, and its location.
struct EdgeEntry<'l, C: Container> {
    direction: Direction,
    change: &'l EdgeChange,
    chain: &'l Chain<C>,
    container: &'l C,
}

impl<C: Container> EdgeEntry<'_, C> {
    #[inline]
    fn prefetch(&self) {
        self.container.prefetch_change(slot_of(self.change.owner()), self.change.neighbor());
    }
}

/// Returns true if one container stores both entries of an edge.
#[inline]
fn is_within_partition(edge: &StoredEdge) -> bool {
    match edge.entries() {
        [(one_direction, one), (other_direction, other)] => {
            one_direction == other_direction && partition_of(one.owner()) == partition_of(other.owner())
        }
        _ => false,
    }
}
