//! Memory for blocks: regions that are filled from the front, and freed blocks.

use crate::adjacency::block::LINE_BYTES;
use hedgerow_in_memory::reclamation::{map, unmap};
use hedgerow_sync::Mutex;
use hedgerow_sync::atomic::{AtomicUsize, Ordering};
use std::alloc::Layout;
use std::collections::BTreeMap;
use std::ptr::NonNull;

/// Bytes of a region, unless a block is larger.
const REGION_BYTES: usize = if cfg!(any(test, miri)) { 4096 } else { 1 << 20 };

/// Minimum bytes of a block that may reuse a larger freed block, up to a quarter larger
/// ([`SPARE_PART`]). Otherwise the memory of rows that shrink and grow would fragment into ever
/// other sizes.
const LARGE_BYTES: usize = 4096;

const SPARE_PART: usize = 4;

/// Memory that is freed with the arenas.
struct ArenaRegion {
    memory: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the region owns its memory.
unsafe impl Send for ArenaRegion {}

impl ArenaRegion {
    fn new(bytes: usize) -> Self {
        let layout = Layout::from_size_align(bytes.next_multiple_of(LINE_BYTES), LINE_BYTES);
        let layout = layout.expect("a block fits into the address space");
        ArenaRegion { memory: map(layout), layout }
    }
}

impl Drop for ArenaRegion {
    fn drop(&mut self) {
        // SAFETY: from `new`, and owned by this.
        unsafe { unmap(self.memory, self.layout) }
    }
}

/// Memory for the blocks that one thread makes at a time.
#[derive(Default)]
pub(super) struct BlockArena {
    /// The unused rest of a region.
    next: Option<NonNull<u8>>,
    left: usize,
    /// Freed blocks, by their bytes.
    free: BTreeMap<usize, Vec<NonNull<u8>>>,
}

// SAFETY: it owns its parts of the regions, which live as long as the arenas that own it.
unsafe impl Send for BlockArena {}

impl BlockArena {
    /// Takes back memory for later blocks of these bytes.
    ///
    /// # Safety
    /// The arenas of the same adjacency allocated the memory with this size, and nothing uses it.
    pub(super) unsafe fn take_back(&mut self, memory: NonNull<u8>, bytes: usize) {
        self.free.entry(bytes).or_default().push(memory);
    }

    /// Reuses a freed block of at least `bytes`. Returns it with its bytes. O(log sizes).
    fn reuse(&mut self, bytes: usize) -> Option<(NonNull<u8>, usize)> {
        if bytes < LARGE_BYTES {
            return Some((self.free.get_mut(&bytes)?.pop()?, bytes));
        }
        let most = bytes + bytes / SPARE_PART;
        let (found, blocks) = self.free.range_mut(bytes..=most).next()?;
        let (found, memory) = (*found, blocks.pop()?);
        if blocks.is_empty() {
            self.free.remove(&found);
        }
        Some((memory, found))
    }
}

/// All arenas of an adjacency. Their memory is freed with them.
#[derive(Default)]
pub(super) struct BlockArenas {
    idle: Mutex<Vec<BlockArena>>,
    regions: Mutex<Vec<ArenaRegion>>,
    /// Bytes of all regions and, in `block_bytes`, of the blocks in use.
    region_bytes: AtomicUsize,
    block_bytes: AtomicUsize,
}

impl BlockArenas {
    /// Runs `work` with an arena that no other thread uses.
    pub(super) fn with_arena<R>(&self, work: impl FnOnce(&mut BlockArena) -> R) -> R {
        let mut arena = self.idle.lock().pop().unwrap_or_default();
        let result = work(&mut arena);
        self.idle.lock().push(arena);
        result
    }

    /// Allocates at least `bytes`, a multiple of 8. Returns the memory and its bytes. It is aligned
    /// to 8, or to 64 if these and all other sizes are multiples of 64. Its content is undefined.
    pub(super) fn allocate(&self, arena: &mut BlockArena, bytes: usize) -> (NonNull<u8>, usize) {
        let (memory, bytes) = arena.reuse(bytes).unwrap_or_else(|| (self.allocate_new(arena, bytes), bytes));
        self.block_bytes.fetch_add(bytes, Ordering::Relaxed);
        (memory, bytes)
    }

    fn allocate_new(&self, arena: &mut BlockArena, bytes: usize) -> NonNull<u8> {
        let alignment = if bytes.is_multiple_of(LINE_BYTES) { LINE_BYTES } else { 8 };
        let padding = arena.next.map_or(0, |next| next.align_offset(alignment));
        if arena.left < padding + bytes {
            let (region, left) = self.add_region(bytes.max(REGION_BYTES));
            (arena.next, arena.left) = (Some(region), left);
            return self.take(arena, 0, bytes);
        }
        self.take(arena, padding, bytes)
    }

    /// Takes bytes from the rest of the arena's region, which is large enough.
    fn take(&self, arena: &mut BlockArena, padding: usize, bytes: usize) -> NonNull<u8> {
        let next = arena.next.expect("an arena has what is left of a region");
        // SAFETY: at least `padding + bytes` bytes of the region are left.
        let taken = unsafe { next.add(padding) };
        // SAFETY: as above.
        let rest = unsafe { taken.add(bytes) };
        (arena.next, arena.left) = (Some(rest), arena.left - padding - bytes);
        taken
    }

    /// Adds a region. Returns its memory and its bytes.
    fn add_region(&self, bytes: usize) -> (NonNull<u8>, usize) {
        let region = ArenaRegion::new(bytes);
        let (memory, bytes) = (region.memory, region.layout.size());
        self.region_bytes.fetch_add(bytes, Ordering::Relaxed);
        self.regions.lock().push(region);
        (memory, bytes)
    }

    /// Counts blocks as no longer in use: their memory was [taken back](BlockArena::take_back).
    pub(super) fn count_freed(&self, bytes: usize) {
        self.block_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Returns the bytes of the blocks in use, and the bytes left for others. O(1).
    pub(super) fn used_and_free_bytes(&self) -> (usize, usize) {
        let used = self.block_bytes.load(Ordering::Relaxed);
        (used, self.region_bytes.load(Ordering::Relaxed).saturating_sub(used))
    }
}
