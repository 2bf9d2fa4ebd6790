//! Manifests of the engine on disk.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    hedgerow_fuzz::levels::read_level_manifest(bytes);
});
