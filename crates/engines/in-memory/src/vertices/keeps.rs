//! Proofs that a slot's target is not freed during use.

use hedgerow_sync::epoch::Guard;

/// While a value is borrowed, no version is freed that the slot of a vertex looked up with it
/// pointed to at any time during the borrow.
///
/// # Safety
/// Implementors keep that promise, or require it in the contract of their constructor.
pub unsafe trait Keeps {}

// SAFETY: unlinked memory is freed only after all guards of its domain that existed at the
// unlinking are dropped. A guard is taken from the domain of the graph that owns the vertices.
unsafe impl Keeps for Guard<'_> {}
