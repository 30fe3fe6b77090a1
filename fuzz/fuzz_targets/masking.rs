//! See `plugway_fuzz_checks`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| plugway_fuzz_checks::run("masking", data));
