//! Large pieces of memory that return to the operating system as soon as they are freed.
//!
//! An allocator may keep a freed piece: one in a thread's arena below pieces that are still in use,
//! or one smaller than the largest piece freed so far.

use hedgerow_sync::atomic::{Ordering, ProcessUsize};
use std::alloc::Layout;
use std::ptr::NonNull;

/// Minimum size of a mapped piece; smaller ones come from the allocator. Checked builds map none,
/// so that their tools see every piece.
const MAPPED_FROM: usize = match cfg!(all(target_os = "linux", not(hedgerow_checked_memory), not(miri))) {
    true => 1 << 20,
    false => usize::MAX,
};

static MAPPED: ProcessUsize = ProcessUsize::new(0);

/// Returns the total bytes of mapped pieces in the process. O(1).
#[must_use]
pub fn mapped_bytes() -> usize {
    MAPPED.load(Ordering::Relaxed)
}

/// Allocates a piece with undefined content. Aborts the process if memory is exhausted, like the
/// allocator.
///
/// # Panics
/// If the layout has size zero.
#[must_use]
pub fn map(layout: Layout) -> NonNull<u8> {
    assert!(layout.size() > 0, "a piece has a size");
    let is_mapped = layout.size() >= MAPPED_FROM;
    let memory = match is_mapped {
        true => system::map(layout),
        // SAFETY: the layout's size is not zero.
        false => NonNull::new(unsafe { std::alloc::alloc(layout) }),
    };
    if is_mapped {
        MAPPED.fetch_add(layout.size(), Ordering::Relaxed);
    }
    memory.unwrap_or_else(|| std::alloc::handle_alloc_error(layout))
}

/// Frees a piece.
///
/// # Safety
/// It came from [`map`] with this layout, and is not used any more.
pub unsafe fn unmap(memory: NonNull<u8>, layout: Layout) {
    if layout.size() < MAPPED_FROM {
        // SAFETY: the caller's promise.
        return unsafe { std::alloc::dealloc(memory.as_ptr(), layout) };
    }
    MAPPED.fetch_sub(layout.size(), Ordering::Relaxed);
    // SAFETY: the caller's promise.
    unsafe { system::unmap(memory, layout.size()) }
}

#[cfg(target_os = "linux")]
mod system {
    use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
    use std::alloc::Layout;
    use std::ptr::NonNull;

    const PAGE: usize = 4096;

    pub(super) fn map(layout: Layout) -> Option<NonNull<u8>> {
        let bytes = layout.size();
        // The kernel aligns only to pages: map more, and cut out the aligned part.
        let slack = if layout.align() > PAGE { layout.align() } else { 0 };
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: new memory of the kernel's choice.
        let all = unsafe { mmap_anonymous(std::ptr::null_mut(), bytes.checked_add(slack)?, access, flags) };
        let all = all.ok()?.cast::<u8>();
        let before = if slack > 0 { all.align_offset(layout.align()) } else { 0 };
        let memory = all.wrapping_add(before);
        for (start, left_over) in [(all, before), (memory.wrapping_add(bytes), slack - before)] {
            if left_over > 0 {
                // SAFETY: a part of the new memory, whole pages that nothing uses.
                let _ = unsafe { munmap(start.cast(), left_over) };
            }
        }
        NonNull::new(memory)
    }

    /// # Safety
    /// As for [`super::unmap`].
    pub(super) unsafe fn unmap(memory: NonNull<u8>, bytes: usize) {
        // SAFETY: the caller's promise. Fails only at the process's limit of mappings: then the
        // memory stays mapped.
        let _ = unsafe { munmap(memory.as_ptr().cast(), bytes) };
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::alloc::Layout;
    use std::ptr::NonNull;

    pub(super) fn map(_layout: Layout) -> Option<NonNull<u8>> {
        unreachable!("all pieces come from the allocator")
    }

    pub(super) unsafe fn unmap(_memory: NonNull<u8>, _bytes: usize) {
        unreachable!("all pieces come from the allocator")
    }
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_aligned_usable_and_given_back() {
        let before = mapped_bytes();
        let sizes = [(64, 64), (1 << 20, 64), (1 << 20, 4096), (3 << 20, 2 << 20), (1 << 22, 2 << 20)];
        let layouts =
            sizes.map(|(bytes, alignment)| Layout::from_size_align(bytes, alignment).expect("valid"));
        let pieces = layouts.map(|layout| (map(layout), layout));
        for (memory, layout) in pieces {
            assert_eq!(memory.as_ptr().addr() % layout.align(), 0);
            // SAFETY: new memory of this size.
            unsafe { memory.write_bytes(7, layout.size()) };
        }
        assert!(MAPPED_FROM == usize::MAX || mapped_bytes() - before == 9 << 20);
        for (memory, layout) in pieces {
            // SAFETY: from `map` with this layout.
            unsafe { unmap(memory, layout) };
        }
        assert_eq!(mapped_bytes(), before);
    }
}
