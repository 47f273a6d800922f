//! Random numbers that are the same for the same seed.

/// SplitMix64 generator.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// Makes a generator from a seed and a name, so that each user has a sequence of its own.
    pub(crate) fn new(seed: u64, name: &str) -> Self {
        let mix = |hash: u64, octet: u8| (hash ^ u64::from(octet)).wrapping_mul(0x0100_0000_01b3);
        Self(name.bytes().fold(seed ^ 0xcbf2_9ce4_8422_2325, mix))
    }

    /// Returns the generator's next 64-bit number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `end`, which must not be zero.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let number = self.next() % end.max(1) as u64;
        usize::try_from(number).unwrap_or_default()
    }

    /// Returns a randomly chosen item of a slice.
    pub(crate) fn one_of<'s, T>(&mut self, all: &'s [T]) -> &'s T {
        &all[self.below(all.len())]
    }

    /// Returns `count` random bytes.
    pub(crate) fn octets(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next().to_le_bytes()[0]).collect()
    }
}
