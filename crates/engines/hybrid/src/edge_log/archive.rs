//! Archiving: moves the commits up to a timestamp from the log to the adjacency behind it
//! (GraphOne, 5.1.2).
//!
//! Changes are sharded by ranges of owners. There are more shards than threads, so that threads
//! finish at about the same time. All changes of a vertex fall into one shard, so threads update
//! rows without atomic operations.

use crate::edge_log::changes::ChangeList;
use crate::edge_log::ends::Ends;
use crate::edge_log::log::EdgeLog;
use crate::edge_log::tail::{Archived, Cut, LogTail};
use hedgerow_model::CommitTimestamp;
use rayon::ThreadPool;
use rayon::prelude::*;
use std::collections::BTreeSet;

/// Target number of changes in a shard.
const SHARD_CHANGES: usize = 512;

/// Maximum number of shards.
const MOST_SHARDS: usize = 4096;

/// An adjacency that a log feeds.
pub trait Archive: Sync {
    /// Returns the adjacencies that store the edges of a table.
    fn ends(&self, table: u16) -> Ends;

    /// Returns an exclusive upper bound on the vertex ids in the log.
    fn vertex_bound(&self) -> u32;

    /// Adds changes, which are [ordered](ChangeList::order), to the version of an adjacency that
    /// this round makes. The version starts with the content of its predecessor, and no reader has
    /// it yet. Concurrent calls have disjoint owners.
    fn add(&self, round: u32, adjacency: u32, changes: &ChangeList);
}

/// Moves changes from a log to an adjacency. Keeps its memory between calls.
#[derive(Debug, Default)]
pub struct Archiver {
    /// Per part of the buffers, the changes in each shard.
    parts: Vec<Vec<ChangeList>>,
    /// Per shard, the changes of all parts.
    shards: Vec<ChangeList>,
}

impl Archiver {
    /// Archives the commits up to a cut, which are all applied, and publishes the version with
    /// exactly these commits. Returns `None` if the newest version already has them all.
    /// O(changes · log changes per shard).
    ///
    /// Calls must not be concurrent. With a pool, its threads share the work.
    pub fn archive(
        &mut self,
        log: &EdgeLog,
        adjacency: &impl Archive,
        cut: Cut,
        pool: Option<&ThreadPool>,
    ) -> Option<Archived> {
        self.archive_with(log, adjacency, cut, pool, |_| ())
    }

    /// Like [`Archiver::archive`], but calls `before_publishing` when the version has all changes
    /// and readers cannot find it yet.
    pub fn archive_with(
        &mut self,
        log: &EdgeLog,
        adjacency: &impl Archive,
        cut: Cut,
        pool: Option<&ThreadPool>,
        before_publishing: impl FnOnce(Archived),
    ) -> Option<Archived> {
        let at = cut.last();
        log.newest().runs(at).next()?;
        log.seal();
        let tail = log.newest();
        let (mut entries, mut tables) = (0, BTreeSet::new());
        for run in tail.runs(at) {
            entries += run.len();
            tables.insert(run.table);
        }
        let round = tail.archived().round.checked_add(1).expect("there are fewer than 2^32 versions");
        let adjacencies: BTreeSet<u32> =
            tables.iter().flat_map(|table| adjacency.ends(*table).adjacencies()).collect();
        for number in adjacencies {
            self.shard(Moved { tail: &tail, at, entries }, adjacency, number, pool);
            for_each(pool, &mut self.shards, |_, changes| {
                changes.order();
                adjacency.add(round, number, changes);
            });
        }
        self.parts.iter_mut().flatten().chain(&mut self.shards).for_each(ChangeList::clear_and_trim);
        let archived = Archived { round, through: cut.through() };
        before_publishing(archived);
        log.publish(archived, cut, entries);
        Some(archived)
    }

    /// Shards the changes of an adjacency by owner, each shard in log order.
    fn shard(
        &mut self,
        Moved { tail, at, entries }: Moved<'_>,
        adjacency: &impl Archive,
        number: u32,
        pool: Option<&ThreadPool>,
    ) {
        let Archiver { parts, shards } = self;
        let buffers = tail.buffers();
        let threads = pool.map_or(1, ThreadPool::current_num_threads);
        let count = (entries / SHARD_CHANGES).clamp(1, MOST_SHARDS).next_power_of_two();
        let width = u64::from(adjacency.vertex_bound()).div_ceil(count as u64).max(1).next_power_of_two();
        let shift = width.trailing_zeros();
        let part_buffers = buffers.len().div_ceil(threads);
        parts.resize_with(buffers.len().div_ceil(part_buffers), Vec::new);
        for_each(pool, parts, |part, lists| {
            lists.resize_with(count, ChangeList::default);
            lists.iter_mut().for_each(ChangeList::clear);
            let begin = part * part_buffers;
            let end = (begin + part_buffers).min(buffers.len());
            for run in buffers[begin..end].iter().flat_map(|buffer| tail.runs_in(buffer, at)) {
                adjacency.ends(run.table).for_each_change(&run, number, |change| {
                    let shard = (u64::from(change.owner().get()) >> shift) as usize;
                    lists[shard.min(count - 1)].add(change);
                });
            }
        });
        shards.resize_with(count, ChangeList::default);
        let parts = &*parts;
        for_each(pool, shards, |shard, changes| {
            changes.clear();
            parts.iter().for_each(|lists| changes.append(&lists[shard]));
        });
    }

    /// Returns the heap bytes of the memory kept between calls.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.parts.iter().flatten().chain(&self.shards).map(ChangeList::bytes).sum()
    }
}

/// The input of a round: the runs of a tail up to a timestamp, with their number of entries.
#[derive(Clone, Copy)]
struct Moved<'t> {
    tail: &'t LogTail,
    at: CommitTimestamp,
    entries: usize,
}

/// Runs `work` on each item and its number, on the threads of the pool if there is one.
fn for_each<T: Send>(pool: Option<&ThreadPool>, items: &mut [T], work: impl Fn(usize, &mut T) + Sync) {
    match pool {
        Some(pool) => pool.install(|| {
            items.par_iter_mut().enumerate().for_each(|(number, item)| work(number, item));
        }),
        None => items.iter_mut().enumerate().for_each(|(number, item)| work(number, item)),
    }
}
