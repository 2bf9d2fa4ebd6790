//! The byte layout: frozen files can be read, a reader can be written from the document,
//! and no bytes do harm.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod decoder;
mod fixture;
mod fuzz;
mod option;
#[path = "../../../../../fuzz/src/levels.rs"]
mod targets;

#[global_allocator]
static ALLOCATOR: hedgerow_testing::allocation::CountingAllocator =
    hedgerow_testing::allocation::CountingAllocator;
