//! Models of readers concurrent with writers, run under many schedules.
//!
//! Built only with `--cfg hedgerow_shuttle`; see `cargo xtask shuttle`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(hedgerow_shuttle)]

mod mem_graph;
#[path = "../support/mod.rs"]
mod support;

hedgerow_testing::model_tests!(support::TestedLsm);
hedgerow_testing::model_tests!(@models support::TestedLsm: writers_and_readers_beside_flushes);
