//! Graphs as users see them, on every engine. One binary, so that shared code is compiled once.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(not(hedgerow_shuttle))]

mod behavior;
mod blocked_readers;
mod changes;
mod clock;
mod compaction;
mod conformance;
mod durability;
mod edge_log;
#[path = "../support/engines.rs"]
mod engines;
mod follow;
#[cfg(debug_assertions)]
mod garbage;
mod histories;
#[cfg(debug_assertions)]
mod hub;
mod ingest_records;
mod keys;
mod labels;
mod memory_limit;
mod newest;
mod oracle;
mod oversubscribed;
mod parallel;
mod paths;
// Checked builds keep all blocks on the heap.
#[cfg(all(target_os = "linux", not(hedgerow_checked_memory)))]
mod scratch;
mod streams;
mod surface;
mod transaction_reads;
mod typed;
mod updates;
