#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    (punctual_fuzz::target("any").expect("it is a target").run)(input);
});
