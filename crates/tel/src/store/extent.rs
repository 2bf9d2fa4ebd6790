//! Large pieces of memory, cut off from the front.

use super::scratch::{Full, Scratch};
use std::alloc::Layout;
use std::ptr::NonNull;

/// Blocks begin at lines of memory.
const ALIGNMENT: usize = 64;

/// Large extents begin at huge pages.
const HUGE_PAGE: usize = 2 << 20;

/// The first extent of a store, which may hold a small graph.
const FIRST: usize = 1 << 20;

/// The largest.
const MOST: usize = 64 << 20;

/// Memory of which the front is in use.
pub(super) struct Extent {
    memory: NonNull<u8>,
    bytes: usize,
    used: usize,
    /// As what it was allocated. The memory of a file is the file's.
    layout: Option<Layout>,
}

// SAFETY: the extent is the only owner of its memory.
unsafe impl Send for Extent {}

impl Extent {
    /// The extent that follows so many others, at least `least` long: twice as large as the one before.
    pub(super) fn new(number: usize, least: usize) -> Self {
        let bytes = length(number, least);
        let alignment = if bytes < 2 * HUGE_PAGE { ALIGNMENT } else { HUGE_PAGE };
        let layout = Layout::from_size_align(bytes, alignment).expect("a power of two");
        let memory = allocate(layout);
        if bytes >= 2 * HUGE_PAGE {
            use_huge_pages(memory, bytes);
        }
        Extent { memory, bytes, used: 0, layout: Some(layout) }
    }

    /// The same in a file, shorter where the disk has not so much.
    pub(super) fn in_file(number: usize, least: usize, scratch: &Scratch) -> Result<Self, Full> {
        let (memory, bytes) = scratch.extend(length(number, least), least)?;
        Ok(Extent { memory, bytes, used: 0, layout: None })
    }

    /// The next bytes, if there are so many. O(1).
    pub(super) fn cut(&mut self, bytes: usize) -> Option<NonNull<u8>> {
        if self.bytes - self.used < bytes {
            return None;
        }
        let memory = NonNull::new(self.memory.as_ptr().wrapping_add(self.used));
        self.used += bytes;
        memory
    }
}

impl Drop for Extent {
    fn drop(&mut self) {
        if let Some(layout) = self.layout {
            // SAFETY: allocated with this layout; who used pieces of it kept the store alive until now.
            unsafe { std::alloc::dealloc(self.memory.as_ptr(), layout) }
        }
    }
}

/// Bytes of the extent that follows so many others.
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

/// Memory of the global allocator.
pub(super) fn allocate_globally(bytes: usize) -> NonNull<u8> {
    let memory = allocate(global_layout(bytes));
    if bytes >= 2 * HUGE_PAGE {
        use_huge_pages(memory, bytes);
    }
    memory
}

/// Gives memory of the global allocator back.
///
/// # Safety
/// It came from [`allocate_globally`] with the same size, and nobody uses it any more.
pub(super) unsafe fn free_globally(memory: NonNull<u8>, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { std::alloc::dealloc(memory.as_ptr(), global_layout(bytes)) }
}

/// Asks the system for huge pages. Without them everything works, only slower.
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

/// Lets the system have the pages that lie within a piece that nobody uses. What was in it is lost.
pub(super) fn give_back_pages(memory: NonNull<u8>, bytes: usize) {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        use rustix::mm::{Advice, madvise};
        const PAGE: usize = 4096;
        let skipped = memory.as_ptr().align_offset(PAGE);
        let pages = bytes.saturating_sub(skipped) / PAGE * PAGE;
        let first = memory.as_ptr().wrapping_add(skipped);
        // SAFETY: private memory of our own, of which nobody needs the content.
        let _ = unsafe { madvise(first.cast(), pages, Advice::LinuxDontNeed) };
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    let _ = (memory, bytes);
}
