//! Checkpoints with repaired checksums, so that decoders see the content.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    hedgerow_fuzz::checkpoint::read(bytes);
});
