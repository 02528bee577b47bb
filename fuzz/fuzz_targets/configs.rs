//! The reader of configs.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| evalset_fuzz::configs::check(data));
