//! Blocks of edges.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    hedgerow_fuzz::levels::read_edge_block(bytes);
});
