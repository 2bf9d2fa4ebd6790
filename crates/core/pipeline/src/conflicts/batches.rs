//! The items that large commits changed: one list per commit, sorted when a transaction first
//! searches it.

use hedgerow_model::CommitTimestamp;
use hedgerow_sync::atomic::{AtomicU64, Ordering};
use hedgerow_sync::{Arc, Mutex, OnceLock};

/// Maximum number of items of all batches together.
pub(super) const MOST_ITEMS: usize = if cfg!(hedgerow_shuttle) { 32 } else { 1 << 20 };

/// The batches that may matter to an open transaction.
#[derive(Default)]
pub(super) struct ConflictBatches {
    kept: Mutex<Kept>,
    /// The newest commit among all batches ever added.
    newest: AtomicU64,
}

#[derive(Default)]
struct Kept {
    batches: Vec<Arc<Batch>>,
    /// The number of items of all batches.
    items: usize,
}

impl Kept {
    fn drop_up_to(&mut self, oldest: CommitTimestamp) {
        self.batches.retain(|batch| batch.at > oldest);
        self.items = self.batches.iter().map(|batch| batch.count).sum();
    }
}

/// The items of a commit, by their hashes.
pub(super) struct Batch {
    at: CommitTimestamp,
    count: usize,
    /// Unsorted hashes, until they move to `sorted`.
    hashes: Mutex<Vec<u64>>,
    sorted: OnceLock<Vec<u64>>,
}

impl Batch {
    /// Returns true if an item has this hash. O(log items), the first time O(items · log items).
    pub(super) fn contains(&self, hash: u64) -> bool {
        let sorted = self.sorted.get_or_init(|| {
            let mut hashes = std::mem::take(&mut *self.hashes.lock());
            hashes.sort_unstable();
            hashes
        });
        sorted.binary_search(&hash).is_ok()
    }
}

impl ConflictBatches {
    /// Keeps the hashes of the items that the commit at `at` changed, and drops the batches at or
    /// before `oldest`. If the batches have too many items, notes the newest batch in `large`, and
    /// then drops all. O(batches).
    pub(super) fn add(
        &self,
        hashes: Vec<u64>,
        at: CommitTimestamp,
        oldest: CommitTimestamp,
        large: &AtomicU64,
    ) {
        let (count, hashes) = (hashes.len(), Mutex::new(hashes));
        let batch = Arc::new(Batch { at, count, hashes, sorted: OnceLock::new() });
        let mut kept = self.kept.lock();
        kept.drop_up_to(oldest);
        kept.batches.push(batch);
        kept.items += count;
        if kept.items > MOST_ITEMS {
            // Noted before the batches are dropped: a transaction that does not find them sees the
            // note.
            let newest = kept.batches.iter().map(|batch| batch.at.0).max();
            large.fetch_max(newest.unwrap_or_default(), Ordering::AcqRel);
            *kept = Kept::default();
        }
        self.newest.fetch_max(at.0, Ordering::AcqRel);
    }

    /// The batches after `began`. O(1) if there are none, else O(batches).
    pub(super) fn later_than(&self, began: CommitTimestamp) -> Vec<Arc<Batch>> {
        if self.newest.load(Ordering::Acquire) <= began.0 {
            return Vec::new();
        }
        self.kept.lock().batches.iter().filter(|batch| batch.at > began).cloned().collect()
    }

    pub(super) fn forget_up_to(&self, oldest: CommitTimestamp) {
        self.kept.lock().drop_up_to(oldest);
    }

    /// Heap bytes. O(1).
    pub(super) fn bytes(&self) -> usize {
        self.kept.lock().items * size_of::<u64>()
    }
}
