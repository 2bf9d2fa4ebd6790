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
}

// SAFETY: a target found under a lock stays until the holder unlinks it: when it applies what it
// staged, which consumes that and ends all views of the locked state, or in maintenance, which
// takes locks of its own, stages nothing, and does not use what it unlinked.
unsafe impl Keeps for Locked<'_> {}
