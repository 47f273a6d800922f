//! Fuzz target for shared memory into which the peer writes arbitrary data: ring, pool, control
//! words.

/// Runs the target on one input.
///
/// # Panics
/// The input breaks a property.
pub fn run(input: &[u8]) {
    let done = punctual_link::fuzzing::hostile_writer(input);
    done.expect("there is memory, and a socket");
}
