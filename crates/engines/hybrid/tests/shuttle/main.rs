//! Models of readers, writers and archiving, run under many schedules.

#![cfg(hedgerow_shuttle)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod adjacency;
mod edge_log;
