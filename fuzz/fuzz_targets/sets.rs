//! The reader of eval sets and old test files.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| evalset_fuzz::sets::check(data));
