//! Prefetching.

/// Bytes per cache line.
const LINE: usize = 64;

/// Prefetches the first `bytes` bytes behind a pointer. Only a hint: the pointer may be invalid.
#[inline]
pub fn prefetch<T>(pointer: *const T, bytes: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri), not(hedgerow_shuttle)))]
    for offset in (0..bytes).step_by(LINE) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and never faults, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(pointer.cast::<i8>().wrapping_add(offset)) }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri), not(hedgerow_shuttle))))]
    let _ = (pointer, bytes, LINE);
}
