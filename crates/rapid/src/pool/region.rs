//! One large piece of memory on huge pages, and what is free in it.

use rlsf::Tlsf;
use std::alloc::Layout;
use std::ptr::NonNull;

/// The size of a region.
pub(crate) const BYTES: usize = 32 << 20;

/// Regions begin at huge pages.
const ALIGNMENT: usize = 2 << 20;

/// Pieces and what the allocator keeps beside each are together multiples of this.
pub(crate) const GRANULE: usize = rlsf::GRANULARITY;

/// What the allocator keeps beside each piece.
pub(crate) const HEADER: usize = GRANULE / 2;

/// A two-level segregated-fit allocator: O(1), and free neighbors become one at once. A class is a
/// thirty-second of a power of two.
type Allocator = Tlsf<'static, u32, u32, 20, 32>;

/// Memory that is handed out in pieces.
pub(crate) struct Region {
    memory: NonNull<u8>,
    allocator: Box<Allocator>,
    used: usize,
    /// The end of the furthest piece that was ever handed out: what lies behind costs no memory yet.
    touched: usize,
    /// No piece of this size or more is free, if none was given back since.
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
        // SAFETY: nobody else uses the memory as long as the region, and with it the allocator, lives.
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

    /// Bytes of the pieces in use.
    pub(crate) fn used_bytes(&self) -> usize {
        self.used
    }

    /// Bytes up to the end of the furthest piece that was ever in use.
    pub(crate) fn touched_bytes(&self) -> usize {
        self.touched
    }

    /// A piece, aligned to 16, if there is room. O(1).
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

    /// Takes a piece back. O(1).
    ///
    /// # Safety
    /// This region handed it out with this size, and nobody uses it any more.
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
        // SAFETY: from `new` with this layout; the allocator, which knows its places, goes with it.
        unsafe { std::alloc::dealloc(self.memory.as_ptr(), Self::layout()) }
    }
}

/// Asks the system for huge pages. Without them everything works, only slower.
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
