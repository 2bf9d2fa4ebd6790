//! Large ranges of memory, handed out from the front.

use super::scratch::{Full, ScratchFile};
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

/// A range of memory whose front is in use.
pub(super) struct MemoryExtent {
    memory: NonNull<u8>,
    bytes: usize,
    used: usize,
    /// The layout that it was allocated with. `None` if the file owns the memory.
    layout: Option<Layout>,
}

// SAFETY: the extent is the only owner of its memory.
unsafe impl Send for MemoryExtent {}

impl MemoryExtent {
    /// The extent after `number` others, of at least `least` bytes: twice as large as the one
    /// before.
    pub(super) fn new(number: usize, least: usize) -> Self {
        let bytes = length(number, least);
        let alignment = if bytes < 2 * HUGE_PAGE { ALIGNMENT } else { HUGE_PAGE };
        let layout = Layout::from_size_align(bytes, alignment).expect("a power of two");
        let memory = allocate(layout);
        if bytes >= 2 * HUGE_PAGE {
            use_huge_pages(memory, bytes);
        }
        MemoryExtent { memory, bytes, used: 0, layout: Some(layout) }
    }

    /// The extent after `number` others in a file; shorter if the disk is nearly full, but at least
    /// `least` bytes.
    pub(super) fn in_file(number: usize, least: usize, scratch: &ScratchFile) -> Result<Self, Full> {
        let (memory, bytes) = scratch.extend(length(number, least), least)?;
        Ok(MemoryExtent { memory, bytes, used: 0, layout: None })
    }

    /// The next `bytes` bytes, if there are that many left. O(1).
    pub(super) fn cut(&mut self, bytes: usize) -> Option<NonNull<u8>> {
        if self.bytes - self.used < bytes {
            return None;
        }
        let memory = NonNull::new(self.memory.as_ptr().wrapping_add(self.used));
        self.used += bytes;
        memory
    }
}

impl Drop for MemoryExtent {
    fn drop(&mut self) {
        if let Some(layout) = self.layout {
            // SAFETY: allocated with this layout; users of its pieces kept the store alive until
            // now.
            unsafe { std::alloc::dealloc(self.memory.as_ptr(), layout) }
        }
    }
}

/// Bytes of the extent after `number` others.
fn length(number: usize, least: usize) -> usize {
    (FIRST << number.min(6)).min(MOST).max(least)
}

fn allocate(layout: Layout) -> NonNull<u8> {
    // SAFETY: no size is zero.
    let memory = unsafe { std::alloc::alloc(layout) };
    NonNull::new(memory).unwrap_or_else(|| std::alloc::handle_alloc_error(layout))
}

fn global_layout(bytes: usize) -> Layout {
    let alignment = if bytes < 2 * HUGE_PAGE { ALIGNMENT } else { HUGE_PAGE };
    Layout::from_size_align(bytes, alignment).expect("a power of two")
}

/// Allocates memory from the global allocator.
pub(super) fn allocate_globally(bytes: usize) -> NonNull<u8> {
    let memory = allocate(global_layout(bytes));
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
    unsafe { std::alloc::dealloc(memory.as_ptr(), global_layout(bytes)) }
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
