//! The proof by held locks that what a slot points to is not freed while it is used.

use hedgerow_model::token::HeldLocks;
use hedgerow_vertices::Keeps;

/// The locks of the vertices in question: only their holder unlinks anything.
#[derive(Clone, Copy)]
pub(crate) struct Locked<'l>(std::marker::PhantomData<&'l ()>);

impl<'l> Locked<'l> {
    /// From held locks. The caller has checked that they cover the vertices that it looks up.
    #[inline]
    pub(crate) fn by(_locks: &'l HeldLocks<'_>) -> Self {
        Locked(std::marker::PhantomData)
    }

    /// Like [`Locked::by`], but borrowed for as long as the locks are held.
    #[inline]
    pub(crate) fn of(_locks: &'l HeldLocks<'_>) -> &'l Self {
        &Locked(std::marker::PhantomData)
    }

    /// Without the locks at hand.
    ///
    /// # Safety
    /// The locks of all vertices that are looked up are held during `'l`.
    #[inline]
    pub(crate) unsafe fn assume() -> Self {
        Locked(std::marker::PhantomData)
    }
}

// SAFETY: what is looked up under a lock stays until the holder unlinks it, which no longer uses it
// then.
unsafe impl Keeps for Locked<'_> {}
