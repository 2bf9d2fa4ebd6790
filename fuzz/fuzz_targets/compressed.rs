//! Compressed files, and every format that is recognized by its first bytes.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hedgerow_fuzz::read_all(bytes, None));
