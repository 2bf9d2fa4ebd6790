//! Adjacency files: lines of neighbors.
#![no_main]

use hedgerow_formats::GraphFormat;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hedgerow_fuzz::read_all(bytes, Some(GraphFormat::Adjacency)));
