//! The `hedgerow` command, from outside.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bad_input;
mod bench;
mod common;
mod convert;
mod demo;
mod generate;
mod kernels;
mod memory_limit;
mod run;
mod signals;
mod stats;
mod usage;
mod validation;
