//! Fuzz target for datagrams: those that an acceptor receives from unknown peers, and those from
//! which an adapter makes a stream.

/// Runs the target on one input.
///
/// # Panics
/// The input breaks a property.
pub fn run(input: &[u8]) {
    let (how, octets) = crate::choice(input);
    match how % 2 {
        0 => punctual_link::fuzzing::peers(octets),
        _ => punctual_link::fuzzing::datagrams(octets),
    }
}
