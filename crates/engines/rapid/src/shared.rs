//! Pointers with the reference count next to the value, so that a reader follows one pointer.
//!
//! The counterpart of [`std::sync::Arc`] for pool memory. Its only invariant: a [`SharedPointer`]
//! is one of `owners` pointers to a value that lives while there is at least one, and that changes
//! only while there is exactly one.

use hedgerow_sync::atomic::{AtomicU32, Ordering, fence};
use std::ops::Deref;
use std::ptr::NonNull;

/// A value that can have several owners.
///
/// # Safety
/// [`Counted::owners`] always returns the same counter of the value, and only [`SharedPointer`]
/// uses it once it was made with one owner.
pub(crate) unsafe trait Counted: Send + Sync {
    /// The number of owners.
    fn owners(&self) -> &AtomicU32;

    /// Drops the value and frees its memory.
    ///
    /// # Safety
    /// It is not used any more.
    unsafe fn free(this: NonNull<Self>);
}

/// One of the owners of a value.
#[repr(transparent)]
pub(crate) struct SharedPointer<T: Counted>(NonNull<T>);

// SAFETY: shared owners only read; changes need the only owner, and the count is atomic.
unsafe impl<T: Counted> Send for SharedPointer<T> {}
// SAFETY: as above.
unsafe impl<T: Counted> Sync for SharedPointer<T> {}

impl<T: Counted> SharedPointer<T> {
    /// Makes the first owner of a value.
    ///
    /// # Safety
    /// There is no other pointer to it, it counts one owner, and [`Counted::free`] can free it.
    pub(crate) unsafe fn new(value: NonNull<T>) -> Self {
        SharedPointer(value)
    }

    /// The value, if this is its only owner.
    #[inline]
    pub(crate) fn get_mut(&mut self) -> Option<&mut T> {
        // Acquire: accesses by other owners happen before this owner's changes.
        if self.owners().load(Ordering::Acquire) != 1 {
            return None;
        }
        // SAFETY: the only owner, borrowed exclusively, so that no other can be cloned meanwhile.
        Some(unsafe { self.0.as_mut() })
    }

    /// Returns true if both own the same value.
    #[inline]
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<T: Counted> Deref for SharedPointer<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: an owner keeps it alive, and it changes only while borrowed exclusively from its
        // only owner.
        unsafe { self.0.as_ref() }
    }
}

impl<T: Counted> Clone for SharedPointer<T> {
    #[inline]
    fn clone(&self) -> Self {
        // There are at most as many owners as versions of a partition, each larger than one byte:
        // far fewer than 2^32.
        self.owners().fetch_add(1, Ordering::Relaxed);
        SharedPointer(self.0)
    }
}

impl<T: Counted> Drop for SharedPointer<T> {
    #[inline]
    fn drop(&mut self) {
        if self.owners().fetch_sub(1, Ordering::Release) == 1 {
            // Accesses by the other owners happen before the memory is reused.
            fence(Ordering::Acquire);
            // SAFETY: this was the last owner.
            unsafe { T::free(self.0) }
        }
    }
}
