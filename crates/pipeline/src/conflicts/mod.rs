//! What recent commits changed, for the interactive transactions that began before them.

mod batches;

use batches::Batches;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use hedgerow_model::{CommitTimestamp, LabelId, VertexId};
use hedgerow_sync::Mutex;
use hedgerow_sync::atomic::{AtomicU64, Ordering};
use std::hash::BuildHasher;

/// What a transaction can read or write, at the granularity of conflicts.
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

/// The newest commit that changed each item, for all commits that an open transaction may ask
/// about.
///
/// Commits record here only while interactive transactions are open, so that blind and bulk
/// writers pay nothing otherwise.
pub(crate) struct ConflictTable {
    shards: [Mutex<Shard>; SHARDS],
    /// Commits of many items, which are not in the shards.
    batches: Batches,
    /// The newest commit that was too large to record its items.
    large: AtomicU64,
}

#[derive(Default)]
struct Shard {
    newest: HashMap<Touched, CommitTimestamp, FixedState>,
    /// Entries left after the last cleanup; the next one is due at twice as many.
    kept: usize,
}

const SHARDS: usize = 16;

/// Commits of more changes than this conflict with every transaction that began before them.
const LARGE_COMMIT: usize = 1 << 16;

/// Commits of at least this many changes are kept as a list: most of them are never asked about.
const BATCH: usize = 1 << 12;

/// Maximum entries of a shard. Above that it is dropped, and every open transaction conflicts.
const LARGEST_SHARD: usize = 1 << 16;

/// A shard with fewer entries is not cleaned up. Small, so that entries no transaction needs take
/// little cache.
const SMALL_SHARD: usize = 64;

impl ConflictTable {
    pub fn new() -> Self {
        let shards = std::array::from_fn(|_| Mutex::default());
        ConflictTable { shards, batches: Batches::default(), large: AtomicU64::new(0) }
    }

    /// Records what the commit at `at` touched with a number of changes. The caller still holds its locks.
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
            return self.record_large(at);
        }
        if changes < BATCH {
            return { touched }.for_each(|touched| self.record_one(touched, at, &oldest_interactive));
        }
        let hashes = touched.map(|touched| touched.hash()).collect();
        if !self.batches.add(hashes, at, oldest_interactive()) {
            self.record_large(at);
        }
    }

    fn record_one(
        &self,
        touched: Touched,
        at: CommitTimestamp,
        oldest_interactive: impl FnOnce() -> CommitTimestamp,
    ) {
        let mut shard = self.shard(&touched).lock();
        shard.newest.insert(touched, at);
        if shard.newest.len() > SMALL_SHARD.max(2 * shard.kept) {
            let oldest = oldest_interactive();
            shard.newest.retain(|_, newest| *newest > oldest);
            shard.kept = shard.newest.len();
            let room = 2 * shard.kept.max(SMALL_SHARD);
            shard.newest.shrink_to(room);
        }
        if shard.newest.len() > LARGEST_SHARD {
            // A transaction has been open for very long: from now on it conflicts with everything.
            *shard = Shard::default();
            drop(shard);
            self.record_large(at);
        }
    }

    /// Records that the commit at `at` changed too much to record its items.
    fn record_large(&self, at: CommitTimestamp) {
        self.large.fetch_max(at.0, Ordering::AcqRel);
    }

    /// Whether a commit after `began` changed `touched`. The caller holds the locks that cover it.
    pub(crate) fn changed_since(&self, touched: &Touched, began: CommitTimestamp) -> bool {
        if self.large.load(Ordering::Acquire) > began.0 {
            return true;
        }
        if self.batches.changed_since(touched.hash(), began) {
            return true;
        }
        let shard = self.shard(touched).lock();
        shard.newest.get(touched).is_some_and(|newest| *newest > began)
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

    fn shard(&self, touched: &Touched) -> &Mutex<Shard> {
        // The map itself uses the highest bits.
        &self.shards[(touched.hash() >> 32) as usize % SHARDS]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_later_commits_conflict_and_old_ones_are_forgotten() {
        let table = ConflictTable::new();
        let vertex = |id| Touched::Neighbors(VertexId::new(id));
        table.record_one(vertex(1), CommitTimestamp(5), || CommitTimestamp(0));
        assert!(table.changed_since(&vertex(1), CommitTimestamp(4)));
        assert!(!table.changed_since(&vertex(1), CommitTimestamp(5)));
        assert!(!table.changed_since(&vertex(2), CommitTimestamp(0)));
        for id in 0..200_000 {
            let at = CommitTimestamp(10 + u64::from(id));
            table.record_one(vertex(id), at, || CommitTimestamp(u64::from(id)));
        }
        let entries: usize = table.shards.iter().map(|shard| shard.lock().newest.len()).sum();
        assert!(entries <= SHARDS * (SMALL_SHARD + 2));
        assert!(table.changed_since(&vertex(199_999), CommitTimestamp(200_000)));
        assert!(table.bytes() < SHARDS * SMALL_SHARD * 200);
        table.forget_up_to(CommitTimestamp(200_008));
        assert!(table.changed_since(&vertex(199_999), CommitTimestamp(200_008)), "it is of commit 200,009");
        table.forget_up_to(CommitTimestamp(200_009));
        assert_eq!(table.bytes(), 0);
        table.record_large(CommitTimestamp(300_000));
        assert!(table.changed_since(&vertex(2), CommitTimestamp(299_999)));
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
            |id, since| table.changed_since(&Touched::Neighbors(VertexId::new(id)), CommitTimestamp(since));
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
        let last = 9 + (1 << 20) / (2 * BATCH) as u64;
        (10..=last).for_each(|at| commit(0, at, 0));
        assert!(!changed(end + 9, 9));
        commit(0, last + 1, 0);
        assert!(changed(end + 9, last) && !changed(end + 9, last + 1), "there were too many to keep");
        assert_eq!(table.bytes(), 0);
    }
}
