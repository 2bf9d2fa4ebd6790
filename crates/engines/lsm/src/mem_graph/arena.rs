//! Memory that is handed out by advancing a cursor, and freed all at once (LSMGraph, 4.1: the edge
//! array, whose parts go to rows in the order in which edges arrive).

use hedgerow_sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use hedgerow_sync::{GrowingList, Mutex};

/// Maximum size of a block, in words.
const LARGEST_BLOCK: usize = 1 << 24;

/// Divisor of the size of a block: a larger allocation gets a block of its own, so that the end of
/// a block that it does not fit in is not lost.
const DEDICATED_PART: usize = 4;

/// Offset of the first word of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ArenaOffset(pub(super) u32);

/// Words in blocks. Allocated words never move, so threads read and write them while others
/// allocate.
///
/// An offset is the number of a block times the usual size of a block, plus the position in the
/// block. An allocation lies within one block. A block for a large allocation has the length of the
/// allocation, and takes several numbers if that is longer than usual.
#[derive(Debug)]
pub(super) struct WordArena {
    /// The usual size of a block, a power of two.
    block_words: usize,
    blocks: GrowingList<Box<[AtomicU64]>>,
    cursor: AtomicU64,
    /// Held while blocks are added.
    growth: Mutex<()>,
    /// Words in all blocks.
    words: AtomicUsize,
    /// Heap bytes of the blocks and of their list.
    bytes: AtomicUsize,
}

/// The block that allocations come from, and the number of words taken in it: the upper and the
/// lower half of a word.
#[derive(Clone, Copy)]
struct ArenaCursor {
    block: usize,
    taken: usize,
}

impl WordArena {
    pub(super) fn new(block_words: usize) -> Self {
        assert!(block_words.is_power_of_two() && block_words <= LARGEST_BLOCK, "no size of a block");
        WordArena {
            block_words,
            blocks: GrowingList::default(),
            // A full block, so that the first allocation adds one.
            cursor: AtomicU64::new(ArenaCursor { block: 0, taken: block_words }.to_bits()),
            growth: Mutex::default(),
            words: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
        }
    }

    /// Returns the usual size of a block in words.
    pub(super) fn block_words(&self) -> usize {
        self.block_words
    }

    /// Reserves words, all zero. O(1), and O(block) once per block.
    ///
    /// # Panics
    /// If the offsets are exhausted.
    #[inline]
    pub(super) fn allocate(&self, words: usize) -> ArenaOffset {
        match words > self.block_words / DEDICATED_PART {
            true => self.allocate_dedicated(words),
            false => self.advance(words).unwrap_or_else(|| self.allocate_in_next(words)),
        }
    }

    /// Returns the words from an offset to the end of its block, which are more than were allocated
    /// there. O(1).
    ///
    /// # Panics
    /// If the offset is not of this arena.
    #[inline]
    pub(super) fn words(&self, offset: ArenaOffset) -> &[AtomicU64] {
        let offset = offset.0 as usize;
        let block = self.blocks.get(offset >> self.block_words.trailing_zeros());
        &block.expect("the arena has the block of an offset")[offset & (self.block_words - 1)..]
    }

    /// Stores bytes with their number. O(bytes).
    pub(super) fn store_bytes(&self, bytes: &[u8]) -> ArenaOffset {
        let offset = self.allocate(1 + bytes.len().div_ceil(size_of::<u64>()));
        let [length, packed @ ..] = self.words(offset) else { unreachable!("a word was allocated") };
        length.store(bytes.len() as u64, Ordering::Relaxed);
        for (word, bytes) in packed.iter().zip(bytes.chunks(size_of::<u64>())) {
            let mut padded = [0; size_of::<u64>()];
            padded[..bytes.len()].copy_from_slice(bytes);
            word.store(u64::from_le_bytes(padded), Ordering::Relaxed);
        }
        offset
    }

    /// Appends the bytes stored at an offset. O(bytes).
    pub(super) fn read_bytes(&self, offset: ArenaOffset, bytes: &mut Vec<u8>) {
        let [length, packed @ ..] = self.words(offset) else { unreachable!("a word was allocated") };
        let length = length.load(Ordering::Relaxed) as usize;
        let end = bytes.len() + length;
        bytes.reserve(length.next_multiple_of(size_of::<u64>()));
        for word in &packed[..length.div_ceil(size_of::<u64>())] {
            bytes.extend_from_slice(&word.load(Ordering::Relaxed).to_le_bytes());
        }
        bytes.truncate(end);
    }

    /// Returns the heap bytes of all blocks and of the list of blocks. O(1).
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Returns the bytes that no later allocation can get: all except the rest of the last block.
    /// Exact unless another thread allocates. O(1).
    pub(super) fn used_bytes(&self) -> usize {
        let cursor = ArenaCursor::from_bits(self.cursor.load(Ordering::Acquire));
        // A block is counted before the cursor reaches it.
        let words = self.words.load(Ordering::Relaxed);
        (words - (self.block_words - cursor.taken)) * size_of::<u64>()
    }

    /// Takes words of the current block, or returns `None` if it has fewer.
    #[inline]
    fn advance(&self, words: usize) -> Option<ArenaOffset> {
        // An offset is useless to other threads until a word that refers to it is published with
        // `Release`. `Acquire` pairs with the store in `allocate_in_next`: the block is in the
        // list.
        let advanced = self.cursor.fetch_update(Ordering::Acquire, Ordering::Acquire, |bits| {
            let cursor = ArenaCursor::from_bits(bits);
            (cursor.taken + words <= self.block_words).then_some(bits + words as u64)
        });
        advanced.ok().map(|bits| {
            let cursor = ArenaCursor::from_bits(bits);
            ArenaOffset((cursor.block * self.block_words + cursor.taken) as u32)
        })
    }

    #[cold]
    fn allocate_in_next(&self, words: usize) -> ArenaOffset {
        let _growing = self.growth.lock();
        // Another thread may have added a block before this one had the lock.
        self.advance(words).unwrap_or_else(|| {
            let block = self.add_block(self.block_words);
            let cursor = ArenaCursor { block, taken: words };
            self.cursor.store(cursor.to_bits(), Ordering::Release);
            ArenaOffset((block * self.block_words) as u32)
        })
    }

    #[cold]
    fn allocate_dedicated(&self, words: usize) -> ArenaOffset {
        let _growing = self.growth.lock();
        let block = self.add_block(words);
        ArenaOffset((block * self.block_words) as u32)
    }

    /// Appends a block to the list. Returns its number. Callers hold the lock.
    fn add_block(&self, words: usize) -> usize {
        let numbers = words.div_ceil(self.block_words);
        let first = self.blocks.len();
        let last_offset = (first + numbers) * self.block_words - 1;
        assert!(u32::try_from(last_offset).is_ok(), "a MemGraph is full");
        let list_bytes = self.blocks.appended_bytes();
        self.blocks.push((0..words).map(|_| AtomicU64::new(0)).collect());
        for _ in 1..numbers {
            self.blocks.push(Box::default());
        }
        let added = self.blocks.appended_bytes() - list_bytes + words * size_of::<AtomicU64>();
        self.words.fetch_add(words, Ordering::Relaxed);
        self.bytes.fetch_add(added, Ordering::Relaxed);
        first
    }
}

impl ArenaCursor {
    fn from_bits(bits: u64) -> Self {
        ArenaCursor { block: (bits >> 32) as usize, taken: bits as u32 as usize }
    }

    fn to_bits(self) -> u64 {
        (self.block as u64) << 32 | self.taken as u64
    }
}
