#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|input: &[u8]| punctual_fuzz::sockets::run(input));

fuzz_mutator!(|data: &mut [u8], size: usize, _max_size: usize, seed: u32| {
    let bytes = |octets: &mut [u8], size| {
        let room = octets.len();
        fuzzer_mutate(octets, size, room)
    };
    punctual_fuzz::sockets::mutate(data, size, seed, bytes)
});
