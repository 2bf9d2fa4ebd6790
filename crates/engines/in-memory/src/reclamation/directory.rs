//! A table indexed by number that grows without moving its entries.

use crate::reclamation::Memory;
use hedgerow_sync::OnceLock;
use std::ops::Range;

type List<T, const LIST: usize, const SEGMENT: usize> = [OnceLock<Box<[T; SEGMENT]>>; LIST];

/// `LISTS` · `LIST` · `SEGMENT` entries, allocated on first use: lists of segments of entries.
///
/// A single entry at the end costs one list and one segment. Entries never move, so readers hold
/// references while writers add segments.
pub struct Directory<T, const LISTS: usize, const LIST: usize, const SEGMENT: usize> {
    lists: Box<[OnceLock<Box<List<T, LIST, SEGMENT>>>; LISTS]>,
}

impl<T, const LISTS: usize, const LIST: usize, const SEGMENT: usize> Default
    for Directory<T, LISTS, LIST, SEGMENT>
{
    fn default() -> Self {
        Directory { lists: Box::new([const { OnceLock::new() }; LISTS]) }
    }
}

impl<T: Default, const LISTS: usize, const LIST: usize, const SEGMENT: usize>
    Directory<T, LISTS, LIST, SEGMENT>
{
    /// Heap bytes of a directory without entries.
    pub const EMPTY_BYTES: usize = size_of::<[OnceLock<Box<List<T, LIST, SEGMENT>>>; LISTS]>();

    const LIST_BYTES: usize = size_of::<List<T, LIST, SEGMENT>>();
    const SEGMENT_BYTES: usize = size_of::<[T; SEGMENT]>();

    /// A segment, if it is in range and allocated. O(1).
    #[inline]
    fn segment(&self, segment: usize) -> Option<&[T; SEGMENT]> {
        self.lists.get(segment / LIST)?.get()?[segment % LIST].get().map(|segment| &**segment)
    }

    /// Returns the entry of a number, if it is in range and its segment is allocated. O(1).
    #[inline]
    pub fn get(&self, number: u32) -> Option<&T> {
        Some(&self.segment(number as usize / SEGMENT)?[number as usize % SEGMENT])
    }

    /// Returns the entry of a number, and allocates its list and segment on first use. O(1)
    /// otherwise.
    #[inline]
    pub fn get_or_create(&self, number: u32, memory: &Memory) -> &T {
        let segment = number as usize / SEGMENT;
        let segment = self.segment(segment).unwrap_or_else(|| self.create(segment, memory));
        &segment[number as usize % SEGMENT]
    }

    #[cold]
    fn create(&self, segment: usize, memory: &Memory) -> &[T; SEGMENT] {
        let mut allocated = 0;
        let list = self.lists[segment / LIST].get_or_init(|| {
            allocated += Self::LIST_BYTES;
            Box::new([const { OnceLock::new() }; LIST])
        });
        let segment = list[segment % LIST].get_or_init(|| {
            allocated += Self::SEGMENT_BYTES;
            let entries: Box<[T]> = (0..SEGMENT).map(|_| T::default()).collect();
            entries.try_into().unwrap_or_else(|_| unreachable!("a segment has its size"))
        });
        if allocated > 0 {
            memory.add_index(allocated);
        }
        segment
    }

    /// Returns the bytes that [`Directory::get_or_create`] would allocate for `numbers`, which
    /// ascend.
    pub fn missing_bytes(&self, numbers: impl Iterator<Item = u32>) -> usize {
        let mut segments: Vec<usize> = numbers.map(|number| number as usize / SEGMENT).collect();
        segments.dedup();
        let absent = segments.iter().filter(|segment| self.segment(**segment).is_none()).count();
        let mut lists: Vec<usize> = segments.iter().map(|segment| segment / LIST).collect();
        lists.dedup();
        let absent_lists = lists.iter().filter(|list| self.lists[**list].get().is_none()).count();
        absent * Self::SEGMENT_BYTES + absent_lists * Self::LIST_BYTES
    }

    /// Returns the runs of consecutive entries in a range of numbers, ascending, each with its
    /// first number. Skips segments that were never used.
    pub fn stretches(&self, numbers: Range<u32>) -> impl Iterator<Item = (u32, &[T])> {
        let (start, end) = (numbers.start as usize, numbers.end as usize);
        let per_list = SEGMENT * LIST;
        let lists = if start < end { start / per_list..end.div_ceil(per_list).min(LISTS) } else { 0..0 };
        let lists = lists.filter_map(move |number| Some((number * per_list, self.lists[number].get()?)));
        lists.flat_map(move |(first, list)| {
            let from = start.saturating_sub(first) / SEGMENT;
            let to = (end - first).div_ceil(SEGMENT).min(LIST);
            (from..to).filter_map(move |number| {
                let entries = list[number].get()?;
                let first = first + number * SEGMENT;
                let from = start.saturating_sub(first);
                let to = (end - first).min(SEGMENT);
                // Less than the end of the range, which fits in 32 bits.
                Some(((first + from) as u32, &entries[from..to]))
            })
        })
    }

    /// Returns the entries of a range of numbers, ascending. Skips segments that were never used.
    pub fn entries(&self, numbers: Range<u32>) -> impl Iterator<Item = (u32, &T)> {
        self.stretches(numbers)
            .flat_map(|(first, entries)| entries.iter().zip(first..).map(|(entry, number)| (number, entry)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Table = Directory<u64, 1024, 128, 4096>;

    const LAST: u32 = 128 * 1024 * 4096 - 1;

    fn numbers(directory: &Table, range: Range<u32>) -> Vec<u32> {
        directory.entries(range).map(|(number, _)| number).collect()
    }

    #[test]
    fn segments_are_allocated_on_use_and_entries_do_not_move() {
        let (directory, memory) = (Table::default(), Memory::default());
        let some = || [0, 1, 4096, LAST].into_iter();
        assert!(directory.get(LAST).is_none());
        let missing = directory.missing_bytes(some());
        let first: *const u64 = directory.get_or_create(0, &memory);
        some().for_each(|number| {
            directory.get_or_create(number, &memory);
        });
        assert_eq!(memory.used().index_bytes, missing);
        assert_eq!(directory.missing_bytes(some()), 0);
        assert!(std::ptr::eq(directory.get(0).unwrap(), first));
        assert!(directory.get(9000).is_none() && directory.get(LAST + 1).is_none());
    }

    #[test]
    #[cfg_attr(miri, ignore = "safe code, whose tens of thousands of segments take miri many minutes")]
    fn a_scan_skips_absent_segments_and_keeps_to_its_range() {
        let (directory, memory) = (Table::default(), Memory::default());
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
