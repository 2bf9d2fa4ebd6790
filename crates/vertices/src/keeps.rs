//! Proofs that what a slot points to is not freed while it is used.

use hedgerow_sync::epoch::Guard;

/// While this is borrowed, nothing is freed that a slot of the vertices in question pointed to at
/// any time during the borrow.
///
/// # Safety
/// Implementors keep that promise, or require it in the contract of their constructor.
pub unsafe trait Keeps {}

// SAFETY: unlinked memory is freed only after every guard of the same domain that existed then is gone. A guard is taken from the domain
// of the graph that owns the vertices.
unsafe impl Keeps for Guard<'_> {}
