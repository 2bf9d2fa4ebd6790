//! Bytes that containers allocate, free and move, told by themselves.
//!
//! Versions share memory, so what a change takes or a reclamation frees is not the size of a version.
//! Containers say what they allocate and free where they do it; whoever runs them measures the sum.

use std::cell::Cell;

hedgerow_sync::thread_local! {
    static NET: Cell<isize> = const { Cell::new(0) };
    static MOVED: Cell<u64> = const { Cell::new(0) };
    static COMPARED: Cell<u64> = const { Cell::new(0) };
}

/// Says that this thread allocated memory for a container.
#[inline]
pub fn allocated(bytes: usize) {
    NET.with(|net| net.set(net.get().wrapping_add_unsigned(bytes)));
}

/// Says that this thread freed memory of a container.
#[inline]
pub fn freed(bytes: usize) {
    NET.with(|net| net.set(net.get().wrapping_sub_unsigned(bytes)));
}

/// Runs `work`, and says how many bytes it allocated beyond those that it freed.
#[inline]
pub fn measure<R>(work: impl FnOnce() -> R) -> (R, isize) {
    let before = NET.with(Cell::get);
    let result = work();
    (result, NET.with(Cell::get).wrapping_sub(before))
}

/// Says that this thread wrote or moved so many bytes of a container beside the entry that a change is about: that is
/// what a change costs where it should cost little. Counted only where debug assertions are on.
#[inline]
pub fn moved(bytes: usize) {
    if cfg!(debug_assertions) {
        MOVED.with(|moved| moved.set(moved.get() + bytes as u64));
    }
}

/// Runs `work`, and says how many bytes this thread moved for it; 0 without debug assertions.
pub fn measure_moved<R>(work: impl FnOnce() -> R) -> (R, u64) {
    let before = MOVED.with(Cell::get);
    let result = work();
    (result, MOVED.with(Cell::get) - before)
}

/// Says that this thread compared a birth of a superseded version: how long the history of a partition is must hardly show. Counted
/// only where debug assertions are on.
#[inline]
pub fn compared() {
    if cfg!(debug_assertions) {
        COMPARED.with(|compared| compared.set(compared.get() + 1));
    }
}

/// Runs `work`, and says how many superseded versions this thread looked at for it; 0 without debug assertions.
pub fn measure_compared<R>(work: impl FnOnce() -> R) -> (R, u64) {
    let before = COMPARED.with(Cell::get);
    let result = work();
    (result, COMPARED.with(Cell::get) - before)
}
