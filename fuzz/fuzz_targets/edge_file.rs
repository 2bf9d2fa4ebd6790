//! Edge files with their records, with checksums made right, so that decoders see the rest.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    hedgerow_fuzz::levels::read_edge_file(bytes);
});
