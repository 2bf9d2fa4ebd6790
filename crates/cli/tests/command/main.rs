//! Tests of the `hedgerow` command as a process.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod backup;
mod bad_input;
mod bench;
mod built_import;
mod changes;
mod clock;
mod common;
mod console;
mod convert;
mod demo;
mod diff;
mod documents;
mod edges;
mod erase;
mod floats;
mod generate;
mod hybrid;
mod import;
mod inference;
mod ingest;
mod kernels;
mod keys;
mod labels;
mod lint;
mod loading;
mod log;
mod lsm;
mod memory_limit;
mod messages;
mod newest;
mod objects;
mod outputs;
mod parallel;
mod paths;
mod properties;

mod result_files;
mod resumed_import;
mod round_trip;
mod run;
mod scratch;
mod shell;
mod signals;
mod standard_output;
mod stats;
mod store;
mod stored_kernels;
#[cfg(target_os = "linux")]
mod terminal;
mod usage;
mod validation;
mod weighted_kernels;
