//! Checkpoints, with their checksums made right, so that decoders see the rest.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    hedgerow_fuzz::checkpoint::read(bytes);
});
