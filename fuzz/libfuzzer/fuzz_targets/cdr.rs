#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| punctual_fuzz::cdr::run(input));
