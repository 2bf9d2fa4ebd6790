//! The proof, by held locks, that a slot's target is not freed during use.

use hedgerow_in_memory::vertices::Keeps;
use hedgerow_model::token::HeldLocks;

/// The locks of the vertices looked up: only their holder unlinks anything.
#[derive(Clone, Copy)]
pub(crate) struct Locked<'l>(std::marker::PhantomData<&'l ()>);

impl<'l> Locked<'l> {
    /// Creates the proof from held locks, for as long as they are held. The caller has checked that
    /// they cover the vertices that it looks up.
    #[inline]
    pub(crate) fn by(_locks: &HeldLocks<'l>) -> Self {
        Locked(std::marker::PhantomData)
    }

    /// Like [`Locked::by`], but borrowed.
    #[inline]
    pub(crate) fn of(_locks: &HeldLocks<'l>) -> &'l Self {
        &Locked(std::marker::PhantomData)
    }

    /// Creates the proof without the locks at hand.
    ///
    /// # Safety
    /// The locks of all vertices that are looked up are held during `'l`.
    #[inline]
    pub(crate) unsafe fn assume() -> Self {
        Locked(std::marker::PhantomData)
    }
}

// SAFETY: a target found under a lock stays until the holder unlinks it, when it applies what it
// staged. That consumes what was staged, and ends all views of the locked state.
unsafe impl Keeps for Locked<'_> {}
