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

    /// The key last put in; of a slot that nobody stored to, whatever its default is.
    fn load(&self) -> Self::Key;
}

/// A number in its slot.
#[derive(Default)]
pub(crate) struct NumberSlot(AtomicU64);

impl Slot for NumberSlot {
    type Key = u64;

    fn store(&self, key: &u64) {
        self.0.store(*key, Ordering::Release);
    }

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

    fn load(&self) -> Box<str> {
        self.0.load().as_deref().cloned().unwrap_or_default()
    }
}
