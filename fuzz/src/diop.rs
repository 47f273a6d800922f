//! Datagrams: from strangers at an acceptor, and of the adapter that makes a stream of them.

/// Takes one input.
///
/// # Panics
/// If something is wrong with what the input does.
pub fn run(input: &[u8]) {
    let (how, octets) = crate::choice(input);
    match how % 2 {
        0 => punctual_link::fuzzing::peers(octets),
        _ => punctual_link::fuzzing::datagrams(octets),
    }
}
