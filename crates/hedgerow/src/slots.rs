//! Something of each vertex id: an array that grows without moving.

use hedgerow_sync::OnceLock;

/// Slots in chunks that are made when they are first stored to, so that a slot never moves, readers need no lock, and ids with nothing
/// in between cost no memory. The chunks are in segments of doubling size.
pub(crate) struct Slots<S> {
    segments: [OnceLock<Box<[Chunk<S>]>>; SEGMENTS],
}

type Chunk<S> = OnceLock<Box<[S]>>;

const CHUNK_BITS: u32 = 10;
const CHUNK_SLOTS: usize = 1 << CHUNK_BITS;

/// The first segment has one chunk, each later one as many as all before it together.
const SEGMENTS: usize = (u32::BITS - CHUNK_BITS + 1) as usize;

impl<S: Default> Slots<S> {
    pub(crate) fn new() -> Self {
        Slots { segments: std::array::from_fn(|_| OnceLock::new()) }
    }

    /// The slot of `id`, with its chunk allocated. O(1).
    pub(crate) fn get_or_allocate(&self, id: u32) -> &S {
        let place = Place::of(id);
        let chunks = self.segments[place.segment]
            .get_or_init(|| (0..place.chunks_of_segment()).map(|_| OnceLock::new()).collect());
        let slots = chunks[place.chunk].get_or_init(|| (0..CHUNK_SLOTS).map(|_| S::default()).collect());
        &slots[place.slot]
    }

    /// The slot of `id`, if its chunk was allocated. O(1).
    pub(crate) fn get(&self, id: u32) -> Option<&S> {
        let place = Place::of(id);
        let slots = self.segments[place.segment].get()?[place.chunk].get()?;
        Some(&slots[place.slot])
    }

    /// Bytes allocated so far. O(chunks).
    pub(crate) fn bytes(&self) -> usize {
        let segments = self.segments.iter().filter_map(OnceLock::get).map(|chunks| &**chunks);
        let bytes = |chunks: &[Chunk<S>]| {
            let made = chunks.iter().filter_map(OnceLock::get);
            std::mem::size_of_val::<[Chunk<S>]>(chunks)
                + made.map(|slots| std::mem::size_of_val::<[S]>(slots)).sum::<usize>()
        };
        segments.map(bytes).sum()
    }
}

/// Where the slot of an id is.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    segment: usize,
    /// The chunk within the segment.
    chunk: usize,
    /// The slot within the chunk.
    slot: usize,
}

impl Place {
    fn of(id: u32) -> Self {
        let chunk = id >> CHUNK_BITS;
        let segment = (u32::BITS - chunk.leading_zeros()) as usize;
        let before = Self::chunks_before(segment);
        Place { segment, chunk: chunk as usize - before, slot: id as usize % CHUNK_SLOTS }
    }

    /// Chunks of all segments before this one.
    fn chunks_before(segment: usize) -> usize {
        (1 << segment) >> 1
    }

    fn chunks_of_segment(&self) -> usize {
        Self::chunks_before(self.segment).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn every_id_has_a_place_of_its_own_within_its_segment() {
        let places: Vec<Place> = (0..100_000).map(Place::of).collect();
        assert!(places.is_sorted_by(|one, next| one < next), "two ids share a place");
        let last = Place::of(u32::MAX);
        assert!(last.segment == SEGMENTS - 1 && last.slot == CHUNK_SLOTS - 1);
        assert!(places.iter().chain([&last]).all(|place| place.chunk < place.chunks_of_segment()));
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
    fn memory_follows_what_is_stored_and_not_the_largest_id() {
        let slots: Slots<AtomicU64> = Slots::new();
        slots.get_or_allocate(u32::MAX).store(7, Ordering::Relaxed);
        assert_eq!(slots.get(u32::MAX).unwrap().load(Ordering::Relaxed), 7);
        assert!(slots.bytes() < 64 << 20, "{} bytes", slots.bytes());
    }
}
