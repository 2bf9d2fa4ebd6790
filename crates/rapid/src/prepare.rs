//! Building the blocks of a commit before anybody can see them.

use crate::block::AdjacencyBlock;
use crate::chain::{Chain, Content, Successor, version_bytes};
use crate::directory::Directory;
use crate::engine::{AdjacencyTable, Rapid};
use crate::garbage::{Place, Table};
use crate::partition::{partition_of, unit_of};
use crate::rows::Tally;
use crate::vertex_block::VertexBlock;
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{
    AdjacencyEffects, CapacityError, EdgeChange, Effects, Outcome, Prepared, VertexEffect, VertexId,
};
use hedgerow_sync::atomic::{AtomicIsize, AtomicU64, Ordering};
use rayon::ThreadPool;
use rayon::prelude::*;

/// Effects with fewer changes than this are prepared by one thread even if there is a pool.
const PARALLEL_FROM: usize = 4096;

/// What a commit built, not yet visible to anybody. Dropping it changes nothing.
pub struct RapidChanges<'l> {
    pub(crate) engine: &'l Rapid,
    pub(crate) vertices: Vec<Link<'l, VertexBlock>>,
    pub(crate) adjacencies: Vec<Link<'l, AdjacencyBlock>>,
}

/// A new version and the place where it belongs.
pub(crate) struct Link<'l, T: Content> {
    pub(crate) place: Place,
    pub(crate) successor: Successor<'l, T>,
}

impl std::fmt::Debug for RapidChanges<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let blocks = self.vertices.len() + self.adjacencies.len();
        f.debug_struct("RapidChanges").field("blocks", &blocks).finish_non_exhaustive()
    }
}

impl Rapid {
    pub(crate) fn prepare_changes<'l>(
        &'l self,
        locks: &'l HeldLocks<'_>,
        effects: &'l Effects,
        pool: Option<&ThreadPool>,
    ) -> Result<Prepared<RapidChanges<'l>>, CapacityError> {
        debug_assert!(effects.is_sorted(), "effects ascend");
        let pool = pool.filter(|_| effects.len() >= PARALLEL_FROM);
        let allowance = Allowance::new(self);
        let mut outcome = Outcome::default();

        let vertices = self.build_vertices(locks, &effects.vertices, pool, &allowance)?;
        allowance.take(missing_bytes(&self.vertices, &vertices))?;
        let mut adjacencies = Vec::new();
        for effects in effects.adjacencies.iter().filter(|effects| !effects.changes.is_empty()) {
            let position = self.position_of(effects);
            let table = &self.adjacencies[position];
            let blocks =
                self.build_adjacency(locks, table, &effects.changes, pool, &allowance, &mut outcome)?;
            allowance.take(missing_bytes(&table.chains, &blocks))?;
            adjacencies.push((position, blocks));
        }

        // Nothing fails from here on.
        let vertices = self.link_up(locks, Table::Vertices, &self.vertices, vertices).collect();
        let links = adjacencies.into_iter().flat_map(|(position, blocks)| {
            let chains = &self.adjacencies[position].chains;
            self.link_up(locks, Table::Adjacency(position as u32), chains, blocks)
        });
        let changes = RapidChanges { engine: self, vertices, adjacencies: links.collect() };
        let changed = !(changes.vertices.is_empty() && changes.adjacencies.is_empty());
        Ok(Prepared { changes, outcome, changed })
    }

    fn position_of(&self, effects: &AdjacencyEffects) -> usize {
        let wanted = (effects.label, effects.direction);
        let found = self.adjacencies.binary_search_by_key(&wanted, |table| (table.label, table.direction));
        found.expect("effects name a label of the catalogue and a direction that the topology stores")
    }

    fn build_vertices(
        &self,
        locks: &HeldLocks<'_>,
        effects: &[VertexEffect],
        pool: Option<&ThreadPool>,
        allowance: &Allowance,
    ) -> Result<Vec<Built<VertexBlock>>, CapacityError> {
        build(
            pool,
            effects,
            |effect| effect.vertex,
            |partition, effects| {
                let old = newest(&self.vertices, locks, partition);
                let block = VertexBlock::merged(old, effects);
                allowance.grow(old, block.as_ref())?;
                Ok(block)
            },
        )
    }

    fn build_adjacency(
        &self,
        locks: &HeldLocks<'_>,
        table: &AdjacencyTable,
        changes: &[EdgeChange],
        pool: Option<&ThreadPool>,
        allowance: &Allowance,
        outcome: &mut Outcome,
    ) -> Result<Vec<Built<AdjacencyBlock>>, CapacityError> {
        let (added, removed) = (AtomicU64::new(0), AtomicU64::new(0));
        let blocks = build(
            pool,
            changes,
            |change| change.owner,
            |partition, changes| {
                let old = newest(&table.chains, locks, partition);
                let mut tally = Tally::new(self.topology, table.direction);
                let block = AdjacencyBlock::merged(old, table.column, changes, &mut tally);
                allowance.grow(old, block.as_ref())?;
                added.fetch_add(tally.added, Ordering::Relaxed);
                removed.fetch_add(tally.removed, Ordering::Relaxed);
                Ok(block)
            },
        )?;
        let (added, removed) = (added.into_inner(), removed.into_inner());
        if added + removed > 0 {
            outcome.count(table.label, added, removed);
        }
        Ok(blocks)
    }

    fn link_up<'l, T: Content>(
        &'l self,
        locks: &'l HeldLocks<'_>,
        table: Table,
        chains: &'l Directory<Chain<T>>,
        blocks: Vec<Built<T>>,
    ) -> impl Iterator<Item = Link<'l, T>> {
        blocks.into_iter().map(move |Built { partition, block }| {
            let chain = chains.get_or_create(partition, &self.memory);
            let successor = chain.succeed(locks, unit_of(partition), block);
            Link { place: Place { table, partition }, successor }
        })
    }
}

/// A new block of a partition.
struct Built<T> {
    partition: u32,
    block: T,
}

/// Builds the block of each partition that `changes`, which ascend by vertex, touch.
fn build<C: Sync, T: Send>(
    pool: Option<&ThreadPool>,
    changes: &[C],
    vertex: impl Fn(&C) -> VertexId,
    block: impl Fn(u32, &[C]) -> Result<Option<T>, CapacityError> + Sync,
) -> Result<Vec<Built<T>>, CapacityError> {
    let partition = |change: &C| partition_of(vertex(change));
    let groups = changes.chunk_by(|one, next| partition(one) == partition(next));
    let groups: Vec<(u32, &[C])> = groups.map(|group| (partition(&group[0]), group)).collect();
    let build = |&(partition, changes): &(u32, &[C])| {
        let built = block(partition, changes).transpose()?;
        Some(built.map(|block| Built { partition, block }))
    };
    match pool {
        Some(pool) => pool.install(|| groups.par_iter().filter_map(build).collect()),
        None => groups.iter().filter_map(build).collect(),
    }
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

fn missing_bytes<T: Content>(chains: &Directory<Chain<T>>, blocks: &[Built<T>]) -> usize {
    chains.missing_bytes(blocks.iter().map(|built| built.partition))
}

/// The memory that a commit may still take.
///
/// What counts is by how much the newest state grows, so that a graph at its limit can be shrunk. What snapshots keep of
/// the state before is held already. Commits that run at the same time each see what was held before them.
struct Allowance {
    limit: Option<usize>,
    held: usize,
    grown: AtomicIsize,
}

impl Allowance {
    fn new(engine: &Rapid) -> Self {
        let held = engine.memory.used().total_bytes();
        Allowance { limit: engine.memory_limit, held, grown: AtomicIsize::new(0) }
    }

    /// Counts a new block in the place of an old one.
    fn grow<T: Content>(&self, old: Option<&T>, new: Option<&T>) -> Result<(), CapacityError> {
        let (Some(_), Some(new)) = (self.limit, new) else { return Ok(()) };
        self.count(version_bytes(new) as isize - old.map_or(0, version_bytes) as isize)
    }

    /// Counts bytes of structure that will be allocated.
    fn take(&self, bytes: usize) -> Result<(), CapacityError> {
        self.count(bytes as isize)
    }

    /// Fails once the sum is positive and more than there is room for.
    fn count(&self, bytes: isize) -> Result<(), CapacityError> {
        let Some(limit) = self.limit else { return Ok(()) };
        let grown = self.grown.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let needed = usize::try_from(grown).unwrap_or(0);
        if bytes > 0 && needed > 0 && self.held + needed > limit {
            return Err(CapacityError::Memory { needed, held: self.held, limit });
        }
        Ok(())
    }
}
