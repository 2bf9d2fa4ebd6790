//! Memory for blocks and leaves.

use std::alloc::Layout;
use std::ptr::NonNull;

/// Sizes are multiples of this.
const GRANULE: usize = 32;

/// The size that is handed out for `bytes`.
pub(crate) fn rounded(bytes: usize) -> usize {
    bytes.next_multiple_of(GRANULE)
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, 16).expect("blocks are small")
}

/// Memory of a [`rounded`] size, aligned to 16.
pub(crate) fn allocate(bytes: usize) -> NonNull<u8> {
    // SAFETY: the size is not zero.
    let memory = unsafe { std::alloc::alloc(layout(bytes)) };
    NonNull::new(memory).unwrap_or_else(|| std::alloc::handle_alloc_error(layout(bytes)))
}

/// # Safety
/// From `allocate` with the same size.
pub(crate) unsafe fn free(memory: NonNull<u8>, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { std::alloc::dealloc(memory.as_ptr(), layout(bytes)) }
}
