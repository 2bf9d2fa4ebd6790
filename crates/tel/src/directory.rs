//! Maps a vertex to its slot: a table that grows without moving its entries (LiveGraph, section 4,
//! "vertex index").

use hedgerow_model::VertexId;
use hedgerow_reclamation::Memory;
use hedgerow_sync::OnceLock;
use hedgerow_sync::atomic::AtomicPtr;
use std::ops::Range;

/// A tagged pointer of eight bytes: the lowest bits say what it points to.
pub(crate) type Slot = AtomicPtr<u8>;

/// Slots per segment. The model checker's atomics are large and its graphs small.
const SEGMENT: usize = if cfg!(hedgerow_shuttle) { 4 } else { 4096 };

/// Segments per list.
const LIST: usize = if cfg!(hedgerow_shuttle) { 4 } else { 1024 };

/// Lists in a full table.
const LISTS: usize = if cfg!(hedgerow_shuttle) { 16 } else { (1 << 32) / (SEGMENT * LIST) };

type Segment = OnceLock<Box<[Slot]>>;
type List = OnceLock<Box<[Segment]>>;

/// A table with a slot for every vertex, allocated on first use: lists of segments of slots.
///
/// A single vertex at the end of the id space costs one list and one segment. Slots never move, so
/// readers hold references while writers add segments.
pub(crate) struct VertexDirectory {
    lists: Box<[List]>,
}

impl Default for VertexDirectory {
    fn default() -> Self {
        VertexDirectory { lists: (0..LISTS).map(|_| OnceLock::new()).collect() }
    }
}

const LIST_BYTES: usize = LIST * size_of::<Segment>();
const SEGMENT_BYTES: usize = SEGMENT * size_of::<Slot>();

impl VertexDirectory {
    /// A segment, if it is allocated. O(1).
    #[inline]
    fn segment(&self, segment: usize) -> Option<&[Slot]> {
        let list = self.lists.get(segment / LIST)?.get()?;
        list.get(segment % LIST)?.get().map(|segment| &**segment)
    }

    /// The slot of a vertex, if its segment is allocated. O(1).
    #[inline]
    pub(crate) fn get(&self, vertex: VertexId) -> Option<&Slot> {
        self.segment(vertex.index() / SEGMENT)?.get(vertex.index() % SEGMENT)
    }

    /// The slot of a vertex; allocates its list and segment on first use. O(1) otherwise.
    #[inline]
    pub(crate) fn get_or_create(&self, vertex: VertexId, memory: &Memory) -> &Slot {
        let number = vertex.index() / SEGMENT;
        let segment = self.segment(number).unwrap_or_else(|| self.create(number, memory));
        &segment[vertex.index() % SEGMENT]
    }

    #[cold]
    fn create(&self, segment: usize, memory: &Memory) -> &[Slot] {
        let mut allocated = 0;
        let list = self.lists[segment / LIST].get_or_init(|| {
            allocated += LIST_BYTES;
            (0..LIST).map(|_| OnceLock::new()).collect()
        });
        let segment = list[segment % LIST].get_or_init(|| {
            allocated += SEGMENT_BYTES;
            (0..SEGMENT).map(|_| Slot::default()).collect()
        });
        if allocated > 0 {
            memory.add_index(allocated);
        }
        segment
    }

    /// The bytes that [`VertexDirectory::get_or_create`] would allocate for these vertices, which
    /// ascend.
    pub(crate) fn missing_bytes(&self, vertices: impl Iterator<Item = VertexId>) -> usize {
        let mut segments: Vec<usize> = vertices.map(|vertex| vertex.index() / SEGMENT).collect();
        segments.dedup();
        let absent = segments.iter().filter(|segment| self.segment(**segment).is_none()).count();
        let mut lists: Vec<usize> = segments.iter().map(|segment| segment / LIST).collect();
        lists.dedup();
        let absent_lists = lists.iter().filter(|list| self.lists[**list].get().is_none()).count();
        absent * SEGMENT_BYTES + absent_lists * LIST_BYTES
    }

    /// Runs of consecutive slots in a range of vertices, ascending, each with its first vertex.
    /// Skips segments that were never used.
    pub(crate) fn stretches(&self, vertices: Range<u32>) -> impl Iterator<Item = (u32, &[Slot])> {
        let (start, end) = (vertices.start as usize, vertices.end as usize);
        let per_list = SEGMENT * LIST;
        let lists = if start < end { start / per_list..end.div_ceil(per_list).min(LISTS) } else { 0..0 };
        let lists = lists.filter_map(move |number| Some((number * per_list, self.lists.get(number)?.get()?)));
        lists.flat_map(move |(first, list)| {
            let from = start.saturating_sub(first) / SEGMENT;
            let to = (end - first).div_ceil(SEGMENT).min(LIST);
            (from..to).filter_map(move |number| {
                let slots = list[number].get()?;
                let first = first + number * SEGMENT;
                let from = start.saturating_sub(first);
                let to = (end - first).min(SEGMENT);
                // Less than the end of the range, which fits in 32 bits.
                Some(((first + from) as u32, &slots[from..to]))
            })
        })
    }

    /// The slots of a range of vertices, ascending, without those of segments that were never used.
    pub(crate) fn slots(&self, vertices: Range<u32>) -> impl Iterator<Item = (VertexId, &Slot)> {
        self.stretches(vertices).flat_map(|(first, slots)| {
            slots.iter().zip(first..).map(|(slot, vertex)| (VertexId::new(vertex), slot))
        })
    }
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;

    const LAST: u32 = VertexId::MAX.get();

    fn numbers(directory: &VertexDirectory, vertices: Range<u32>) -> Vec<u32> {
        directory.slots(vertices).map(|(vertex, _)| vertex.get()).collect()
    }

    #[test]
    fn segments_are_allocated_on_use_and_slots_do_not_move() {
        let (directory, memory) = (VertexDirectory::default(), Memory::default());
        let ids = [0, 1, 4096, LAST].map(VertexId::new);
        assert!(directory.get(ids[3]).is_none());
        let missing = directory.missing_bytes(ids.into_iter());
        let first: *const Slot = directory.get_or_create(ids[0], &memory);
        ids.iter().for_each(|id| {
            directory.get_or_create(*id, &memory);
        });
        assert_eq!(memory.used().index_bytes, missing);
        assert_eq!(directory.missing_bytes(ids.into_iter()), 0);
        assert!(std::ptr::eq(directory.get(ids[0]).unwrap(), first));
        assert!(directory.get(VertexId::new(9000)).is_none());
    }

    #[test]
    #[cfg_attr(miri, ignore = "safe code, whose tens of thousands of segments take miri many minutes")]
    fn a_scan_skips_absent_segments_and_keeps_to_its_range() {
        let (directory, memory) = (VertexDirectory::default(), Memory::default());
        assert_eq!(numbers(&directory, 0..LAST), []);
        directory.get_or_create(VertexId::new(5000), &memory);
        directory.get_or_create(VertexId::new(LAST), &memory);
        assert_eq!(numbers(&directory, 0..4096), []);
        assert_eq!(numbers(&directory, 4000..4098), [4096, 4097]);
        assert_eq!(numbers(&directory, 8190..LAST - 4093), [8190, 8191, LAST - 4094]);
        assert_eq!(numbers(&directory, 7..7), []);
    }
}
