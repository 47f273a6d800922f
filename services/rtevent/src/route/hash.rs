//! Hashing of event types and sources: one multiplication, with secrets of the channel, as peers choose the numbers.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

/// Map from types or sources.
pub(super) type NumberMap<V> = HashMap<i32, V, NumberHash>;

/// State of the hash: two secrets, drawn at random.
#[derive(Clone, Copy, Debug)]
pub(super) struct NumberHash {
    add: u64,
    multiply: u64,
}

impl Default for NumberHash {
    fn default() -> Self {
        let random = RandomState::new();
        Self {
            add: random.hash_one(0_u8),
            multiply: random.hash_one(1_u8) | 1,
        }
    }
}

impl BuildHasher for NumberHash {
    type Hasher = NumberHasher;

    fn build_hasher(&self) -> NumberHasher {
        NumberHasher {
            secrets: *self,
            value: 0,
        }
    }
}

/// Hasher of one number.
#[derive(Clone, Copy, Debug)]
pub(super) struct NumberHasher {
    secrets: NumberHash,
    value: u64,
}

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.value
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_i32(i32::from(*byte));
        }
    }

    #[inline]
    fn write_i32(&mut self, number: i32) {
        let mixed = self.value ^ u64::from(number.cast_unsigned()) ^ self.secrets.add;
        let product = u128::from(mixed) * u128::from(self.secrets.multiply);
        // Both halves, so that each bit of the number changes each bit of the hash.
        self.value = (product as u64) ^ ((product >> 64) as u64);
    }
}
