//! Bytes of an encoded value.

use std::ops::Deref;

use punctual_cdr::Block;

/// Number of bytes that need no memory of their own: those of numbers, of most names, and of short text.
const FEW: usize = 38;

/// Bytes of an encoded value, with memory of their own only if they are many.
#[derive(Clone)]
pub(crate) enum Octets {
    Few([u8; FEW], u8),
    Many(Vec<u8>),
}

/// None at all.
impl Default for Octets {
    fn default() -> Self {
        Self::Few([0; FEW], 0)
    }
}

impl From<Vec<u8>> for Octets {
    fn from(octets: Vec<u8>) -> Self {
        Self::Many(octets)
    }
}

impl Octets {
    /// Takes the bytes of a block. Few, or what fits the thread's memory for blocks, are copied, so that
    /// the Any has no more memory than it needs, and the thread keeps its own.
    pub(super) fn of(block: Block) -> Self {
        const COPIED: usize = 64 << 10;
        if block.len() <= COPIED {
            let mut this = Self::default();
            this.copy(0, &block);
            return this;
        }
        let mut octets = block.into_vec();
        octets.shrink_to_fit();
        Self::Many(octets)
    }

    /// Takes a copy of a value, behind `lead` zeros, in place of the bytes. Allocates at most once.
    pub(super) fn copy(&mut self, lead: usize, value: &[u8]) {
        if let Self::Few(few, length) = self
            && let Some(begin) = few.get_mut(..lead + value.len())
        {
            let (zeros, place) = begin.split_at_mut(lead);
            zeros.fill(0);
            place.copy_from_slice(value);
            *length = u8::try_from(lead + value.len()).unwrap_or_default();
            return;
        }
        let mut many = self.take_many();
        many.reserve_exact(lead + value.len());
        many.resize(lead, 0);
        many.extend_from_slice(value);
        *self = Self::Many(many);
    }

    /// Takes the memory out, without the bytes: an empty vector.
    pub(super) fn take_many(&mut self) -> Vec<u8> {
        match std::mem::take(self) {
            Self::Few(..) => Vec::new(),
            Self::Many(mut many) => {
                many.clear();
                many
            }
        }
    }
}

impl Deref for Octets {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Few(few, length) => few.get(..usize::from(*length)).unwrap_or_default(),
            Self::Many(many) => many,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_and_many_are_what_was_copied_last() {
        let mut octets = Octets::default();
        assert!(octets.is_empty());
        for lead in [0, 4, 7] {
            for length in [0, 1, FEW - 8, FEW - 7, FEW, FEW + 1, 3, 1000, 2] {
                let value = vec![7; length];
                octets.copy(lead, &value);
                assert_eq!(octets[..lead], [0; 7][..lead]);
                assert_eq!(octets[lead..], value);
            }
            octets = Octets::default();
        }
    }

    #[test]
    fn memory_of_many_is_kept_for_few() {
        let mut octets = Octets::default();
        octets.copy(0, &[1; 1000]);
        let place = octets.as_ptr();
        octets.copy(4, &[2; 10]);
        assert_eq!(octets.as_ptr(), place);
        assert!(octets.take_many().is_empty());
        assert!(octets.is_empty());
    }
}
