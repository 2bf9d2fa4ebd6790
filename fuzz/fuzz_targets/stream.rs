//! Edges that arrive in blocks.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hedgerow_fuzz::stream::parse_all(bytes));
