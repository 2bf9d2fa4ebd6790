//! A cache of parts of edge files, bounded by bytes.

use arc_swap::ArcSwap;
use hedgerow_model::{CacheUse, ReadError};
use hedgerow_sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use hedgerow_sync::{Arc, Mutex};
use quick_cache::Weighter;
use quick_cache::sync::Cache;

/// Approximate memory of an entry in addition to its bytes.
const ENTRY_BYTES: u64 = 64;

/// Approximate bytes of an entry, from which the cache chooses the sizes of its tables.
const USUAL_BYTES: usize = 8 << 10;

/// Number of steps in which the capacity changes, up to its maximum.
const LIMIT_STEPS: usize = 16;

/// A part of an edge file: a block, or the records of its edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CachedPart {
    /// The number of the edge file.
    pub(crate) file: u64,
    /// The number of the block in the file.
    pub(crate) block: usize,
    pub(crate) is_records: bool,
}

type Parts = Cache<CachedPart, Arc<[u8]>, ByBytes>;

/// Parts of edge files in memory that are read often. Numbers of files are never used twice, and
/// files never change, so nothing in the cache is out of date.
#[derive(Debug)]
pub(crate) struct BlockCache {
    /// `None` if the cache may take no memory.
    parts: Option<ArcSwap<Parts>>,
    most_bytes: usize,
    /// Bytes that the cache may take now.
    capacity: AtomicUsize,
    /// Hits in the caches that preceded `parts`.
    hits_before: Mutex<u64>,
    misses: AtomicU64,
}

#[derive(Clone, Debug)]
struct ByBytes;

impl Weighter<CachedPart, Arc<[u8]>> for ByBytes {
    fn weight(&self, _: &CachedPart, bytes: &Arc<[u8]>) -> u64 {
        bytes.len() as u64 + ENTRY_BYTES
    }
}

impl BlockCache {
    /// Creates a cache of up to about `bytes` bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        let parts = (bytes > 0).then(|| ArcSwap::from_pointee(parts_of(bytes)));
        BlockCache {
            parts,
            most_bytes: bytes,
            capacity: AtomicUsize::new(bytes),
            hits_before: Mutex::default(),
            misses: AtomicU64::new(0),
        }
    }

    /// Returns a part of a file, which `read` reads if it is not in the cache. Threads that ask for
    /// a part at the same time read it once. O(1) if the part is in the cache.
    ///
    /// # Errors
    /// `read` failed. The part is not in the cache then.
    pub(crate) fn get_or_read(
        &self,
        part: CachedPart,
        read: impl FnOnce() -> Result<Arc<[u8]>, ReadError>,
    ) -> Result<Arc<[u8]>, ReadError> {
        let read = || {
            self.misses.fetch_add(1, Ordering::Relaxed);
            read()
        };
        match &self.parts {
            Some(parts) => parts.load().get_or_insert_with(&part, read),
            None => read(),
        }
    }

    /// Returns true if a part is in the cache. O(1).
    pub(crate) fn contains(&self, part: CachedPart) -> bool {
        self.parts.as_ref().is_some_and(|parts| parts.load().contains_key(&part))
    }

    /// Returns the bytes that the cache may take. O(1).
    pub(crate) fn capacity(&self) -> u64 {
        self.capacity.load(Ordering::Relaxed) as u64
    }

    /// Changes the bytes that the cache may take, up to the maximum of [`BlockCache::new`]. Without
    /// effect if that is 0. O(1) if the bytes stay about the same, else O(parts).
    ///
    /// Makes a new cache: the library can resize in place, but each time forgets more about the
    /// earlier use of parts, until frequently read parts no longer replace parts that were read
    /// often before.
    pub(crate) fn limit(&self, bytes: usize) {
        let Some(parts) = &self.parts else { return };
        let step = self.most_bytes.div_ceil(LIMIT_STEPS);
        let bytes = if bytes < self.most_bytes { (bytes / step * step).max(step) } else { self.most_bytes };
        let mut hits_before = self.hits_before.lock();
        if self.capacity.swap(bytes, Ordering::Relaxed) == bytes {
            return;
        }
        let (before, after) = (parts.load_full(), parts_of(bytes));
        before.iter().for_each(|(part, bytes)| after.insert(part, bytes));
        parts.store(Arc::new(after));
        *hits_before += before.hits();
    }

    /// Returns the numbers of hits and of reads of parts. O(1).
    pub(crate) fn usage(&self) -> CacheUse {
        // The library counts misses twice.
        let (before, misses) = (self.hits_before.lock(), self.misses.load(Ordering::Relaxed));
        let hits = self.parts.as_ref().map_or(0, |parts| parts.load().hits());
        CacheUse { hits: *before + hits, misses }
    }

    /// Returns the bytes in the cache. O(1).
    pub(crate) fn bytes(&self) -> usize {
        self.parts.as_ref().map_or(0, |parts| parts.load().weight() as usize)
    }
}

/// Creates an empty cache with room for about `bytes` bytes.
fn parts_of(bytes: usize) -> Parts {
    Cache::with_weighter(bytes / USUAL_BYTES + 1, bytes as u64, ByBytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_keeps_what_is_read_again_within_its_bytes() {
        let cache = BlockCache::new(100_000);
        let mut reads = 0;
        let mut read = |block: usize| {
            let part = CachedPart { file: 1, block, is_records: false };
            let bytes = cache.get_or_read(part, || {
                reads += 1;
                Ok(vec![block as u8; 1000].into())
            });
            assert_eq!(*bytes.unwrap(), vec![block as u8; 1000]);
        };
        (0..10).for_each(|_| (0..50).for_each(&mut read));
        (50..1000).for_each(&mut read);
        assert_eq!(reads, 1000);
        assert!((50_000..=100_000).contains(&cache.bytes()), "{}", cache.bytes());
        let part = |block| CachedPart { file: 1, block, is_records: false };
        assert!((0..50).any(|block| cache.contains(part(block))) && !cache.contains(part(1000)));
        cache.limit(20_000);
        assert!((10_000..=20_000).contains(&cache.capacity()), "{}", cache.capacity());
        assert!(cache.bytes() <= 20_000, "{}", cache.bytes());
        let used = cache.usage();
        assert!(used.hits + used.misses == 1450 && used.misses == 1000, "{used:?}");
    }

    /// Independent of the parts read often before, and of the number of changes of the limit.
    #[test]
    fn it_learns_what_is_read_often_after_many_changes_of_its_limit() {
        let cache = BlockCache::new(100 * USUAL_BYTES);
        let read = |block: usize| {
            let part = CachedPart { file: 1, block, is_records: false };
            cache.get_or_read(part, || Ok(vec![0; USUAL_BYTES].into())).unwrap();
        };
        (0..20).for_each(|_| (0..200).for_each(read));
        (0..1_000).for_each(|round| cache.limit((100 - round % 2 * 10) * USUAL_BYTES));
        (0..100).for_each(|_| (1_000..1_020).for_each(read));
        let before = cache.usage().hits;
        (1_000..1_020).for_each(read);
        assert!(cache.usage().hits >= before + 15, "{} of 20 are in the cache", cache.usage().hits - before);
    }

    #[test]
    fn an_error_is_not_kept() {
        let (cache, part) = (BlockCache::new(1000), CachedPart { file: 1, block: 0, is_records: true });
        let failed = cache.get_or_read(part, || Err(ReadError::new("a file", "it is lost")));
        assert_eq!(failed.unwrap_err().place(), "a file");
        assert_eq!(*cache.get_or_read(part, || Ok(vec![1].into())).unwrap(), [1]);
    }

    #[test]
    fn without_memory_everything_is_read_again() {
        let cache = BlockCache::new(0);
        let part = CachedPart { file: 1, block: 0, is_records: false };
        for byte in 0..3 {
            assert_eq!(*cache.get_or_read(part, || Ok(vec![byte].into())).unwrap(), [byte]);
        }
        assert_eq!(cache.bytes(), 0);
    }
}
