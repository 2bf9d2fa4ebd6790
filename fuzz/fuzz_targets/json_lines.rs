//! JSON lines, which carry properties.
#![no_main]

use hedgerow_formats::PropertyFormat;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hedgerow_fuzz::properties::read_all(
    bytes,
    PropertyFormat::JsonLines
));
