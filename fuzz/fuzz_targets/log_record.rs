//! Bodies of log records.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    hedgerow_fuzz::log::read_record(bytes);
});
