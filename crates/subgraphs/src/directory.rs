//! Maps the number of a partition to its chain: a table that grows without moving its entries.

use crate::partition::PARTITIONS;
use hedgerow_reclamation::Memory;
use hedgerow_sync::OnceLock;
use std::ops::Range;

/// Entries per segment. The model checker's atomics are large and its graphs small.
const SEGMENT_SIZE: usize = if cfg!(hedgerow_shuttle) { 4 } else { 4096 };

/// Segments in a full table.
const SEGMENTS: usize = if cfg!(hedgerow_shuttle) { 4 } else { PARTITIONS / SEGMENT_SIZE };

/// Segments per list.
const LIST_SIZE: usize = if cfg!(hedgerow_shuttle) { 4 } else { 128 };

const LISTS: usize = SEGMENTS / LIST_SIZE;

type Segment<C> = OnceLock<Box<[C; SEGMENT_SIZE]>>;
type List<C> = OnceLock<Box<[Segment<C>; LIST_SIZE]>>;

/// A table with an entry for every partition, allocated on first use: lists of segments of entries.
///
/// A single vertex at the end of the id space costs one list and one segment. Entries never move,
/// so readers hold references while writers add segments.
pub(crate) struct PartitionDirectory<C> {
    lists: Box<[List<C>; LISTS]>,
}

impl<C> Default for PartitionDirectory<C> {
    fn default() -> Self {
        PartitionDirectory { lists: Box::new([const { OnceLock::new() }; LISTS]) }
    }
}

impl<C: Default> PartitionDirectory<C> {
    const LIST_BYTES: usize = LIST_SIZE * size_of::<Segment<C>>();
    const SEGMENT_BYTES: usize = SEGMENT_SIZE * size_of::<C>();

    /// A segment, if it is in range and allocated. O(1).
    #[inline]
    fn segment(&self, segment: usize) -> Option<&[C; SEGMENT_SIZE]> {
        self.lists.get(segment / LIST_SIZE)?.get()?[segment % LIST_SIZE].get().map(|segment| &**segment)
    }

    /// The entry of a partition, if it is in range and its segment is allocated. O(1).
    #[inline]
    pub(crate) fn get(&self, partition: u32) -> Option<&C> {
        let (segment, entry) = place(partition);
        Some(&self.segment(segment)?[entry])
    }

    /// The entry of a partition; allocates its segment on first use. O(1) otherwise.
    #[inline]
    pub(crate) fn get_or_create(&self, partition: u32, memory: &Memory) -> &C {
        let (segment, entry) = place(partition);
        let segment = self.segment(segment).unwrap_or_else(|| self.create(segment, memory));
        &segment[entry]
    }

    #[cold]
    fn create(&self, segment: usize, memory: &Memory) -> &[C; SEGMENT_SIZE] {
        let mut allocated = 0;
        let list = self.lists[segment / LIST_SIZE].get_or_init(|| {
            allocated += Self::LIST_BYTES;
            Box::new([const { OnceLock::new() }; LIST_SIZE])
        });
        let segment = list[segment % LIST_SIZE].get_or_init(|| {
            allocated += Self::SEGMENT_BYTES;
            let entries: Box<[C]> = (0..SEGMENT_SIZE).map(|_| C::default()).collect();
            entries.try_into().unwrap_or_else(|_| unreachable!("a segment has its size"))
        });
        if allocated > 0 {
            memory.add_index(allocated);
        }
        segment
    }

    /// The bytes that [`PartitionDirectory::get_or_create`] would allocate for these partitions,
    /// which ascend.
    pub(crate) fn missing_bytes(&self, partitions: impl Iterator<Item = u32>) -> usize {
        let mut segments: Vec<usize> = partitions.map(|partition| place(partition).0).collect();
        segments.dedup();
        let absent = segments.iter().filter(|segment| self.segment(**segment).is_none()).count();
        let mut lists: Vec<usize> = segments.iter().map(|segment| segment / LIST_SIZE).collect();
        lists.dedup();
        let absent_lists = lists.iter().filter(|list| self.lists[**list].get().is_none()).count();
        absent * Self::SEGMENT_BYTES + absent_lists * Self::LIST_BYTES
    }

    /// The entries in a range of partitions, ascending. Skips segments that were never used.
    pub(crate) fn populated(&self, partitions: Range<u32>) -> impl Iterator<Item = (u32, &C)> {
        let Range { start, end } = partitions;
        let segments = if start < end { place(start).0..place(end - 1).0 + 1 } else { 0..0 };
        let present = segments.filter_map(|number| Some((number, self.segment(number)?)));
        present.flat_map(move |(number, segment)| {
            let first = (number * SEGMENT_SIZE) as u32;
            let from = start.saturating_sub(first) as usize;
            let to = ((end - first) as usize).min(SEGMENT_SIZE);
            let entries = segment[from..to].iter().enumerate();
            entries.map(move |(offset, entry)| (first + (from + offset) as u32, entry))
        })
    }
}

#[inline]
const fn place(partition: u32) -> (usize, usize) {
    (partition as usize / SEGMENT_SIZE, partition as usize % SEGMENT_SIZE)
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;

    const LAST: u32 = PARTITIONS as u32 - 1;

    fn numbers(directory: &PartitionDirectory<u64>, partitions: Range<u32>) -> Vec<u32> {
        directory.populated(partitions).map(|(partition, _)| partition).collect()
    }

    #[test]
    fn segments_are_allocated_on_use_and_entries_do_not_move() {
        let (directory, memory) = (PartitionDirectory::<u64>::default(), Memory::default());
        assert!(directory.get(LAST).is_none());
        let missing = directory.missing_bytes([0, 1, LAST].into_iter());
        let first: *const u64 = directory.get_or_create(0, &memory);
        directory.get_or_create(1, &memory);
        directory.get_or_create(LAST, &memory);
        assert_eq!(memory.used().index_bytes, missing);
        assert_eq!(directory.missing_bytes([0, LAST].into_iter()), 0);
        assert!(std::ptr::eq(directory.get(0).unwrap(), first));
        assert!(directory.get(4096).is_none());
    }

    #[test]
    #[cfg_attr(miri, ignore = "safe code, whose tens of thousands of segments take miri many minutes")]
    fn a_scan_skips_absent_segments_and_keeps_to_its_range() {
        let (directory, memory) = (PartitionDirectory::<u64>::default(), Memory::default());
        assert_eq!(numbers(&directory, 0..LAST + 1), []);
        directory.get_or_create(5000, &memory);
        directory.get_or_create(LAST, &memory);
        assert_eq!(numbers(&directory, 0..4096), []);
        assert_eq!(numbers(&directory, 4000..4098), [4096, 4097]);
        assert_eq!(numbers(&directory, 8190..LAST - 4095 + 1), [8190, 8191, LAST - 4095]);
        assert_eq!(numbers(&directory, 0..LAST + 1).len(), 2 * 4096);
        assert_eq!(numbers(&directory, 7..7), []);
    }
}
