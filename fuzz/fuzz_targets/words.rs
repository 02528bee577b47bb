//! The tokenizer, the stemmer and ROUGE-1.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| evalset_fuzz::words::check(data));
