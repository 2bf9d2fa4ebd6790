//! Building the changes of a commit before anybody can see them.

use crate::account;
use crate::chain::{Chain, Change, Successor};
use crate::container::{Container, Plan, Tally};
use crate::directory::Directory;
use crate::engine::{AdjacencyTable, Subgraphs};
use crate::garbage::{Place, Table};
use crate::memory::Memory;
use crate::owned::{Content, Owned};
use crate::partition::{partition_of, unit_of};
use crate::vertex_block::VertexBlock;
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{
    AdjacencyEffects, CapacityError, EdgeChange, Effects, Outcome, Prepared, VertexEffect, VertexId,
};
use hedgerow_sync::atomic::{AtomicIsize, AtomicU64, Ordering};
use rayon::ThreadPool;
use rayon::prelude::*;
use smallvec::SmallVec;

/// Effects with fewer changes than this are prepared by one thread even if there is a pool.
const PARALLEL_FROM: usize = 4096;

/// What a commit built, not yet visible to anybody. Dropping it changes nothing.
pub struct SubgraphChanges<'l, C: Container> {
    pub(crate) engine: &'l Subgraphs<C>,
    pub(crate) vertices: Links<'l, VertexBlock>,
    pub(crate) adjacencies: Links<'l, C>,
}

/// A single edge changes one or two partitions; that much needs no memory of its own.
type Links<'l, T> = SmallVec<[Link<'l, T>; 2]>;

/// A change and the place where it belongs.
pub(crate) struct Link<'l, T: Content> {
    pub(crate) place: Place,
    pub(crate) successor: Successor<'l, T>,
}

impl<C: Container> std::fmt::Debug for SubgraphChanges<'_, C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let partitions = self.vertices.len() + self.adjacencies.len();
        f.debug_struct("SubgraphChanges").field("partitions", &partitions).finish_non_exhaustive()
    }
}

impl<C: Container> Subgraphs<C> {
    pub(crate) fn prepare_changes<'l>(
        &'l self,
        locks: &'l HeldLocks<'_>,
        effects: &'l Effects,
        pool: Option<&ThreadPool>,
    ) -> Result<Prepared<SubgraphChanges<'l, C>>, CapacityError> {
        debug_assert!(effects.is_sorted(), "effects ascend");
        let pool = pool.filter(|_| effects.len() >= PARALLEL_FROM);
        let allowance = Allowance::new(self);
        let mut outcome = Outcome::default();

        let vertices = self.plan_vertices(locks, &effects.vertices, pool, &allowance)?;
        allowance.take_missing(&self.vertices, &vertices)?;
        let mut adjacencies = SmallVec::<[_; 2]>::new();
        for effects in effects.adjacencies.iter().filter(|effects| !effects.changes.is_empty()) {
            let position = self.position_of(effects);
            let table = &self.adjacencies[position];
            let planned =
                self.plan_adjacency(locks, table, &effects.changes, pool, &allowance, &mut outcome)?;
            allowance.take_missing(&table.chains, &planned)?;
            adjacencies.push((position, planned));
        }

        // Nothing fails from here on.
        let vertices = link_up(locks, Table::Vertices, &self.vertices, vertices, &self.memory).collect();
        let links = adjacencies.into_iter().flat_map(|(position, planned)| {
            let chains = &self.adjacencies[position].chains;
            link_up(locks, Table::Adjacency(position as u32), chains, planned, &self.memory)
        });
        let changes = SubgraphChanges { engine: self, vertices, adjacencies: links.collect() };
        let changed = !(changes.vertices.is_empty() && changes.adjacencies.is_empty());
        Ok(Prepared { changes, outcome, changed })
    }

    fn position_of(&self, effects: &AdjacencyEffects) -> usize {
        let wanted = (effects.label, effects.direction);
        let found = self.adjacencies.binary_search_by_key(&wanted, |table| (table.label, table.direction));
        found.expect("effects name a label of the catalogue and a direction that the topology stores")
    }

    fn plan_vertices<'l>(
        &self,
        locks: &HeldLocks<'_>,
        effects: &'l [VertexEffect],
        pool: Option<&ThreadPool>,
        allowance: &Allowance,
    ) -> Result<PlannedChanges<'l, VertexBlock>, CapacityError> {
        plan_partitions(
            pool,
            effects,
            |effect: &VertexEffect| effect.vertex,
            |partition, effects| {
                let old = newest(&self.vertices, locks, partition);
                let plan = VertexBlock::plan(old, effects);
                allowance.take_plan(old, &plan, |old| old.growth(effects))?;
                Ok(plan)
            },
        )
    }

    fn plan_adjacency<'l>(
        &self,
        locks: &HeldLocks<'_>,
        table: &AdjacencyTable<C>,
        changes: &'l [EdgeChange],
        pool: Option<&ThreadPool>,
        allowance: &Allowance,
        outcome: &mut Outcome,
    ) -> Result<PlannedChanges<'l, C>, CapacityError> {
        let (added, removed) = (AtomicU64::new(0), AtomicU64::new(0));
        let planned = plan_partitions(
            pool,
            changes,
            |change: &EdgeChange| change.owner,
            |partition, changes| {
                let old = newest(&table.chains, locks, partition);
                let mut tally = Tally::new(self.topology, table.direction);
                let plan = C::plan(old, table.column, changes, &mut tally);
                allowance.take_plan(old, &plan, |old| old.growth(changes))?;
                added.fetch_add(tally.added, Ordering::Relaxed);
                removed.fetch_add(tally.removed, Ordering::Relaxed);
                Ok(plan)
            },
        )?;
        let (added, removed) = (added.into_inner(), removed.into_inner());
        if added + removed > 0 {
            outcome.count(table.label, added, removed);
        }
        Ok(planned)
    }
}

/// The change of a partition, and what planning it allocated.
struct Planned<'l, T: Content> {
    partition: u32,
    change: Change<'l, T>,
    allocated: isize,
}

type PlannedChanges<'l, T> = SmallVec<[Planned<'l, T>; 2]>;

/// Plans the change of each partition that `changes`, which ascend by vertex, touch.
fn plan_partitions<'l, T: Content>(
    pool: Option<&ThreadPool>,
    changes: &'l [T::Change],
    vertex: impl Fn(&T::Change) -> VertexId + Sync,
    plan: impl Fn(u32, &'l [T::Change]) -> Result<Plan<T>, CapacityError> + Sync,
) -> Result<PlannedChanges<'l, T>, CapacityError> {
    let partition = |change: &T::Change| partition_of(vertex(change));
    let groups = changes.chunk_by(|one, next| partition(one) == partition(next));
    let plan = |changes: &'l [T::Change]| {
        let partition = partition(&changes[0]);
        let (plan, allocated) = account::measure(|| plan(partition, changes));
        let change = match plan {
            Err(error) => return Some(Err(error)),
            Ok(Plan::Nothing) => return None,
            Ok(Plan::Replace(new)) => Change::Replace(new),
            Ok(Plan::Edit) => Change::Edit(changes),
        };
        Some(Ok(Planned { partition, change, allocated }))
    };
    match pool {
        Some(pool) => {
            let groups: Vec<&'l [T::Change]> = groups.collect();
            let planned: Result<Vec<_>, _> =
                pool.install(|| groups.into_par_iter().filter_map(plan).collect());
            planned.map(SmallVec::from_vec)
        }
        None => groups.filter_map(plan).collect(),
    }
}

fn link_up<'l, T: Content>(
    locks: &'l HeldLocks<'_>,
    table: Table,
    chains: &'l Directory<Chain<T>>,
    planned: PlannedChanges<'l, T>,
    memory: &'l Memory,
) -> impl Iterator<Item = Link<'l, T>> {
    planned.into_iter().map(move |Planned { partition, change, allocated }| {
        let chain = chains.get_or_create(partition, memory);
        let successor = chain.succeed(locks, unit_of(partition), change, allocated);
        Link { place: Place { table, partition }, successor }
    })
}

fn newest<'l, T: Content>(
    chains: &'l Directory<Chain<T>>,
    locks: &'l HeldLocks<'_>,
    partition: u32,
) -> Option<&'l T> {
    let unit = unit_of(partition);
    assert!(locks.covers(unit), "partition {partition} is changed without its lock");
    chains.get(partition)?.newest(locks, unit)
}

/// The memory that a commit may still take, if there is a limit.
///
/// What counts is by how much the newest state grows, so that a graph at its limit can be shrunk. What snapshots keep of
/// the state before is held already. Commits that run at the same time each see what was held before them.
struct Allowance(Option<Limited>);

struct Limited {
    limit: usize,
    held: usize,
    grown: AtomicIsize,
}

impl Allowance {
    fn new<C: Container>(engine: &Subgraphs<C>) -> Self {
        Allowance(engine.memory_limit.map(|limit| {
            let held = engine.memory.used().total_bytes();
            Limited { limit, held, grown: AtomicIsize::new(0) }
        }))
    }

    /// Counts what a plan makes of an old content.
    fn take_plan<T: Content>(
        &self,
        old: Option<&T>,
        plan: &Plan<T>,
        growth: impl FnOnce(&T) -> usize,
    ) -> Result<(), CapacityError> {
        let Some(limited) = &self.0 else { return Ok(()) };
        let bytes = |content: Option<&Owned<T>>| content.map_or(0, |content| content.bytes());
        limited.count(match plan {
            Plan::Nothing => 0,
            Plan::Replace(new) => bytes(new.as_ref()) as isize - old.map_or(0, T::bytes) as isize,
            Plan::Edit => old.map_or(0, growth) as isize,
        })
    }

    /// Counts the segments that a directory lacks.
    fn take_missing<T: Content>(
        &self,
        chains: &Directory<Chain<T>>,
        planned: &[Planned<'_, T>],
    ) -> Result<(), CapacityError> {
        let Some(limited) = &self.0 else { return Ok(()) };
        let missing = chains.missing_bytes(planned.iter().map(|planned| planned.partition));
        limited.count(missing as isize)
    }
}

impl Limited {
    /// Fails once the sum is positive and more than there is room for.
    fn count(&self, bytes: isize) -> Result<(), CapacityError> {
        let grown = self.grown.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let needed = usize::try_from(grown).unwrap_or(0);
        if bytes > 0 && needed > 0 && self.held + needed > self.limit {
            return Err(CapacityError::Memory { needed, held: self.held, limit: self.limit });
        }
        Ok(())
    }
}
