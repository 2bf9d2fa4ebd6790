//! The key of each vertex id: an array that grows without moving.

use arc_swap::ArcSwapOption;
use hedgerow_sync::atomic::{AtomicU64, Ordering};
use hedgerow_sync::{Arc, OnceLock};

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

/// Slots in segments of doubling size, so that a slot never moves and readers need no lock.
pub(crate) struct Slots<S> {
    segments: [OnceLock<Box<[S]>>; SEGMENTS],
}

/// The first segment has 2^10 slots, each later one as many as all before it together.
const FIRST_BITS: u32 = 10;
const SEGMENTS: usize = (u32::BITS - FIRST_BITS + 1) as usize;

impl<S: Slot> Slots<S> {
    pub(crate) fn new() -> Self {
        Slots { segments: std::array::from_fn(|_| OnceLock::new()) }
    }

    /// The slot of `id`, with its segment allocated. O(1).
    pub(crate) fn get_or_allocate(&self, id: u32) -> &S {
        let (segment, offset, length) = place(id);
        let slots = self.segments[segment].get_or_init(|| (0..length).map(|_| S::default()).collect());
        &slots[offset]
    }

    /// The slot of `id`, if its segment was allocated. O(1).
    pub(crate) fn get(&self, id: u32) -> Option<&S> {
        let (segment, offset, _) = place(id);
        self.segments[segment].get().map(|slots| &slots[offset])
    }

    /// Bytes of the segments allocated so far.
    pub(crate) fn bytes(&self) -> usize {
        let allocated = self.segments.iter().filter_map(OnceLock::get);
        allocated.map(|slots| std::mem::size_of_val::<[S]>(slots)).sum()
    }
}

/// The segment of an id, its offset in there, and the segment's length.
fn place(id: u32) -> (usize, usize, usize) {
    let bits = u32::BITS - (id >> FIRST_BITS).leading_zeros();
    let segment = bits as usize;
    let start = if segment == 0 { 0 } else { 1usize << (FIRST_BITS + bits - 1) };
    let length = start.max(1 << FIRST_BITS);
    (segment, id as usize - start, length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_has_a_place_of_its_own_within_its_segment() {
        let mut expected = (0, 0);
        for id in 0..100_000 {
            let (segment, offset, length) = place(id);
            assert!(offset < length, "{id}");
            if (segment, offset) != expected {
                assert_eq!((segment, offset), (expected.0 + 1, 0), "{id}");
                expected = (segment, offset);
            }
            expected.1 += 1;
        }
        let (segment, offset, length) = place(u32::MAX - 1);
        assert!(segment < SEGMENTS && offset == length - 2);
    }

    #[test]
    fn slots_keep_what_was_stored_last() {
        let slots: Slots<TextSlot> = Slots::new();
        assert!(slots.get(5000).is_none());
        slots.get_or_allocate(5000).store(&"first".into());
        slots.get_or_allocate(5000).store(&"second".into());
        assert_eq!(&*slots.get(5000).unwrap().load(), "second");
    }
}
