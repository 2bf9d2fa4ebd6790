//! How a block lies in memory, for each size and width of values.

/// Sizes of blocks: powers of two from [`SMALLEST`] on.
pub(crate) const CLASSES: usize = 32;

/// Bytes of the smallest block. The model checker's atomics are large.
pub(crate) const SMALLEST: usize = if cfg!(hedgerow_shuttle) { 1 << 11 } else { 64 };

/// Blocks larger than this have a filter of a sixteenth of their size (LiveGraph, section 4).
const FILTERED_FROM: usize = if cfg!(hedgerow_shuttle) { usize::MAX } else { 256 };

/// Bytes of the header.
pub(crate) const HEADER_BYTES: usize = size_of::<crate::block::Header>();

/// Bytes of a timestamp that changes.
const ATOMIC: usize = size_of::<hedgerow_sync::atomic::AtomicU64>();

/// Where what lies in a block: the header, then columns of ids, values, creations and invalidations, then the filter.
///
/// Ids and values lie first, so that whoever scans a small block finds them in the lines of its header. Behind the columns is
/// the place for what grows from the other end: records of edges, of which a column would hold the offsets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// How many entries there is room for.
    pub(crate) capacity: usize,
    /// Bytes of each value.
    pub(crate) width: usize,
    /// Where the values begin, and the other columns.
    pub(crate) values: usize,
    pub(crate) creations: usize,
    pub(crate) invalidations: usize,
    pub(crate) filter: usize,
    /// Words of the filter: a power of two, or 0.
    pub(crate) filter_words: usize,
}

const fn max(one: usize, other: usize) -> usize {
    if one > other { one } else { other }
}

impl Layout {
    const fn compute(class: usize, width: usize) -> Layout {
        let bytes = SMALLEST << class;
        let filter_bytes = if bytes > FILTERED_FROM { bytes / 16 } else { 0 };
        let filter = bytes - filter_bytes;
        let mut capacity = (filter - HEADER_BYTES) / (4 + width + 8 + ATOMIC);
        if capacity > Self::MOST {
            capacity = Self::MOST;
        }
        loop {
            let values = (HEADER_BYTES + capacity * 4).next_multiple_of(max(width, 1));
            let creations = (values + capacity * width).next_multiple_of(8);
            let invalidations = creations + capacity * 8;
            if invalidations + capacity * ATOMIC <= filter {
                let filter_words = filter_bytes / 8;
                return Layout { capacity, width, values, creations, invalidations, filter, filter_words };
            }
            // What alignment takes.
            capacity -= 1;
        }
    }

    /// Positions are numbers of 32 bits, of which two have another meaning.
    const MOST: usize = u32::MAX as usize - 2;

    const fn of_width(width: usize) -> [Layout; CLASSES] {
        let mut layouts = [Self::compute(0, width); CLASSES];
        let mut class = 1;
        while class < CLASSES {
            layouts[class] = Self::compute(class, width);
            class += 1;
        }
        layouts
    }

    /// The layout of a size class for values of 0, 4 or 8 bytes. O(1).
    #[inline]
    pub(crate) fn of(class: u8, width: usize) -> &'static Layout {
        static LAYOUTS: [[Layout; CLASSES]; 3] =
            [Layout::of_width(0), Layout::of_width(4), Layout::of_width(8)];
        &LAYOUTS[width / 4][usize::from(class)]
    }

    /// The smallest class with room for so many entries. O(log entries).
    ///
    /// Panics beyond 2^32 - 3 entries: a vertex has fewer neighbours, and old entries count.
    pub(crate) fn class_for(entries: usize, width: usize) -> u8 {
        let fits = (0..CLASSES as u8).find(|class| Layout::of(*class, width).capacity >= entries);
        fits.expect("a log has fewer than 2^32 - 3 entries")
    }
}

/// Bytes of a block of a size class.
#[inline]
pub(crate) const fn bytes_of(class: u8) -> usize {
    SMALLEST << class
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_fill_their_blocks() {
        assert_eq!(HEADER_BYTES, 32);
        for width in [0, 4, 8] {
            for class in 0..CLASSES as u8 {
                let layout = Layout::of(class, width);
                assert!(layout.capacity >= 1);
                assert!(layout.creations.is_multiple_of(8) && layout.invalidations.is_multiple_of(8));
                assert!(layout.filter.is_multiple_of(8));
                assert!(layout.filter_words == 0 || layout.filter_words.is_power_of_two());
                assert_eq!(layout.filter + 8 * layout.filter_words, bytes_of(class));
                let end = layout.invalidations + 8 * layout.capacity;
                assert!(end <= layout.filter);
                assert!(layout.filter - end < 40 || layout.capacity == Layout::MOST);
                assert_eq!(
                    Layout::class_for(layout.capacity, width),
                    if layout.capacity == Layout::MOST {
                        Layout::class_for(Layout::MOST, width)
                    } else {
                        class
                    }
                );
            }
        }
    }
}
