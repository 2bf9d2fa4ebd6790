//! The content whose versions a chain keeps, and the thin pointer that owns one.

use hedgerow_in_memory::reclamation::account;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// The state of a part of the graph: shared once published, edited only while it is invisible.
pub trait Content: Sized + Send + Sync + 'static {
    /// Changes of a content, which ascend.
    type Changes<'c>: Copy + Default + Send + Sync;

    /// An editable copy. It may share large immutable parts with this content.
    fn copied(&self) -> Owned<Self>;

    /// Makes changes, in place or after moving the content to larger memory.
    fn edit(this: &mut Owned<Self>, changes: Self::Changes<'_>);

    /// Returns one bit per slot, set if the vertex exists or has neighbors.
    fn occupied(&self) -> u64;

    /// All bytes reachable from here, including those shared with other versions. O(1).
    fn bytes(&self) -> usize;

    /// The part of [`Content::bytes`] that `newer`, the next version, does not share.
    fn bytes_beside(&self, newer: &Self) -> usize;

    /// The heap bytes that a boxed content owns alone; see [`Owned::boxed`].
    fn own_heap_bytes(&self) -> usize;

    /// Frees a content and reports it to [`account`]. The default suits [`Owned::boxed`].
    ///
    /// # Safety
    /// `this` came from [`Owned::into_raw`] and is not used any more.
    unsafe fn destroy(this: NonNull<Self>) {
        // SAFETY: `Owned::boxed` makes every owner unless this is overridden; the caller has the
        // only pointer.
        let content = unsafe { Box::from_raw(this.as_ptr()) };
        account::freed(size_of::<Self>() + content.own_heap_bytes());
    }
}

/// A copy of a content with `changes` applied.
pub(crate) fn edited_copy<T: Content>(content: &T, changes: T::Changes<'_>) -> Owned<T> {
    let mut copy = content.copied();
    T::edit(&mut copy, changes);
    copy
}

/// Owns a content through a pointer of one word.
pub struct Owned<T: Content>(NonNull<T>);

// SAFETY: an owner has the only pointer to its content, like a box.
unsafe impl<T: Content> Send for Owned<T> {}
// SAFETY: a shared owner gives out only shared references.
unsafe impl<T: Content> Sync for Owned<T> {}

impl<T: Content> Owned<T> {
    /// Boxes a content, and accounts for it with its [`own_heap_bytes`](Content::own_heap_bytes).
    pub fn boxed(content: T) -> Self {
        account::allocated(size_of::<T>() + content.own_heap_bytes());
        Owned(NonNull::from(Box::leak(Box::new(content))))
    }

    /// Takes ownership of a content.
    ///
    /// # Safety
    /// [`Content::destroy`] can free `content`, which has no other owner or user.
    pub unsafe fn from_raw(content: NonNull<T>) -> Self {
        Owned(content)
    }

    /// Gives the content's ownership to the caller.
    pub fn into_raw(self) -> NonNull<T> {
        ManuallyDrop::new(self).0
    }

    /// The pointer; this keeps ownership.
    pub fn as_raw(&self) -> NonNull<T> {
        self.0
    }
}

impl<T: Content> Deref for Owned<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: owned, so alive and not exclusively borrowed elsewhere.
        unsafe { self.0.as_ref() }
    }
}

impl<T: Content> DerefMut for Owned<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: owned, and borrowed exclusively with its owner.
        unsafe { self.0.as_mut() }
    }
}

impl<T: Content> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: owned until now, and not used after the drop.
        unsafe { T::destroy(self.0) }
    }
}
