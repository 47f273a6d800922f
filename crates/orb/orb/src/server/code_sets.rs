//! The code sets of one connection (CORBA 3.3 part 2, §7.10.2.6): one octet, since each request asks.

use punctual_cdr::{CodeSets, NarrowCodeSet, WideCodeSet};
use std::sync::atomic::{AtomicU8, Ordering};

/// Code sets that are read for each request and written once.
#[derive(Debug)]
pub(super) struct AgreedCodeSets(AtomicU8);

impl AgreedCodeSets {
    pub(super) fn new(code_sets: CodeSets) -> Self {
        Self(AtomicU8::new(Self::number(code_sets)))
    }

    // Relaxed, both: a request that names code sets is read by the thread that sets them, and whoever
    // reads the next has the inbox from that one.
    #[inline]
    pub(super) fn get(&self) -> CodeSets {
        let number = self.0.load(Ordering::Relaxed);
        CodeSets {
            narrow: match number & 1 {
                0 => NarrowCodeSet::Iso8859_1,
                _ => NarrowCodeSet::Utf8,
            },
            wide: match number >> 1 {
                0 => None,
                1 => Some(WideCodeSet::Utf16),
                _ => Some(WideCodeSet::Ucs2),
            },
        }
    }

    pub(super) fn set(&self, code_sets: CodeSets) {
        self.0.store(Self::number(code_sets), Ordering::Relaxed);
    }

    fn number(code_sets: CodeSets) -> u8 {
        let narrow = match code_sets.narrow {
            NarrowCodeSet::Iso8859_1 => 0,
            NarrowCodeSet::Utf8 => 1,
        };
        let wide = match code_sets.wide {
            None => 0,
            Some(WideCodeSet::Utf16) => 1,
            Some(WideCodeSet::Ucs2) => 2,
        };
        narrow | wide << 1
    }
}
