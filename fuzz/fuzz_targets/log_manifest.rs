//! Manifests of the store.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    hedgerow_fuzz::log::read_manifest(bytes);
});
