//! Atomic integers, flags and pointers.

#[cfg(hedgerow_shuttle)]
pub use shuttle::sync::atomic::{
    AtomicBool, AtomicIsize, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};
#[cfg(not(hedgerow_shuttle))]
pub use std::sync::atomic::{
    AtomicBool, AtomicIsize, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};

/// An integer of the whole process, which no model tests: models that run side by side share it, and the model
/// checker's own does not allow that.
pub use std::sync::atomic::AtomicUsize as ProcessUsize;
