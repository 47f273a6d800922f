#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| punctual_fuzz::datagrams::run(input));
