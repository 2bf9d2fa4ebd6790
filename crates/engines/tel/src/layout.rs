//! The memory layout of a block, for each size and shape.

use crate::header::{LogHeader, RecordNotes};
use hedgerow_in_memory::records::memory::{LONGEST_EMBEDDED, embedded_size};
use std::ops::Add;

/// Size classes of blocks: powers of two from [`SMALLEST`] on.
pub(crate) const CLASSES: usize = 32;

/// Bytes of the smallest block. The model checker's atomics are large.
pub(crate) const SMALLEST: usize = if cfg!(hedgerow_shuttle) { 1 << 11 } else { 64 };

/// Size above which a sixteenth of a block is a filter (LiveGraph, section 4).
const FILTERED_FROM: usize = if cfg!(hedgerow_shuttle) { usize::MAX } else { 256 };

/// Bytes of the header of a block.
pub(crate) const HEADER_BYTES: usize = size_of::<LogHeader>();

/// Bytes of an atomic timestamp.
const ATOMIC: usize = size_of::<hedgerow_sync::atomic::AtomicU64>();

/// Bytes of the record notes, which follow the columns.
const RECORD_NOTES: usize = size_of::<RecordNotes>();

/// Bytes of records per entry for which a block may be laid out.
const DENSITIES: [usize; 12] = [8, 12, 16, 24, 32, 40, 48, 64, 96, 128, 192, embedded_size(LONGEST_EMBEDDED)];

/// Shapes without records: one per width of values.
const PLAIN_SHAPES: usize = 3;

/// The content of a block in addition to ids and timestamps, and the division of its room. Fixed
/// when the block is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape(u8);

impl Shape {
    /// Values of 0, 4 or 8 bytes, and no records.
    pub(crate) const fn plain(width: usize) -> Self {
        Shape((width / 4) as u8)
    }

    /// Shapes with handles as values, and the records that they point to.
    #[cfg(test)]
    pub(crate) fn with_records() -> impl Iterator<Item = Shape> {
        (PLAIN_SHAPES..PLAIN_SHAPES + DENSITIES.len()).map(|number| Shape(number as u8))
    }

    /// Returns true if handles point to records in the block.
    #[inline]
    pub(crate) const fn has_records(self) -> bool {
        self.0 as usize >= PLAIN_SHAPES
    }
}

/// The room that a block must have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Need {
    pub(crate) entries: usize,
    /// Bytes of records.
    pub(crate) record_bytes: usize,
}

impl Need {
    /// Returns a quarter of each quantity.
    pub(crate) fn quarter(self) -> Need {
        Need { entries: self.entries / 4, record_bytes: self.record_bytes / 4 }
    }
}

impl Add for Need {
    type Output = Need;

    fn add(self, other: Need) -> Need {
        Need { entries: self.entries + other.entries, record_bytes: self.record_bytes + other.record_bytes }
    }
}

/// The size and shape of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fit {
    pub(crate) class: u8,
    pub(crate) shape: Shape,
}

impl Fit {
    /// Returns the smallest block without records that has room for `entries`. O(log entries).
    ///
    /// Panics beyond 2^32 - 3 entries: a vertex has fewer neighbors, and old entries count.
    pub(crate) fn plain(width: usize, entries: usize) -> Fit {
        let shape = Shape::plain(width);
        let fits = (0..CLASSES as u8).find(|class| BlockLayout::of(*class, shape).capacity >= entries);
        Fit { class: fits.expect("a log has fewer than 2^32 - 3 entries"), shape }
    }

    /// Returns the smallest block with room for entries and their records; among several shapes,
    /// the one in which both can grow most. O(log bytes).
    ///
    /// Panics if the largest block, for which no machine has enough memory, is too small.
    pub(crate) fn with_records(need: Need) -> Fit {
        let least = HEADER_BYTES + need.entries * 4 + need.record_bytes;
        let large_enough = (0..CLASSES as u8).skip_while(|class| bytes_of(*class) < least);
        let mut fits = large_enough.filter_map(|class| {
            let shapes = (0..DENSITIES.len()).map(|density| Shape((PLAIN_SHAPES + density) as u8));
            let fitting = shapes.filter(|shape| BlockLayout::of(class, *shape).fits(need));
            let shape = fitting.max_by_key(|shape| BlockLayout::of(class, *shape).growth(need))?;
            Some(Fit { class, shape })
        });
        fits.next().expect("a log is smaller than the largest block")
    }
}

/// The offsets in a block: the header, then the columns of ids, values, creations and
/// invalidations, then, from the other end, the filter and the records, which grow downwards
/// (LiveGraph, section 4, figure 3).
///
/// Ids and values come first, so that a scan of a small block finds them in the cache lines of its
/// header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockLayout {
    /// The maximum number of entries.
    pub(crate) capacity: usize,
    /// Bytes of each value.
    pub(crate) width: usize,
    /// Offsets of the columns; ids follow the header.
    pub(crate) values: usize,
    pub(crate) creations: usize,
    pub(crate) invalidations: usize,
    /// The room for records in bytes, up to the filter.
    pub(crate) record_room: usize,
    pub(crate) filter: usize,
    /// Words of the filter: a power of two, or 0.
    pub(crate) filter_words: usize,
}

const fn max(one: usize, other: usize) -> usize {
    if one > other { one } else { other }
}

impl BlockLayout {
    /// `per_entry` is the number of record bytes per entry; `None` without records.
    const fn compute(class: usize, width: usize, per_entry: Option<usize>) -> BlockLayout {
        let bytes = SMALLEST << class;
        let filter_bytes = if bytes > FILTERED_FROM { bytes / 16 } else { 0 };
        let filter = bytes - filter_bytes;
        let (record_notes, per_entry) = match per_entry {
            Some(per_entry) => (RECORD_NOTES, per_entry),
            None => (0, 0),
        };
        let mut capacity =
            (filter - HEADER_BYTES).saturating_sub(record_notes) / (4 + width + 8 + ATOMIC + per_entry);
        if capacity > Self::MOST {
            capacity = Self::MOST;
        }
        loop {
            let values = (HEADER_BYTES + capacity * 4).next_multiple_of(max(width, 1));
            let creations = (values + capacity * width).next_multiple_of(8);
            let invalidations = creations + capacity * 8;
            let columns = invalidations + capacity * ATOMIC + record_notes;
            if columns + capacity * per_entry <= filter {
                let record_room = if record_notes == 0 { 0 } else { filter - columns };
                return BlockLayout {
                    capacity,
                    width,
                    values,
                    creations,
                    invalidations,
                    record_room,
                    filter,
                    filter_words: filter_bytes / 8,
                };
            }
            // Alignment took more than the rest.
            capacity -= 1;
        }
    }

    /// Maximum number of entries: positions have 32 bits, and two values are reserved.
    const MOST: usize = u32::MAX as usize - 2;

    const fn of_shape(shape: usize) -> [BlockLayout; CLASSES] {
        let (width, per_entry) = match shape.checked_sub(PLAIN_SHAPES) {
            Some(density) => (8, Some(DENSITIES[density])),
            None => (4 * shape, None),
        };
        let mut layouts = [Self::compute(0, width, per_entry); CLASSES];
        let mut class = 1;
        while class < CLASSES {
            layouts[class] = Self::compute(class, width, per_entry);
            class += 1;
        }
        layouts
    }

    const fn of_all_shapes() -> [[BlockLayout; CLASSES]; PLAIN_SHAPES + DENSITIES.len()] {
        let mut layouts = [Self::of_shape(0); PLAIN_SHAPES + DENSITIES.len()];
        let mut shape = 1;
        while shape < layouts.len() {
            layouts[shape] = Self::of_shape(shape);
            shape += 1;
        }
        layouts
    }

    /// The layout of a size class and shape. O(1).
    #[inline]
    pub(crate) fn of(class: u8, shape: Shape) -> &'static BlockLayout {
        static LAYOUTS: [[BlockLayout; CLASSES]; PLAIN_SHAPES + DENSITIES.len()] =
            BlockLayout::of_all_shapes();
        &LAYOUTS[usize::from(shape.0)][usize::from(class)]
    }

    /// The offset of the record notes, after the columns.
    #[inline]
    pub(crate) const fn notes(&self) -> usize {
        self.invalidations + self.capacity * ATOMIC
    }

    /// Returns true if there is room for `need`.
    #[inline]
    pub(crate) fn fits(&self, need: Need) -> bool {
        need.entries <= self.capacity && need.record_bytes <= self.record_room
    }

    /// Returns the factor, in 1/256, by which both entries and records can grow.
    fn growth(&self, need: Need) -> usize {
        let times = |room: usize, needed: usize| room * 256 / needed.max(1);
        times(self.capacity, need.entries).min(times(self.record_room, need.record_bytes))
    }
}

/// The size in bytes of a block of a size class.
#[inline]
pub(crate) const fn bytes_of(class: u8) -> usize {
    SMALLEST << class
}

/// Returns the size class of blocks of `bytes`, the size of a class.
#[inline]
pub(crate) const fn class_of(bytes: usize) -> u8 {
    (bytes / SMALLEST).trailing_zeros() as u8
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_fill_their_blocks() {
        assert_eq!(HEADER_BYTES, 32);
        for width in [0, 4, 8] {
            for class in 0..CLASSES as u8 {
                let layout = BlockLayout::of(class, Shape::plain(width));
                assert!(layout.capacity >= 1);
                assert_well_laid(layout, class);
                let end = layout.invalidations + 8 * layout.capacity;
                assert!(layout.filter - end < 40 || layout.capacity == BlockLayout::MOST);
                let is_smallest = layout.capacity < BlockLayout::MOST;
                let fit = Fit::plain(width, layout.capacity);
                assert!(!is_smallest || fit == Fit { class, shape: Shape::plain(width) });
            }
        }
    }

    fn assert_well_laid(layout: &BlockLayout, class: u8) {
        assert!(layout.creations.is_multiple_of(8) && layout.invalidations.is_multiple_of(8));
        assert!(layout.notes().is_multiple_of(8) && layout.filter.is_multiple_of(8));
        assert!(layout.filter_words == 0 || layout.filter_words.is_power_of_two());
        assert_eq!(layout.filter + 8 * layout.filter_words, bytes_of(class));
        assert!(layout.notes() <= layout.filter);
    }

    #[test]
    fn records_have_what_columns_and_filter_leave() {
        for shape in Shape::with_records() {
            assert!(shape.has_records());
            for class in 0..CLASSES as u8 {
                let layout = BlockLayout::of(class, shape);
                assert_well_laid(layout, class);
                assert_eq!(layout.notes() + RECORD_NOTES + layout.record_room, layout.filter);
                let per_entry = DENSITIES[usize::from(shape.0) - PLAIN_SHAPES];
                assert!(layout.record_room >= layout.capacity * per_entry);
                let next = (layout.capacity + 1) * per_entry;
                assert!(layout.record_room < next + 28 + 8 || layout.capacity == BlockLayout::MOST);
            }
        }
    }

    /// Every need fits into the chosen block, and into no smaller one.
    #[test]
    fn the_smallest_block_is_taken() {
        for entries in [1, 2, 3, 7, 40, 1000, 123_456] {
            for per_entry in [0, 2, 9, 31, 64, 100, 257, 258] {
                let need = Need { entries, record_bytes: entries * per_entry };
                let fit = Fit::with_records(need);
                assert!(BlockLayout::of(fit.class, fit.shape).fits(need));
                let smaller = (0..fit.class).flat_map(|class| {
                    Shape::with_records().filter(move |shape| BlockLayout::of(class, *shape).fits(need))
                });
                assert_eq!(smaller.count(), 0);
            }
        }
    }
}
