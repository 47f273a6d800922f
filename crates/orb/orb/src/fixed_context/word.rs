//! Service contexts of four bytes, called words.

use crate::priority::Priority;

/// Length of the data of a four-byte service context, in bytes.
pub(crate) const WORD: usize = 4;

/// Service context with four bytes of data, and its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ContextWord {
    pub(crate) id: u32,
    pub(crate) data: [u8; WORD],
}

/// Layout of a word that encodes a CORBA priority: four constant bytes, two of which the priority
/// replaces, in this machine's byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordLayout {
    constant: u32,
    shift: u32,
}

impl WordLayout {
    /// Returns the layout with these constant bytes first, and the priority in the last two bytes.
    #[must_use]
    pub const fn priority_last(constant: [u8; 2]) -> Self {
        let [first, second] = constant;
        Self {
            constant: u32::from_ne_bytes([first, second, 0, 0]),
            // The last two bytes are the high half of a little-endian number.
            shift: if cfg!(target_endian = "little") {
                16
            } else {
                0
            },
        }
    }

    /// Returns the four bytes of service context data that encode this priority.
    #[inline]
    #[must_use]
    pub const fn word(self, priority: Priority) -> [u8; WORD] {
        // A priority is not negative.
        let number = priority.get().cast_unsigned() as u32;
        (self.constant | number << self.shift).to_ne_bytes()
    }
}

/// Context of four bytes whose only effect on upcalls is to set the scheduling of their threads. If
/// a request carries a word equal to the last one that its thread has served, the thread takes on
/// the scheduling recorded then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObeyedWord {
    /// Id of the service context.
    pub context: u32,
    /// Number (not 0) of the scheduler that defines the meaning of the word; other schedulers may
    /// define it differently.
    pub scheduler: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_has_the_priority_in_its_last_two_bytes_in_the_machines_order() {
        let layout = WordLayout::priority_last([0xa1, 0xb2]);
        for number in [0, 1, 0x1234, i16::MAX] {
            let [first, second] = number.to_ne_bytes();
            let word = layout.word(Priority::new(number).unwrap());
            assert_eq!(word, [0xa1, 0xb2, first, second]);
        }
    }
}
