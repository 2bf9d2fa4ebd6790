//! Models of the engine, and of readers, writers and archiving, run under many schedules.

#![cfg(hedgerow_shuttle)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod adjacency;
mod edge_log;
#[path = "../support/mod.rs"]
mod support;

hedgerow_testing::model_tests!(support::TestedHybrid);
