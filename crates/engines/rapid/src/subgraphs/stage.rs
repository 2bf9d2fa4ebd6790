//! Building the changes of a commit before they become visible.

use crate::subgraphs::ahead;
use crate::subgraphs::chain::{Chain, Successor, VersionChange};
use crate::subgraphs::container::{ChangePlan, Container, Tally};
use crate::subgraphs::directory::PartitionDirectory;
use crate::subgraphs::garbage::{ChainPlace, ChainTable};
use crate::subgraphs::graph::{AdjacencyTable, Subgraphs};
use crate::subgraphs::owned::{Content, Owned, edited_copy};
use crate::subgraphs::partition::{partition_of, unit_of};
use crate::subgraphs::vertex_block::VertexBlock;
use crate::subgraphs::view::SubgraphView;
use hedgerow_in_memory::reclamation::account;
use hedgerow_in_memory::records::{RecordChanges, StagedEffects};
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{
    AdjacencyEffects, Allowance, CapacityError, ChangeSlice, CommitTimestamp, Effects, EngineError, Outcome,
    Staged, VertexEffect,
};
use hedgerow_sync::atomic::{AtomicIsize, AtomicU64, Ordering};
use rayon::ThreadPool;
use rayon::prelude::*;
use smallvec::SmallVec;

/// Minimum number of changes that a pool stages in parallel; one thread stages fewer.
const PARALLEL_FROM: usize = 4096;

/// The staged, invisible changes of a commit. Dropping it changes nothing.
pub struct SubgraphChanges<'l, C: Container> {
    pub(crate) engine: &'l Subgraphs<C>,
    pub(crate) vertices: Vec<Planned<'l, VertexBlock>>,
    /// Inline room for one edge, which changes one or two partitions.
    pub(crate) adjacencies: SmallVec<[Planned<'l, C>; 2]>,
    pub(crate) records: RecordChanges,
}

/// A planned change of one partition.
pub(crate) struct Planned<'l, T: Content> {
    pub(crate) place: ChainPlace,
    pub(crate) successor: Successor<'l, T>,
}

impl<'l, T: Content> Planned<'l, T> {
    /// Returns the changes if the plan is an edit, else none.
    pub(crate) fn edits(&self) -> T::Changes<'l> {
        match self.successor.change {
            VersionChange::Edit(changes) => changes,
            VersionChange::Replace(_) => T::Changes::default(),
        }
    }
}

impl<C: Container> std::fmt::Debug for SubgraphChanges<'_, C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let partitions = self.vertices.len() + self.adjacencies.len();
        f.debug_struct("SubgraphChanges").field("partitions", &partitions).finish_non_exhaustive()
    }
}

impl<C: Container> Subgraphs<C> {
    pub(crate) fn stage_effects<'l>(
        &'l self,
        locks: &HeldLocks<'_>,
        effects: &'l Effects,
        room: &'l mut StagedEffects,
        allowance: Allowance,
        pool: Option<&ThreadPool>,
    ) -> Result<Staged<SubgraphChanges<'l, C>>, EngineError> {
        debug_assert!(effects.is_sorted(), "effects ascend");
        let pool = pool.filter(|_| effects.len() >= PARALLEL_FROM);
        let mut outcome = Outcome::default();
        let newest = SubgraphView::locked(self, locks);
        let (adjacencies, records) = self.records.stage(effects, room, &newest, |_| false, &mut outcome)?;
        let growth =
            Growth::new(self, allowance.beside(self.records.memory().total_bytes(), records.growth()));
        let (vertices, adjacency_changes) = (Vec::new(), SmallVec::new());
        let mut changes = SubgraphChanges { engine: self, vertices, adjacencies: adjacency_changes, records };
        if !effects.vertices.is_empty() {
            self.plan_vertices(locks, &effects.vertices, pool, &growth, &mut changes.vertices)?;
        }
        for effects in adjacencies.filter(|effects| !effects.changes.is_empty()) {
            let (added, removed) =
                self.plan_adjacency(locks, effects, pool, &growth, &mut changes.adjacencies)?;
            if added + removed > 0 {
                outcome.count(effects.label, added, removed);
            }
        }
        growth.check()?;
        let changed = !(changes.vertices.is_empty() && changes.adjacencies.is_empty());
        Ok(Staged::commit(changes, outcome, changed))
    }

    fn plan_vertices<'l>(
        &self,
        locks: &HeldLocks<'_>,
        effects: &'l [VertexEffect],
        pool: Option<&ThreadPool>,
        growth: &Growth,
        planned: &mut Vec<Planned<'l, VertexBlock>>,
    ) -> Result<(), CapacityError> {
        let plan = |effects: &'l [VertexEffect]| {
            let place =
                ChainPlace { table: ChainTable::Vertices, partition: partition_of(effects[0].vertex) };
            plan_partition(&self.vertices, locks, place, effects, growth, VertexBlock::growth, |old| {
                VertexBlock::plan(old, effects)
            })
        };
        let groups = effects.chunk_by(|one, next| partition_of(one.vertex) == partition_of(next.vertex));
        let groups: SmallVec<[&'l [VertexEffect]; 2]> = groups.collect();
        plan_all(pool, &groups, |_| (), plan, |one| planned.push(one))?;
        growth.count_missing(&self.vertices, planned)
    }

    /// Plans the changes of one adjacency. Returns the numbers of edges that they add and remove.
    fn plan_adjacency<'l>(
        &self,
        locks: &HeldLocks<'_>,
        effects: &'l AdjacencyEffects,
        pool: Option<&ThreadPool>,
        growth: &Growth,
        planned: &mut SmallVec<[Planned<'l, C>; 2]>,
    ) -> Result<(u64, u64), CapacityError> {
        let (table, AdjacencyTable { column, chains, direction, .. }) =
            self.table_of(effects.label, effects.direction);
        let (added, removed) = (AtomicU64::new(0), AtomicU64::new(0));
        let plan = |changes: ChangeSlice<'l>| {
            let place = ChainPlace { table, partition: partition_of(changes.first_owner()) };
            let mut tally = Tally::new(self.topology, *direction);
            let planned = plan_partition(chains, locks, place, changes, growth, C::growth, |old| {
                C::plan(old, *column, changes, &mut tally)
            });
            let (more_added, more_removed) = tally.edges();
            count(&added, more_added);
            count(&removed, more_removed);
            planned
        };
        let groups: SmallVec<[ChangeSlice<'l>; 2]> =
            effects.changes.as_slice().groups(partition_of).collect();
        let before = planned.len();
        let fetch = |number: usize| {
            ahead::fetch(chains, &groups, number, |chain, partition, look| {
                chain.newest(locks, unit_of(partition)).into_iter().for_each(look);
            });
        };
        plan_all(pool, &groups, fetch, plan, |one| planned.push(one))?;
        growth.count_missing(chains, &planned[before..])?;
        Ok((added.into_inner(), removed.into_inner()))
    }
}

fn count(counter: &AtomicU64, more: u64) {
    if more > 0 {
        counter.fetch_add(more, Ordering::Relaxed);
    }
}

/// Plans every group of changes, each of one partition. Calls `fetch` with the number of a group
/// before planning it.
fn plan_all<G: Copy + Sync, P: Send>(
    pool: Option<&ThreadPool>,
    groups: &[G],
    fetch: impl Fn(usize) + Sync,
    plan: impl Fn(G) -> Result<Option<P>, CapacityError> + Sync,
    mut planned: impl FnMut(P),
) -> Result<(), CapacityError> {
    let plan = |(number, group): (usize, &G)| {
        fetch(number);
        plan(*group)
    };
    if let Some(pool) = pool {
        let groups = groups.par_iter().enumerate();
        let all = pool.install(|| groups.map(plan).collect::<Result<Vec<_>, _>>())?;
        all.into_iter().flatten().for_each(planned);
        return Ok(());
    }
    for group in groups.iter().enumerate() {
        plan(group)?.into_iter().for_each(&mut planned);
    }
    Ok(())
}

/// Plans changes of the newest version of one partition; `None` if they change nothing.
#[inline]
fn plan_partition<'l, T: Content>(
    chains: &PartitionDirectory<Chain<T>>,
    locks: &HeldLocks<'_>,
    place: ChainPlace,
    changes: T::Changes<'l>,
    grown: &Growth,
    growth: impl FnOnce(&T, T::Changes<'l>) -> usize,
    plan: impl FnOnce(Option<&T>) -> ChangePlan<T>,
) -> Result<Option<Planned<'l, T>>, CapacityError> {
    let unit = unit_of(place.partition);
    assert!(locks.covers(unit), "partition {} is changed without its lock", place.partition);
    let chain = chains.get(place.partition);
    let old = chain.and_then(|chain| chain.newest(locks, unit));
    let base = chain.map_or(CommitTimestamp::ZERO, Chain::born);
    let (plan, allocated) = account::measure(|| match (plan(old), old) {
        // Opening a snapshot waits for commits that have a stamp, so the copy is made before the
        // stamp.
        (ChangePlan::Edit, Some(old)) if base < locks.editable_now() => {
            ChangePlan::Replace(Some(edited_copy(old, changes)))
        }
        (plan, _) => plan,
    });
    grown.count_plan(old, &plan, |old| growth(old, changes))?;
    let change = match plan {
        ChangePlan::Nothing => return Ok(None),
        ChangePlan::Replace(new) => VersionChange::Replace(new),
        ChangePlan::Edit => VersionChange::Edit(changes),
    };
    Ok(Some(Planned { place, successor: Successor { base, change, allocated } }))
}

/// Tracks the growth of the newest state, if memory is limited.
struct Growth {
    allowance: Allowance,
    held: usize,
    grown: AtomicIsize,
}

impl Growth {
    fn new<C: Container>(engine: &Subgraphs<C>, allowance: Allowance) -> Self {
        let held = if allowance.is_limited() { engine.memory.used().total_bytes() } else { 0 };
        Growth { allowance, held, grown: AtomicIsize::new(0) }
    }

    /// Counts the growth that a plan causes.
    fn count_plan<T: Content>(
        &self,
        old: Option<&T>,
        plan: &ChangePlan<T>,
        growth: impl FnOnce(&T) -> usize,
    ) -> Result<(), CapacityError> {
        if !self.allowance.is_limited() {
            return Ok(());
        }
        let bytes = |content: Option<&Owned<T>>| content.map_or(0, |content| content.bytes());
        self.count(match plan {
            ChangePlan::Nothing => 0,
            ChangePlan::Replace(new) => bytes(new.as_ref()) as isize - old.map_or(0, T::bytes) as isize,
            ChangePlan::Edit => old.map_or(0, growth) as isize,
        })
    }

    /// Counts the segments that a directory would have to allocate.
    fn count_missing<T: Content>(
        &self,
        chains: &PartitionDirectory<Chain<T>>,
        planned: &[Planned<'_, T>],
    ) -> Result<(), CapacityError> {
        if !self.allowance.is_limited() {
            return Ok(());
        }
        let missing = chains.missing_bytes(planned.iter().map(|planned| planned.place.partition));
        self.count(missing as isize)
    }

    /// Fails as soon as the sum exceeds the allowance, before more is built.
    fn count(&self, bytes: isize) -> Result<(), CapacityError> {
        self.grown.fetch_add(bytes, Ordering::Relaxed);
        if bytes > 0 { self.check() } else { Ok(()) }
    }

    fn check(&self) -> Result<(), CapacityError> {
        self.allowance.check(self.held, self.grown.load(Ordering::Relaxed))
    }
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;
    use crate::subgraphs::chain::tests::{Counted, link, locks};
    use hedgerow_in_memory::reclamation::Memory;
    use hedgerow_sync::Arc;

    #[test]
    fn what_a_snapshot_most_likely_sees_is_copied_before_the_stamp() {
        let (chains, dropped) = (PartitionDirectory::<Chain<Counted>>::default(), Arc::default());
        link(chains.get_or_create(0, &Memory::default()), 4, &dropped, 0);
        let place = ChainPlace { table: ChainTable::Vertices, partition: 0 };
        let is_copied = |seen_below| {
            let locks = locks().with_editable_now(CommitTimestamp(seen_below));
            let changes = [1];
            let growth = Growth { allowance: Allowance::UNLIMITED, held: 0, grown: AtomicIsize::new(0) };
            let planned =
                plan_partition(&chains, &locks, place, &changes, &growth, |_, _| 0, |_| ChangePlan::Edit);
            let planned = planned.unwrap().expect("an edit changes something");
            matches!(planned.successor.change, VersionChange::Replace(Some(_)))
        };
        assert_eq!([0, 4, 5, u64::MAX].map(is_copied), [false, false, true, true]);
    }
}
