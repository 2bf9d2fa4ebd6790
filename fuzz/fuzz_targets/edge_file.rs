//! Edge files with their records and repaired checksums, so that decoders see the content.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    hedgerow_fuzz::levels::read_edge_file(bytes);
});
