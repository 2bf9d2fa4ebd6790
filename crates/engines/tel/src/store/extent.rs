//! Large ranges of memory.

use super::buddies::BuddyRegion;
use crate::layout::class_of;
use hedgerow_in_memory::reclamation::{map, unmap};
use std::alloc::Layout;
use std::ptr::NonNull;

/// Blocks are aligned to cache lines.
const ALIGNMENT: usize = 64;

/// Large extents are aligned to huge pages.
const HUGE_PAGE: usize = 2 << 20;

/// Bytes of the first extent of a store, which is enough for a small graph.
const FIRST: usize = 1 << 20;

/// Bytes of the largest extent.
const MOST: usize = 64 << 20;

/// A range of memory, used from its front.
pub(super) struct MemoryExtent {
    memory: NonNull<u8>,
    /// A power of two.
    bytes: usize,
    /// The end of the blocks that were ever used.
    used: usize,
}

// SAFETY: the extent is the only owner of its memory.
unsafe impl Send for MemoryExtent {}

impl MemoryExtent {
    /// Allocates the extent after `number` others, of at least `least` bytes: twice as large as its
    /// predecessor, up to [`MOST`].
    pub(super) fn new(number: usize, least: usize) -> Self {
        let bytes = length(number, least);
        MemoryExtent { memory: allocate_globally(bytes), bytes, used: 0 }
    }

    /// Returns the region of the extent's blocks.
    pub(super) fn region(&self) -> BuddyRegion {
        BuddyRegion { first: self.memory, largest: class_of(self.bytes) }
    }

    /// Notes that a block is used.
    pub(super) fn use_up_to(&mut self, memory: NonNull<u8>, bytes: usize) {
        let end = memory.addr().get() - self.memory.addr().get() + bytes;
        self.used = self.used.max(end);
    }

    /// Bytes up to the end of the blocks that were ever used.
    pub(super) fn used_before(&self) -> usize {
        self.used
    }
}

impl Drop for MemoryExtent {
    fn drop(&mut self) {
        // SAFETY: allocated with this size; users of its blocks kept the store alive until now.
        unsafe { free_globally(self.memory, self.bytes) }
    }
}

/// Bytes of the extent after `number` others: a power of two.
pub(super) fn length(number: usize, least: usize) -> usize {
    (FIRST << number.min(6)).min(MOST).max(least)
}

fn global_layout(bytes: usize) -> Layout {
    let alignment = if bytes < 2 * HUGE_PAGE { ALIGNMENT } else { HUGE_PAGE };
    Layout::from_size_align(bytes, alignment).expect("a power of two")
}

/// Allocates memory from the global allocator.
pub(super) fn allocate_globally(bytes: usize) -> NonNull<u8> {
    let memory = map(global_layout(bytes));
    if bytes >= 2 * HUGE_PAGE {
        use_huge_pages(memory, bytes);
    }
    memory
}

/// Returns memory to the global allocator.
///
/// # Safety
/// It came from [`allocate_globally`] with the same size, and is not used any more.
pub(super) unsafe fn free_globally(memory: NonNull<u8>, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { unmap(memory, global_layout(bytes)) }
}

/// Asks the kernel for huge pages. Everything works without them, only slower.
fn use_huge_pages(memory: NonNull<u8>, bytes: usize) {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        use rustix::mm::{Advice, madvise};
        // SAFETY: the advice changes no content; the memory is our own.
        let _ = unsafe { madvise(memory.as_ptr().cast(), bytes, Advice::LinuxHugepage) };
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    let _ = (memory, bytes);
}

/// Returns the pages within an unused piece to the kernel. Their contents are lost.
pub(super) fn give_back_pages(memory: NonNull<u8>, bytes: usize) {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        use rustix::mm::{Advice, madvise};
        const PAGE: usize = 4096;
        let skipped = memory.as_ptr().align_offset(PAGE);
        let pages = bytes.saturating_sub(skipped) / PAGE * PAGE;
        let first = memory.as_ptr().wrapping_add(skipped);
        // SAFETY: private memory of our own, whose contents are not needed.
        let _ = unsafe { madvise(first.cast(), pages, Advice::LinuxDontNeed) };
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    let _ = (memory, bytes);
}
