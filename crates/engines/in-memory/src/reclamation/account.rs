//! Accounting of the bytes that containers report as allocated, freed or moved.
//!
//! Versions share memory, so the bytes that a change allocates or a reclamation frees differ from
//! the size of a version. Containers report allocations and frees where they happen; their callers
//! measure the sum.

use std::cell::Cell;

hedgerow_sync::thread_local! {
    static NET: Cell<isize> = const { Cell::new(0) };
    static MOVED: Cell<u64> = const { Cell::new(0) };
    static COMPARED: Cell<u64> = const { Cell::new(0) };
}

/// Reports that this thread allocated memory for a container.
#[inline]
pub fn allocated(bytes: usize) {
    NET.with(|net| net.set(net.get().wrapping_add_unsigned(bytes)));
}

/// Reports that this thread freed memory of a container.
#[inline]
pub fn freed(bytes: usize) {
    NET.with(|net| net.set(net.get().wrapping_sub_unsigned(bytes)));
}

/// Runs `work`. Returns its result and the bytes that it allocated minus the bytes that it freed.
#[inline]
pub fn measure<R>(work: impl FnOnce() -> R) -> (R, isize) {
    let before = NET.with(Cell::get);
    let result = work();
    (result, NET.with(Cell::get).wrapping_sub(before))
}

/// Reports that this thread wrote or moved `bytes` bytes of a container, not counting the changed
/// entry itself: tests bound this overhead of a change. Counted only with debug assertions.
#[inline]
pub fn moved(bytes: usize) {
    if cfg!(debug_assertions) {
        MOVED.with(|moved| moved.set(moved.get() + bytes as u64));
    }
}

/// Runs `work`. Returns its result and the bytes that this thread moved for it; 0 without debug
/// assertions.
pub fn measure_moved<R>(work: impl FnOnce() -> R) -> (R, u64) {
    let before = MOVED.with(Cell::get);
    let result = work();
    (result, MOVED.with(Cell::get) - before)
}

/// Reports that this thread compared the birth of a superseded version. Tests check that the count
/// hardly depends on the length of a history. Counted only with debug assertions.
#[inline]
pub fn compared() {
    if cfg!(debug_assertions) {
        COMPARED.with(|compared| compared.set(compared.get() + 1));
    }
}

/// Runs `work`. Returns its result and the number of superseded versions that this thread compared
/// for it; 0 without debug assertions.
pub fn measure_compared<R>(work: impl FnOnce() -> R) -> (R, u64) {
    let before = COMPARED.with(Cell::get);
    let result = work();
    (result, COMPARED.with(Cell::get) - before)
}
