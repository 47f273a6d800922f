//! Shared memory whose other side writes what it likes: ring, pool, control words.

/// Takes one input.
///
/// # Panics
/// If something is wrong with what the input does.
pub fn run(input: &[u8]) {
    let done = punctual_link::fuzzing::hostile_writer(input);
    done.expect("there is memory, and a socket");
}
