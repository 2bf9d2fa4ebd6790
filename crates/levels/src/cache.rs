//! A cache of what was read of edge files, bounded by bytes.

use hedgerow_model::{CacheUse, ReadError};
use hedgerow_sync::Arc;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

/// About the memory that an entry takes beside its bytes.
const ENTRY_BYTES: u64 = 64;

/// About the bytes of an entry, from which the cache chooses the sizes of its tables.
const USUAL_BYTES: usize = 8 << 10;

/// What was read: a block, or the records of its edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CachedPart {
    /// The number of the edge file.
    pub(crate) file: u64,
    /// The number of the block in the file.
    pub(crate) block: usize,
    pub(crate) is_records: bool,
}

/// Parts of edge files in memory, those that are read often. Files have numbers that are never used
/// twice and never change, so that nothing in the cache is out of date.
#[derive(Debug)]
pub(crate) struct BlockCache {
    /// `None` if it may take no memory.
    parts: Option<Cache<CachedPart, Arc<[u8]>, ByBytes>>,
}

#[derive(Clone, Debug)]
struct ByBytes;

impl Weighter<CachedPart, Arc<[u8]>> for ByBytes {
    fn weight(&self, _: &CachedPart, bytes: &Arc<[u8]>) -> u64 {
        bytes.len() as u64 + ENTRY_BYTES
    }
}

impl BlockCache {
    /// A cache of up to about `bytes` bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        let parts = (bytes > 0).then(|| Cache::with_weighter(bytes / USUAL_BYTES + 1, bytes as u64, ByBytes));
        BlockCache { parts }
    }

    /// A part of a file, which `read` reads if it is not in the cache. Threads that ask for the same
    /// part at the same time read it once. O(1) if it is there.
    ///
    /// # Errors
    /// What `read` returns. Then the part is not in the cache.
    pub(crate) fn get_or_read(
        &self,
        part: CachedPart,
        read: impl FnOnce() -> Result<Arc<[u8]>, ReadError>,
    ) -> Result<Arc<[u8]>, ReadError> {
        match &self.parts {
            Some(parts) => parts.get_or_insert_with(&part, read),
            None => read(),
        }
    }

    /// Whether a part is in the cache. O(1).
    pub(crate) fn contains(&self, part: CachedPart) -> bool {
        self.parts.as_ref().is_some_and(|parts| parts.contains_key(&part))
    }

    /// The bytes that it may take. O(1).
    pub(crate) fn capacity(&self) -> u64 {
        self.parts.as_ref().map_or(0, Cache::capacity)
    }

    /// Changes the bytes that it may take, unless that is none.
    pub(crate) fn limit(&self, bytes: usize) {
        if let Some(parts) = &self.parts {
            parts.set_capacity(bytes as u64);
        }
    }

    /// How often a part was in the cache, and how often it was read. O(1).
    pub(crate) fn usage(&self) -> CacheUse {
        let parts = self.parts.as_ref();
        parts.map_or(CacheUse::default(), |parts| CacheUse { hits: parts.hits(), misses: parts.misses() })
    }

    /// Bytes in the cache. O(1).
    pub(crate) fn bytes(&self) -> usize {
        self.parts.as_ref().map_or(0, |parts| parts.weight() as usize)
    }
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
        assert_eq!(cache.capacity(), 20_000);
        assert!(cache.bytes() <= 20_000, "{}", cache.bytes());
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
