//! Chunks of records with a repaired checksum.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    hedgerow_fuzz::levels::read_record_chunk(bytes);
});
