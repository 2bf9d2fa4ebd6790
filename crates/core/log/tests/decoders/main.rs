//! The byte layout: version 1 can be read forever, and no bytes do harm.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(not(hedgerow_shuttle))]

mod fixture;
mod fuzz;
mod sizes;
#[path = "../../../../../fuzz/src/log.rs"]
mod targets;

#[global_allocator]
static ALLOCATOR: hedgerow_testing::allocation::CountingAllocator =
    hedgerow_testing::allocation::CountingAllocator;
