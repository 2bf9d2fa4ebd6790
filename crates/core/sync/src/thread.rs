//! Threads that the model checker can schedule.

#[cfg(hedgerow_shuttle)]
pub use shuttle::thread::{JoinHandle, spawn, yield_now};
#[cfg(not(hedgerow_shuttle))]
pub use std::thread::{JoinHandle, spawn, yield_now};
