//! Why what a slot leads to is not freed while it is used.

use hedgerow_model::token::HeldLocks;
use hedgerow_sync::epoch::Guard;

/// While this is borrowed, nothing is freed that the slots of the vertices in question led to since.
///
/// # Safety
/// Who implements it keeps that promise, or says in its constructor's contract who does.
pub(crate) unsafe trait Keeps {}

// SAFETY: what is unlinked is freed when every thread that was pinned then is unpinned.
unsafe impl Keeps for Guard {}

/// The locks of the vertices in question: only their holder unlinks anything.
#[derive(Clone, Copy)]
pub(crate) struct Locked<'l>(std::marker::PhantomData<&'l ()>);

impl<'l> Locked<'l> {
    /// From the locks that are held, of which the caller has checked that they cover what is looked up.
    #[inline]
    pub(crate) fn by(_locks: &'l HeldLocks<'_>) -> Self {
        Locked(std::marker::PhantomData)
    }

    /// The same, borrowed as long as the locks are held.
    #[inline]
    pub(crate) fn of(_locks: &'l HeldLocks<'_>) -> &'l Self {
        &Locked(std::marker::PhantomData)
    }

    /// From the knowledge that they are.
    ///
    /// # Safety
    /// The locks of all vertices that are looked up are held during `'l`.
    #[inline]
    pub(crate) unsafe fn assume() -> Self {
        Locked(std::marker::PhantomData)
    }
}

// SAFETY: what is looked up under a lock stays until its holder unlinks it, who uses it no more then.
unsafe impl Keeps for Locked<'_> {}
