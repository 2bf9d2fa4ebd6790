//! A value per vertex id: an array that grows without moving.

use hedgerow_sync::atomic::{AtomicUsize, Ordering};
use hedgerow_sync::{OnceLock, prefetch};

/// Slots in chunks that are allocated at the first store, so that a slot never moves, readers need
/// no lock, and unused ids take almost no memory. Chunks are in groups, and groups in segments of
/// doubling size.
pub(crate) struct Slots<S> {
    segments: [OnceLock<Box<[ChunkGroup<S>]>>; SEGMENTS],
    bytes: AtomicUsize,
}

type ChunkGroup<S> = OnceLock<Box<[Chunk<S>]>>;
type Chunk<S> = OnceLock<Box<[S]>>;

const CHUNK_BITS: u32 = 10;
const CHUNK_SLOTS: usize = 1 << CHUNK_BITS;

const GROUP_BITS: u32 = 8;
const GROUP_CHUNKS: usize = 1 << GROUP_BITS;

/// The first segment has one group; each later segment is as large as all earlier ones together.
const SEGMENTS: usize = (u32::BITS - CHUNK_BITS - GROUP_BITS + 1) as usize;

impl<S: Default> Slots<S> {
    pub(crate) fn new() -> Self {
        Slots { segments: std::array::from_fn(|_| OnceLock::new()), bytes: AtomicUsize::new(0) }
    }

    /// Returns the slot of `id`. Allocates its chunk if needed. O(1).
    pub(crate) fn get_or_allocate(&self, id: u32) -> &S {
        let (place, mut made) = (SlotLocation::of(id), 0);
        let groups =
            self.segments[place.segment].get_or_init(|| allocated(place.groups_of_segment(), &mut made));
        let chunks = groups[place.group].get_or_init(|| allocated(GROUP_CHUNKS, &mut made));
        let slots = chunks[place.chunk].get_or_init(|| allocated(CHUNK_SLOTS, &mut made));
        if made > 0 {
            self.bytes.fetch_add(made, Ordering::Relaxed);
        }
        &slots[place.slot]
    }

    /// Returns the slot of `id`, if its chunk is allocated. O(1).
    #[inline]
    pub(crate) fn get(&self, id: u32) -> Option<&S> {
        let place = SlotLocation::of(id);
        let chunks = self.segments[place.segment].get()?[place.group].get()?;
        Some(&chunks[place.chunk].get()?[place.slot])
    }

    /// Prefetches the slot of `id`.
    #[inline]
    pub(crate) fn prefetch(&self, id: u32) {
        self.get(id).into_iter().for_each(|slot| prefetch(slot, size_of::<S>()));
    }

    /// Bytes allocated so far. O(1).
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

/// Allocates `count` elements. Adds their bytes to `bytes`.
fn allocated<T: Default>(count: usize, bytes: &mut usize) -> Box<[T]> {
    *bytes += count * size_of::<T>();
    (0..count).map(|_| T::default()).collect()
}

/// The location of an id's slot.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SlotLocation {
    segment: usize,
    /// The group within the segment.
    group: usize,
    /// The chunk within the group.
    chunk: usize,
    /// The slot within the chunk.
    slot: usize,
}

impl SlotLocation {
    #[inline]
    fn of(id: u32) -> Self {
        let chunk = id >> CHUNK_BITS;
        let group = chunk >> GROUP_BITS;
        let segment = (u32::BITS - group.leading_zeros()) as usize;
        SlotLocation {
            segment,
            group: group as usize - Self::groups_before(segment),
            chunk: chunk as usize % GROUP_CHUNKS,
            slot: id as usize % CHUNK_SLOTS,
        }
    }

    /// Number of groups in all segments before this one.
    #[inline]
    fn groups_before(segment: usize) -> usize {
        (1 << segment) >> 1
    }

    fn groups_of_segment(&self) -> usize {
        Self::groups_before(self.segment).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_sync::atomic::AtomicU64;

    #[test]
    fn every_id_has_a_place_of_its_own_within_its_segment() {
        let places: Vec<SlotLocation> = (0..1_000_000).map(SlotLocation::of).collect();
        assert!(places.is_sorted_by(|one, next| one < next), "two ids share a place");
        let last = SlotLocation::of(u32::MAX);
        assert!(last.segment == SEGMENTS - 1 && last.slot == CHUNK_SLOTS - 1);
        assert!(places.iter().chain([&last]).all(|place| place.group < place.groups_of_segment()));
        assert!(last.group == last.groups_of_segment() - 1 && last.chunk == GROUP_CHUNKS - 1);
    }

    #[test]
    fn slots_keep_what_was_stored_last() {
        let slots: Slots<AtomicU64> = Slots::new();
        assert!(slots.get(5000).is_none());
        slots.get_or_allocate(5000).store(1, Ordering::Relaxed);
        slots.get_or_allocate(5000).store(2, Ordering::Relaxed);
        assert_eq!(slots.get(5000).unwrap().load(Ordering::Relaxed), 2);
        assert!(slots.get(4095).is_none() && slots.get(5001).is_some());
    }

    #[test]
    fn memory_depends_on_what_is_stored_and_not_on_the_largest_id() {
        let slots: Slots<AtomicU64> = Slots::new();
        slots.get_or_allocate(u32::MAX).store(7, Ordering::Relaxed);
        assert_eq!(slots.get(u32::MAX).unwrap().load(Ordering::Relaxed), 7);
        assert!(slots.bytes() < 1 << 18, "{} bytes", slots.bytes());
    }
}
