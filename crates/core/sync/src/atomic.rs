//! Atomic integers, flags and pointers.

#[cfg(hedgerow_shuttle)]
pub use shuttle::sync::atomic::{
    AtomicBool, AtomicIsize, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};
#[cfg(not(hedgerow_shuttle))]
pub use std::sync::atomic::{
    AtomicBool, AtomicIsize, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};

/// A process-wide integer that no model tests. Models run concurrently and share it, which the
/// model checker's own type does not allow.
pub use std::sync::atomic::AtomicUsize as ProcessUsize;
