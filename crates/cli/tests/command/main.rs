//! The `hedgerow` command, from outside.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bad_input;
mod bench;
mod clock;
mod common;
mod convert;
mod demo;
mod generate;
mod import;
mod kernels;
mod labels;
mod memory_limit;
mod objects;
mod parallel;
mod properties;
mod resumed_import;
mod run;
mod scratch;
mod signals;
mod stats;
mod store;
mod stored_kernels;
mod usage;
mod validation;
