//! The only source of atomics, locks and threads in Hedgerow; loops over chunks of work, and their
//! cancellation.
//!
//! In production these are `std`, `parking_lot` and the epochs of this crate. Built with
//! `RUSTFLAGS="--cfg hedgerow_shuttle"`, the same names refer to the model checker
//! [shuttle](https://docs.rs/shuttle), which runs a protocol under many schedules. No other crate
//! of the workspace names `std::sync::atomic`, a mutex or an epoch; a test of the project's style
//! enforces that.

pub mod atomic;
mod cancel;
mod chunks;
pub mod epoch;
pub mod fork;
mod growing_list;
mod mutex;
mod once_lock;
mod prefetch;
mod raw_lock;
mod rw_lock;
pub mod thread;

pub use cancel::CancelToken;
pub use chunks::map_chunks;
pub use growing_list::GrowingList;
pub use mutex::{Condvar, Mutex, MutexGuard};
pub use once_lock::OnceLock;
pub use prefetch::prefetch;
pub use raw_lock::RawLock;
pub use rw_lock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use std::sync::Arc;

#[cfg(hedgerow_shuttle)]
pub use shuttle::thread_local;
#[cfg(not(hedgerow_shuttle))]
pub use std::thread_local;
