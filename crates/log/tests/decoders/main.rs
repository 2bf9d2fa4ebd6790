//! The byte layout: what version 1 wrote is read for ever, and no bytes do harm.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(not(hedgerow_shuttle))]

#[path = "../../../formats/tests/formats/allocation.rs"]
mod allocation;
mod fixture;
mod fuzz;
#[path = "../../../../fuzz/src/log.rs"]
mod targets;
