//! What a chain holds versions of, and the thin pointer that owns one.

use hedgerow_reclamation::account;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// A state of a part of the graph: shared once published, edited only while nobody can see it.
pub trait Content: Sized + Send + Sync + 'static {
    /// What changes it.
    type Change: Sync + 'static;

    /// A copy that can be edited. What is large and immutable may be shared with this.
    fn copied(&self) -> Owned<Self>;

    /// Makes changes, which ascend, in place or in a larger place.
    fn edit(this: &mut Owned<Self>, changes: &[Self::Change]);

    /// A bit for each slot that has something: a vertex that exists, or neighbors.
    fn occupied(&self) -> u64;

    /// All bytes that this reaches, those shared with other versions included. O(1).
    fn bytes(&self) -> usize;

    /// Those of the bytes that `newer`, the next version, does not share.
    fn bytes_beside(&self, newer: &Self) -> usize;

    /// The heap bytes that belong to a boxed content alone; see [`Owned::boxed`].
    fn own_heap_bytes(&self) -> usize;

    /// Frees a content and says so to [`account`]. By default that of [`Owned::boxed`].
    ///
    /// # Safety
    /// `this` came from [`Owned::into_raw`], and nobody uses it any more.
    unsafe fn destroy(this: NonNull<Self>) {
        // SAFETY: by default every owner is made by `Owned::boxed`; the caller has the only pointer.
        let content = unsafe { Box::from_raw(this.as_ptr()) };
        account::freed(size_of::<Self>() + content.own_heap_bytes());
    }
}

/// A copy of a content with these changes, which ascend.
pub(crate) fn edited_copy<T: Content>(content: &T, changes: &[T::Change]) -> Owned<T> {
    let mut copy = content.copied();
    T::edit(&mut copy, changes);
    copy
}

/// Owns a content through a pointer of one word.
pub struct Owned<T: Content>(NonNull<T>);

// SAFETY: an owner is the only pointer to its content, as a box is.
unsafe impl<T: Content> Send for Owned<T> {}
// SAFETY: a shared owner gives shared references only.
unsafe impl<T: Content> Sync for Owned<T> {}

impl<T: Content> Owned<T> {
    /// A content in a box. Its [`own_heap_bytes`](Content::own_heap_bytes) are counted with it.
    pub fn boxed(content: T) -> Self {
        account::allocated(size_of::<T>() + content.own_heap_bytes());
        Owned(NonNull::from(Box::leak(Box::new(content))))
    }

    /// The owner of a content behind a pointer.
    ///
    /// # Safety
    /// [`Content::destroy`] can free `content`, and nobody else owns or uses it.
    pub unsafe fn from_raw(content: NonNull<T>) -> Self {
        Owned(content)
    }

    /// The pointer; whoever has it owns the content.
    pub fn into_raw(self) -> NonNull<T> {
        ManuallyDrop::new(self).0
    }

    /// The pointer, while this keeps owning the content.
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
