//! Checkpoints: reading returns what was written, or reports what happened to the files.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(not(hedgerow_shuttle))]

mod backwards;
mod bugs;
mod crashes;
mod damage;
mod fixture;
mod fuzz;
mod installed;
mod model;
mod round_trip;
#[path = "../../../../../fuzz/src/checkpoint.rs"]
mod target;
mod views;

#[global_allocator]
static ALLOCATOR: hedgerow_testing::allocation::CountingAllocator =
    hedgerow_testing::allocation::CountingAllocator;
