//! Fuzz target for packets of multicast groups: those that a member receives from any sender.

/// Runs the target on one input.
///
/// # Panics
/// The input breaks a property.
pub fn run(input: &[u8]) {
    punctual_link::fuzzing::packets(input);
}
