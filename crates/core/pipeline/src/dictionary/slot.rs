//! Slots for the keys of vertex ids.

use crate::dictionary::map::DictionaryKey;
use arc_swap::ArcSwapOption;
use hedgerow_sync::Arc;
use hedgerow_sync::atomic::{AtomicU64, Ordering};

/// A slot for the key of one vertex id. Empty until the id is first assigned; overwritten when the
/// id is reused.
pub(crate) trait KeySlot: Default + Send + Sync {
    /// The type of the key.
    type Key: DictionaryKey;

    /// Stores a key.
    fn store(&self, key: Self::Key);

    /// Removes the key.
    fn clear(&self);

    /// Heap bytes of a slot whose key has `of_key` heap bytes.
    fn heap_bytes(of_key: usize) -> usize;

    /// Returns the last stored key; the default if there was none.
    fn load(&self) -> Self::Key;

    /// Returns true if this key was stored last.
    fn holds(&self, key: &<Self::Key as DictionaryKey>::Borrowed) -> bool;
}

/// A slot for a number.
#[derive(Default)]
pub(crate) struct NumberSlot(AtomicU64);

impl KeySlot for NumberSlot {
    type Key = u64;

    #[inline]
    fn store(&self, key: u64) {
        self.0.store(key, Ordering::Release);
    }

    fn clear(&self) {}

    fn heap_bytes(_: usize) -> usize {
        0
    }

    #[inline]
    fn load(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    #[inline]
    fn holds(&self, key: &u64) -> bool {
        self.load() == *key
    }
}

/// A slot for text.
#[derive(Default)]
pub(crate) struct TextSlot(ArcSwapOption<Box<str>>);

impl KeySlot for TextSlot {
    type Key = Box<str>;

    fn store(&self, key: Box<str>) {
        self.0.store(Some(Arc::new(key)));
    }

    fn clear(&self) {
        self.0.store(None);
    }

    fn heap_bytes(of_key: usize) -> usize {
        // Two reference counts are stored with the pointer.
        size_of::<[usize; 2]>() + size_of::<Box<str>>() + of_key
    }

    fn load(&self) -> Box<str> {
        self.0.load().as_deref().cloned().unwrap_or_default()
    }

    fn holds(&self, key: &str) -> bool {
        self.0.load().as_deref().is_some_and(|held| **held == *key)
    }
}
