//! One large range of memory on huge pages, with its allocator.

use rlsf::Tlsf;
use std::alloc::Layout;
use std::ptr::NonNull;

/// The size of a region.
pub(crate) const BYTES: usize = 32 << 20;

/// Regions are aligned to huge pages.
const ALIGNMENT: usize = 2 << 20;

/// Alignment of the size of a piece with its header.
pub(crate) const GRANULE: usize = rlsf::GRANULARITY;

/// The allocator's header of each piece.
pub(crate) const HEADER: usize = GRANULE / 2;

/// A two-level segregated-fit allocator: O(1), and coalesces adjacent free pieces at once. Each
/// power of two has 32 size classes.
type Allocator = Tlsf<'static, u32, u32, 20, 32>;

/// A range of memory that is handed out in pieces.
pub(crate) struct Region {
    memory: NonNull<u8>,
    allocator: Box<Allocator>,
    used: usize,
    /// The end of the furthest piece ever handed out: memory after it costs nothing yet.
    touched: usize,
    /// Smallest size that found no room since a piece was last freed: larger ones find none either.
    too_large: usize,
}

// SAFETY: the region is the only owner of its memory.
unsafe impl Send for Region {}

impl Region {
    pub(crate) fn new() -> Self {
        let layout = Self::layout();
        // SAFETY: the size is not zero.
        let memory = unsafe { std::alloc::alloc(layout) };
        let memory = NonNull::new(memory).unwrap_or_else(|| std::alloc::handle_alloc_error(layout));
        use_huge_pages(memory);
        let mut allocator = Box::new(Allocator::new());
        // SAFETY: only the allocator uses the memory while the region, and with it the allocator,
        // lives.
        let added = unsafe { allocator.insert_free_block_ptr(NonNull::slice_from_raw_parts(memory, BYTES)) };
        debug_assert!(added.is_some());
        Region { memory, allocator, used: 0, touched: 0, too_large: usize::MAX }
    }

    fn layout() -> Layout {
        Layout::from_size_align(BYTES, ALIGNMENT).expect("the alignment is a power of two")
    }

    pub(crate) fn address(&self) -> usize {
        self.memory.addr().get()
    }

    /// Bytes of pieces in use.
    pub(crate) fn used_bytes(&self) -> usize {
        self.used
    }

    /// Bytes up to the end of the furthest piece ever in use.
    pub(crate) fn touched_bytes(&self) -> usize {
        self.touched
    }

    /// Allocates a piece, aligned to 16, if there is room. O(1).
    pub(crate) fn allocate(&mut self, bytes: usize) -> Option<NonNull<u8>> {
        if bytes >= self.too_large {
            return None;
        }
        let layout = Layout::from_size_align(bytes, 16).ok()?;
        let Some(piece) = self.allocator.allocate(layout) else {
            self.too_large = bytes;
            return None;
        };
        self.used += bytes;
        self.touched = self.touched.max(piece.addr().get() + bytes - self.address());
        Some(piece)
    }

    /// Frees a piece. O(1).
    ///
    /// # Safety
    /// This region handed it out with this size, and it is not used any more.
    pub(crate) unsafe fn free(&mut self, piece: NonNull<u8>, bytes: usize) {
        // SAFETY: the caller's promise; all pieces have this alignment.
        unsafe { self.allocator.deallocate(piece, 16) };
        self.used -= bytes;
        self.too_large = usize::MAX;
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        debug_assert_eq!(self.used, 0, "a region is dropped when nothing of it is in use");
        // SAFETY: from `new` with this layout; the allocator, which points into it, is dropped with
        // it.
        unsafe { std::alloc::dealloc(self.memory.as_ptr(), Self::layout()) }
    }
}

/// Asks the kernel for huge pages. Everything works without them, only slower.
fn use_huge_pages(memory: NonNull<u8>) {
    #[cfg(target_os = "linux")]
    {
        use rustix::mm::{Advice, madvise};
        // SAFETY: the advice changes no content; the memory is the region's own.
        let _ = unsafe { madvise(memory.as_ptr().cast(), BYTES, Advice::LinuxHugepage) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = memory;
}
