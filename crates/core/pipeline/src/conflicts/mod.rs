//! The items that recent commits changed, for interactive transactions that began before them.

mod batches;

use batches::{Batch, ConflictBatches};
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use hedgerow_model::{CommitTimestamp, LabelId, VertexId};
use hedgerow_sync::atomic::{AtomicU64, Ordering};
use hedgerow_sync::{Arc, Mutex};
use std::hash::BuildHasher;

/// An item that a transaction can read or write, at the granularity of conflicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Touched {
    /// An edge, by its canonical endpoints.
    Edge(LabelId, VertexId, VertexId),
    /// All edges of a vertex: every label, both directions.
    Neighbors(VertexId),
    /// The record of a vertex.
    Record(VertexId),
    /// A key got a vertex; by the key's hash.
    Created(u64),
    /// A key lost its vertex; by the key's hash.
    Deleted(u64),
}

impl Touched {
    fn hash(&self) -> u64 {
        FixedState::default().hash_one(self)
    }
}

/// The newest commit that changed each item, for all commits that may matter to an open
/// transaction.
///
/// Commits record here only while interactive transactions are open, so that blind and bulk writers
/// pay nothing otherwise.
pub(crate) struct ConflictTable {
    shards: [Mutex<Shard>; SHARDS],
    /// Commits of many items, which are not in the shards.
    batches: ConflictBatches,
    /// The newest commit that was too large to record its items.
    large: AtomicU64,
}

#[derive(Default)]
struct Shard {
    newest: HashMap<Touched, CommitTimestamp, FixedState>,
    /// Entries left after the last cleanup; the next cleanup is due at twice this number.
    kept: usize,
}

const SHARDS: usize = 16;

/// Commits of more changes than this conflict with every transaction that began before them.
const LARGE_COMMIT: usize = 1 << 16;

/// Commits of at least this many changes are kept as lists: most lists are never searched.
const BATCH: usize = if cfg!(hedgerow_shuttle) { 4 } else { 1 << 12 };

/// Maximum number of items that a change touches.
const MOST_TOUCHED: usize = 3;

/// Maximum entries of a shard. A larger shard is dropped, and every open transaction conflicts.
const LARGEST_SHARD: usize = 1 << 16;

/// A shard with fewer entries is not cleaned up. Small, so that entries that no transaction needs
/// take little cache.
const SMALL_SHARD: usize = 64;

impl ConflictTable {
    pub fn new() -> Self {
        let shards = std::array::from_fn(|_| Mutex::default());
        ConflictTable { shards, batches: ConflictBatches::default(), large: AtomicU64::new(0) }
    }

    /// Records the items that the commit at `at` touched with a number of changes. The caller still
    /// holds its locks, or appends. Commits that append come in any order.
    ///
    /// Entries at or before `oldest_interactive()` may be dropped, because no transaction needs
    /// them.
    pub(crate) fn record(
        &self,
        touched: impl Iterator<Item = Touched>,
        changes: usize,
        at: CommitTimestamp,
        oldest_interactive: impl Fn() -> CommitTimestamp,
    ) {
        if changes > LARGE_COMMIT {
            self.record_large(at);
        } else if changes < BATCH {
            touched.for_each(|touched| self.record_one(touched, at, &oldest_interactive));
        } else {
            let mut hashes = Vec::with_capacity(MOST_TOUCHED * changes);
            hashes.extend(touched.map(|touched| touched.hash()));
            self.batches.add(hashes, at, oldest_interactive(), &self.large);
        }
    }

    fn record_one(
        &self,
        touched: Touched,
        at: CommitTimestamp,
        oldest_interactive: impl FnOnce() -> CommitTimestamp,
    ) {
        let mut shard = self.shard(touched.hash()).lock();
        let newest = shard.newest.entry(touched).or_insert(at);
        *newest = at.max(*newest);
        if shard.newest.len() > SMALL_SHARD.max(2 * shard.kept) {
            let oldest = oldest_interactive();
            shard.newest.retain(|_, newest| *newest > oldest);
            shard.kept = shard.newest.len();
            let room = 2 * shard.kept.max(SMALL_SHARD);
            shard.newest.shrink_to(room);
        }
        if shard.newest.len() > LARGEST_SHARD {
            // A transaction has been open for very long: from now on it conflicts with everything.
            // It sees this note if it does not find a dropped entry.
            shard.newest.values().for_each(|newest| self.record_large(*newest));
            *shard = Shard::default();
        }
    }

    /// Records that the commit at `at` changed too much to record its items.
    fn record_large(&self, at: CommitTimestamp) {
        self.large.fetch_max(at.0, Ordering::AcqRel);
    }

    /// The changes of commits after `began`. The caller holds locks that cover all items to look
    /// up.
    pub(crate) fn since(&self, began: CommitTimestamp) -> ChangedSince<'_> {
        ChangedSince { table: self, began, batches: self.batches.later_than(began) }
    }

    /// Drops the commits at or before `oldest_interactive`, which no transaction needs.
    pub(crate) fn forget_up_to(&self, oldest_interactive: CommitTimestamp) {
        self.batches.forget_up_to(oldest_interactive);
        for shard in &self.shards {
            let mut shard = shard.lock();
            shard.newest.retain(|_, newest| *newest > oldest_interactive);
            shard.newest.shrink_to_fit();
            shard.kept = shard.newest.len();
        }
    }

    /// Heap bytes.
    pub(crate) fn bytes(&self) -> usize {
        let entry = size_of::<(Touched, CommitTimestamp)>() + 1;
        let in_shards: usize = self.shards.iter().map(|shard| shard.lock().newest.capacity() * entry).sum();
        in_shards + self.batches.bytes()
    }

    fn shard(&self, hash: u64) -> &Mutex<Shard> {
        // The map itself uses the highest bits.
        &self.shards[(hash >> 32) as usize % SHARDS]
    }
}

/// The changes of commits after a timestamp.
pub(crate) struct ChangedSince<'t> {
    table: &'t ConflictTable,
    began: CommitTimestamp,
    batches: Vec<Arc<Batch>>,
}

impl ChangedSince<'_> {
    /// Returns true if one of the commits changed `touched`. O(later commits of many changes · log
    /// changes).
    pub(crate) fn contains(&self, touched: &Touched) -> bool {
        let ChangedSince { table, began, batches } = self;
        let hash = touched.hash();
        let is_listed = batches.iter().any(|batch| batch.contains(hash));
        let is_newer = |newest: &CommitTimestamp| newest > began;
        is_listed
            || table.shard(hash).lock().newest.get(touched).is_some_and(is_newer)
            // Checked last: entries dropped from the others are noted here first.
            || table.large.load(Ordering::Acquire) > began.0
    }
}

#[cfg(test)]
mod tests {
    use super::batches::MOST_ITEMS;
    use super::*;

    #[test]
    fn only_later_commits_conflict_and_old_ones_are_forgotten() {
        let table = ConflictTable::new();
        let vertex = |id| Touched::Neighbors(VertexId::new(id));
        let changed = |id, since| table.since(CommitTimestamp(since)).contains(&vertex(id));
        table.record_one(vertex(1), CommitTimestamp(5), || CommitTimestamp(0));
        assert!(changed(1, 4));
        assert!(!changed(1, 5));
        assert!(!changed(2, 0));
        table.record_one(vertex(1), CommitTimestamp(4), || CommitTimestamp(0));
        assert!(changed(1, 4), "a later commit was recorded first");
        for id in 0..200_000 {
            let at = CommitTimestamp(10 + u64::from(id));
            table.record_one(vertex(id), at, || CommitTimestamp(u64::from(id)));
        }
        let entries: usize = table.shards.iter().map(|shard| shard.lock().newest.len()).sum();
        assert!(entries <= SHARDS * (SMALL_SHARD + 2));
        assert!(changed(199_999, 200_000));
        assert!(table.bytes() < SHARDS * SMALL_SHARD * 200);
        table.forget_up_to(CommitTimestamp(200_008));
        assert!(changed(199_999, 200_008), "it is of commit 200,009");
        table.forget_up_to(CommitTimestamp(200_009));
        assert_eq!(table.bytes(), 0);
        table.record_large(CommitTimestamp(300_000));
        assert!(changed(2, 299_999));
    }

    #[test]
    fn commits_of_many_changes_are_kept_as_lists_until_they_are_too_many() {
        let table = ConflictTable::new();
        let vertices = |from: u32| (from..).map(|id| Touched::Neighbors(VertexId::new(id)));
        let commit = |from, at, oldest| {
            let touched = vertices(from).take(2 * BATCH);
            table.record(touched, BATCH, CommitTimestamp(at), || CommitTimestamp(oldest));
        };
        let changed =
            |id, since| table.since(CommitTimestamp(since)).contains(&Touched::Neighbors(VertexId::new(id)));
        let bytes = 2 * BATCH * size_of::<u64>();
        commit(0, 5, 0);
        commit(1, 6, 0);
        assert_eq!(table.bytes(), 2 * bytes);
        assert!(changed(0, 4) && !changed(0, 5) && changed(1, 5) && !changed(1, 6));
        let end = 2 * BATCH as u32;
        assert!(changed(end, 4) && !changed(end + 1, 4));
        commit(2, 7, 6);
        assert_eq!(table.bytes(), bytes, "nothing asks about commits up to 6");
        table.forget_up_to(CommitTimestamp(7));
        assert_eq!(table.bytes(), 0);
        let last = 9 + (MOST_ITEMS / (2 * BATCH)) as u64;
        (10..=last).for_each(|at| commit(0, at, 0));
        assert!(!changed(end + 9, 9));
        commit(0, last + 1, 0);
        assert!(changed(end + 9, last) && !changed(end + 9, last + 1), "there were too many to keep");
        assert_eq!(table.bytes(), 0);
    }
}
