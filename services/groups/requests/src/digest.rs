//! Digests by which members compare what they have.

/// FNV-1a.
const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// Returns the digest of bytes: members do not forge it for each other.
pub fn digest_of(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(BASIS, |digest, byte| {
        (digest ^ u64::from(byte)).wrapping_mul(PRIME)
    })
}
