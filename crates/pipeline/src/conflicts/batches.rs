//! What commits of many items changed: one list for each commit, which is put into order when a transaction asks first.

use hedgerow_model::CommitTimestamp;
use hedgerow_sync::atomic::{AtomicU64, Ordering};
use hedgerow_sync::{Arc, Mutex};

/// Items of all batches together, at most.
const MOST_ITEMS: usize = 1 << 20;

/// The batches that an open transaction may ask about.
#[derive(Default)]
pub(super) struct Batches {
    kept: Mutex<Vec<Arc<Batch>>>,
    /// The newest commit among all batches that ever were.
    newest: AtomicU64,
}

/// The items of a commit, by their hashes.
struct Batch {
    at: CommitTimestamp,
    items: Mutex<Items>,
}

#[derive(Default)]
struct Items {
    hashes: Vec<u64>,
    are_sorted: bool,
}

impl Batch {
    /// Whether an item has this hash. O(log n), the first time O(n log n).
    fn contains(&self, hash: u64) -> bool {
        let mut items = self.items.lock();
        if !items.are_sorted {
            items.hashes.sort_unstable();
            items.are_sorted = true;
        }
        items.hashes.binary_search(&hash).is_ok()
    }

    fn len(&self) -> usize {
        self.items.lock().hashes.len()
    }
}

impl Batches {
    /// Keeps the hashes of what the commit at `at` changed, and drops the batches at or before `oldest`. Returns whether there was room:
    /// if not, all batches are dropped. O(batches).
    #[must_use]
    pub(super) fn add(&self, hashes: Vec<u64>, at: CommitTimestamp, oldest: CommitTimestamp) -> bool {
        let items = Mutex::new(Items { hashes, are_sorted: false });
        let mut kept = self.kept.lock();
        kept.retain(|batch| batch.at > oldest);
        kept.push(Arc::new(Batch { at, items }));
        let has_room = kept.iter().map(|batch| batch.len()).sum::<usize>() <= MOST_ITEMS;
        if !has_room {
            kept.clear();
        }
        self.newest.fetch_max(at.0, Ordering::AcqRel);
        has_room
    }

    /// Whether a batch after `began` has an item of this hash. O(1) if there is no such batch, else O(batches · log items), the first
    /// time O(n log n).
    pub(super) fn changed_since(&self, hash: u64, began: CommitTimestamp) -> bool {
        if self.newest.load(Ordering::Acquire) <= began.0 {
            return false;
        }
        let later: Vec<_> = self.kept.lock().iter().filter(|batch| batch.at > began).cloned().collect();
        // Without the lock that commits wait for.
        later.iter().any(|batch| batch.contains(hash))
    }

    pub(super) fn forget_up_to(&self, oldest: CommitTimestamp) {
        self.kept.lock().retain(|batch| batch.at > oldest);
    }

    /// Heap bytes.
    pub(super) fn bytes(&self) -> usize {
        self.kept.lock().iter().map(|batch| batch.len() * size_of::<u64>()).sum()
    }
}
