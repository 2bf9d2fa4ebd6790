//! Kernels, and operations that only kernels show, on every engine.
//!
//! A kernel is compiled for each engine where it is used, which takes minutes with any
//! optimization, so this package is tested without. The tests of other operations are in
//! `crates/hedgerow`, which compiles these operations anyway.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(not(hedgerow_shuttle))]

#[path = "../../../../hedgerow/tests/support/engines.rs"]
mod engines;
mod intersect;
mod kernels;
mod known_faults;
mod operations;
mod parallel;
mod weighted;
