//! The tokenizer, the stemmer, ROUGE and the other algorithms of `response_similarity`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| evalset_fuzz::words::check(data));
