//! The key of one vertex id.

use arc_swap::ArcSwapOption;
use hedgerow_sync::Arc;
use hedgerow_sync::atomic::{AtomicU64, Ordering};

/// A place for the key of one vertex id. Empty until the id is first assigned; overwritten when it is reused.
pub(crate) trait Slot: Default + Send + Sync {
    /// What it holds.
    type Key;

    /// Puts a key in.
    fn store(&self, key: &Self::Key);

    /// Takes the key out again.
    fn clear(&self);

    /// Bytes on the heap of a slot whose key has `of_key` bytes there by itself.
    fn heap_bytes(of_key: usize) -> usize;

    /// The key last put in; of a slot that nobody stored to, whatever its default is.
    fn load(&self) -> Self::Key;
}

/// A number in its slot.
#[derive(Default)]
pub(crate) struct NumberSlot(AtomicU64);

impl Slot for NumberSlot {
    type Key = u64;

    #[inline]
    fn store(&self, key: &u64) {
        self.0.store(*key, Ordering::Release);
    }

    fn clear(&self) {}

    fn heap_bytes(_: usize) -> usize {
        0
    }

    #[inline]
    fn load(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

/// A text in its slot.
#[derive(Default)]
pub(crate) struct TextSlot(ArcSwapOption<Box<str>>);

impl Slot for TextSlot {
    type Key = Box<str>;

    fn store(&self, key: &Box<str>) {
        self.0.store(Some(Arc::new(key.clone())));
    }

    fn clear(&self) {
        self.0.store(None);
    }

    fn heap_bytes(of_key: usize) -> usize {
        // Two counts lie beside the pointer.
        size_of::<[usize; 2]>() + size_of::<Box<str>>() + of_key
    }

    fn load(&self) -> Box<str> {
        self.0.load().as_deref().cloned().unwrap_or_default()
    }
}
