//! The names of tests.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| evalset_fuzz::names::check(data));
