//! Key by which a thread looks up an operation.

/// Odd factor whose products have well mixed high bits (2^64 divided by the golden ratio).
const MIXER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Repository ids of a servant, the most derived one first.
pub(crate) type Interfaces = &'static [&'static str];

/// Operation as it is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// Address of the repository ids: equal ids at another address have another slot.
    interfaces: usize,
    /// Length of the name, its first bytes and its last ones: all of it up to 16 bytes.
    length: usize,
    first: u64,
    last: u64,
}

impl Key {
    /// Length up to which names of equal keys are equal.
    pub(crate) const WHOLE: usize = 16;

    /// Number of places, a power of two.
    pub(crate) const PLACES: usize = 32;

    /// Key that no operation has.
    pub(crate) const NEVER: Self = Self {
        interfaces: 0,
        length: usize::MAX,
        first: 0,
        last: 0,
    };

    #[inline(always)]
    pub(crate) fn new(interfaces: Interfaces, name: &str) -> Self {
        let (first, last) = ends(name.as_bytes());
        Self {
            interfaces: interfaces.as_ptr().addr(),
            length: name.len(),
            first,
            last,
        }
    }

    /// Returns one of [`Key::PLACES`] places, by what few instructions mix.
    #[inline(always)]
    pub(crate) fn place(self) -> usize {
        let name = self.first.wrapping_add(self.last);
        let mixed = name.wrapping_mul(MIXER);
        (mixed >> (u64::BITS - Self::PLACES.trailing_zeros())) as usize
    }

    #[inline(always)]
    pub(crate) fn hash(self) -> usize {
        let name = self.first ^ self.last.rotate_left(29) ^ self.length as u64;
        let all = name ^ self.interfaces as u64;
        (all.wrapping_mul(MIXER) >> 40) as usize
    }
}

/// Returns the first and the last bytes of a name: eight each, which may overlap, or four each of a
/// name of fewer than eight, or all three.
#[inline(always)]
fn ends(name: &[u8]) -> (u64, u64) {
    if let (Some(first), Some(last)) = (name.first_chunk(), name.last_chunk()) {
        return (u64::from_ne_bytes(*first), u64::from_ne_bytes(*last));
    }
    if let (Some(first), Some(last)) = (name.first_chunk(), name.last_chunk()) {
        let four = |bytes: &[u8; 4]| u64::from(u32::from_ne_bytes(*bytes));
        return (four(first), four(last));
    }
    let fold = |all, byte: &u8| all << 8 | u64::from(*byte);
    (name.iter().fold(0, fold), 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_up_to_16_bytes_differ_in_their_keys() {
        let name = "abcdefghijklmnop";
        for length in 1..=16 {
            let (one, id) = (&name[..length], &["IDL:A:1.0"]);
            assert_eq!(Key::new(id, one), Key::new(id, one));
            assert_ne!(Key::new(id, one), Key::new(id, &name[..length - 1]));
            for changed in 0..length {
                let mut other = one.as_bytes().to_vec();
                other[changed] = b'_';
                let other = String::from_utf8(other).unwrap();
                assert_ne!(Key::new(id, one), Key::new(id, &other), "{other}");
            }
        }
    }
}
