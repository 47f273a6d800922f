//! Numbers in messages.

/// Reads a number in the machine's byte order, or in the other.
#[inline]
pub(crate) fn number<const NATIVE: bool>(octets: [u8; 4]) -> u32 {
    let number = u32::from_ne_bytes(octets);
    if NATIVE { number } else { number.swap_bytes() }
}

/// Reads a number in a byte order chosen at run time.
#[inline]
pub(crate) fn either(octets: [u8; 4], native: bool) -> u32 {
    match native {
        true => number::<true>(octets),
        false => number::<false>(octets),
    }
}
