//! The log under crashes, failures and damage.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(not(hedgerow_shuttle))]

mod bugs;
mod commits;
mod cuts;
mod damage;
mod engine_files;
mod failures;
mod harness;
mod ordinary;
mod owners;
mod power;
mod sizes;
mod threads;
mod workload;
