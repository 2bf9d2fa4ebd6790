//! Memory for blocks: regions that are filled from the beginning, and blocks that were freed.

use crate::adjacency::block::LINE_BYTES;
use hedgerow_reclamation::{map, unmap};
use hedgerow_sync::Mutex;
use hedgerow_sync::atomic::{AtomicUsize, Ordering};
use std::alloc::Layout;
use std::collections::BTreeMap;
use std::ptr::NonNull;

/// Bytes of a region, unless a block is larger.
const REGION_BYTES: usize = if cfg!(any(test, miri)) { 4096 } else { 1 << 20 };

/// From these bytes on a block may take the place of one that was freed and is larger, by up to a [`SPARE_PART`] of its bytes. So the
/// memory of rows that shrink and grow does not become that of ever other sizes.
const LARGE_BYTES: usize = 4096;

const SPARE_PART: usize = 4;

/// Memory that is freed with the arenas.
struct Region {
    memory: NonNull<u8>,
    layout: Layout,
}

// SAFETY: it owns its memory.
unsafe impl Send for Region {}

impl Region {
    fn new(bytes: usize) -> Self {
        let layout = Layout::from_size_align(bytes.next_multiple_of(LINE_BYTES), LINE_BYTES);
        let layout = layout.expect("a block fits into the address space");
        Region { memory: map(layout), layout }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: from `new`, and owned by this.
        unsafe { unmap(self.memory, self.layout) }
    }
}

/// Memory for the blocks that one thread makes at a time.
#[derive(Default)]
pub(super) struct BlockArena {
    /// The rest of a region.
    next: Option<NonNull<u8>>,
    left: usize,
    /// Freed blocks by their bytes.
    free: BTreeMap<usize, Vec<NonNull<u8>>>,
}

// SAFETY: it owns what it has of the regions, and those live as long as the arenas, which have it.
unsafe impl Send for BlockArena {}

impl BlockArena {
    /// Takes back memory for later blocks of these bytes.
    ///
    /// # Safety
    /// The arenas of the same adjacency allocated it with as many bytes, and nothing uses it.
    pub(super) unsafe fn take_back(&mut self, memory: NonNull<u8>, bytes: usize) {
        self.free.entry(bytes).or_default().push(memory);
    }

    /// Takes memory of at least these bytes out of what was taken back, with its bytes. O(log sizes).
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
    regions: Mutex<Vec<Region>>,
    /// Bytes of all regions, and of the blocks that are in use.
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

    /// Memory of at least this many bytes, a multiple of 8, and how many it has. It is aligned to 8, and to 64 if that and all others are
    /// multiples of 64. Its content is undefined.
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

    /// Takes bytes of the rest of the arena's region, which has as many.
    fn take(&self, arena: &mut BlockArena, padding: usize, bytes: usize) -> NonNull<u8> {
        let next = arena.next.expect("an arena has what is left of a region");
        // SAFETY: the region has as many bytes left.
        let taken = unsafe { next.add(padding) };
        // SAFETY: as above.
        let rest = unsafe { taken.add(bytes) };
        (arena.next, arena.left) = (Some(rest), arena.left - padding - bytes);
        taken
    }

    /// The memory of a new region, and its bytes.
    fn add_region(&self, bytes: usize) -> (NonNull<u8>, usize) {
        let region = Region::new(bytes);
        let (memory, bytes) = (region.memory, region.layout.size());
        self.region_bytes.fetch_add(bytes, Ordering::Relaxed);
        self.regions.lock().push(region);
        (memory, bytes)
    }

    /// Notes that blocks of these bytes are no longer in use: their memory was [taken back](BlockArena::take_back).
    pub(super) fn count_freed(&self, bytes: usize) {
        self.block_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Bytes of the blocks that are in use, and of what is left for others. O(1).
    pub(super) fn used_and_free_bytes(&self) -> (usize, usize) {
        let used = self.block_bytes.load(Ordering::Relaxed);
        (used, self.region_bytes.load(Ordering::Relaxed).saturating_sub(used))
    }
}
