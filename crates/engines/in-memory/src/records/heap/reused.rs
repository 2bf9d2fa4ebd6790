//! The allocator of records under the model checker. It hands out the address that was freed last
//! before any other of the same size, so a reader of a freed record finds another record, or bytes
//! that no record has, and the handle of a record soon stands for another one.

use std::alloc::Layout;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// The content of free memory: no length that any memory has.
const FREED: u8 = 0xfd;

// All tasks of one modelled execution run on one thread of the operating system.
thread_local! {
    /// Free memory, by its size.
    static FREE: RefCell<BTreeMap<usize, Vec<*mut u8>>> = const { RefCell::new(BTreeMap::new()) };
}

/// Like [`std::alloc::alloc`].
///
/// # Safety
/// As there.
pub(super) unsafe fn alloc(layout: Layout) -> *mut u8 {
    let freed = FREE.with_borrow_mut(|free| free.get_mut(&layout.size()).and_then(Vec::pop));
    // SAFETY: the caller's promise.
    freed.unwrap_or_else(|| unsafe { std::alloc::alloc(layout) })
}

/// Like [`std::alloc::dealloc`], but keeps the memory.
///
/// # Safety
/// As there.
pub(super) unsafe fn dealloc(memory: *mut u8, layout: Layout) {
    assert!(!is_free(memory), "a record was freed twice");
    // SAFETY: the caller gives up memory of this layout.
    unsafe { memory.write_bytes(FREED, layout.size()) };
    FREE.with_borrow_mut(|free| free.entry(layout.size()).or_default().push(memory));
}

/// Panics if the memory is free.
pub(super) fn check_used(memory: *const u8) {
    assert!(!is_free(memory), "a record was used after it was freed");
}

fn is_free(memory: *const u8) -> bool {
    FREE.with_borrow(|free| free.values().flatten().any(|other| other.cast_const() == memory))
}
