#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| punctual_fuzz::miop::run(input));
