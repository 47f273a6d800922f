//! Fuzz target for datagrams: from unknown peers at an acceptor, and for the adapter that makes a
//! stream of them.

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
