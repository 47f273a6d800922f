//! Key by which a thread looks up an operation.

/// Operation as it is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// Address of the repository id: an equal id at another address has another slot.
    interface: usize,
    /// Length of the name, its first bytes and its last ones: all of it up to 16 bytes.
    length: usize,
    first: u64,
    last: u64,
}

impl Key {
    /// Length up to which names of equal keys are equal.
    pub(crate) const WHOLE: usize = 16;

    /// Key that no operation has.
    pub(crate) const NEVER: Self = Self {
        interface: 0,
        length: usize::MAX,
        first: 0,
        last: 0,
    };

    #[inline(always)]
    pub(crate) fn new(interface: &'static str, name: &str) -> Self {
        let (first, last) = ends(name.as_bytes());
        Self {
            interface: interface.as_ptr().addr(),
            length: name.len(),
            first,
            last,
        }
    }

    #[inline(always)]
    pub(crate) fn hash(self) -> usize {
        let name = self.first ^ self.last.rotate_left(29) ^ self.length as u64;
        let all = name ^ self.interface as u64;
        (all.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize
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
            let (one, id) = (&name[..length], "IDL:A:1.0");
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
