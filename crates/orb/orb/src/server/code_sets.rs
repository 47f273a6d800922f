//! Code sets of one connection (CORBA 3.3 part 2, §7.10.2.6), packed into one number so that each
//! request can read them cheaply.

use punctual_cdr::{CodeSets, NarrowCodeSet, WideCodeSet};
use std::sync::atomic::{AtomicU64, Ordering};

/// Packed code sets of nearly all connections: UTF-8 and UTF-16.
const NATIVE: u64 = 0x0501_0001 << 32 | 0x0001_0109;

/// Code sets agreed on for a connection: read for each request, written once.
#[derive(Debug)]
pub(super) struct AgreedCodeSets(AtomicU64);

impl AgreedCodeSets {
    pub(super) fn new(code_sets: CodeSets) -> Self {
        Self(AtomicU64::new(Self::number(code_sets)))
    }

    // Relaxed, both: a request that names code sets is read by the thread that sets them, and the
    // reader of the next request takes the inbox from that thread.
    #[inline]
    pub(super) fn get(&self) -> CodeSets {
        let number = self.0.load(Ordering::Relaxed);
        if number == NATIVE {
            return CodeSets::NATIVE;
        }
        Self::named(number)
    }

    #[cold]
    fn named(number: u64) -> CodeSets {
        let [narrow, wide] = [number >> 32, number & u64::from(u32::MAX)];
        let known = |id: u64| u32::try_from(id).ok();
        CodeSets {
            narrow: known(narrow)
                .and_then(NarrowCodeSet::from_id)
                .unwrap_or(CodeSets::UNNEGOTIATED.narrow),
            wide: known(wide)
                .filter(|id| *id != 0)
                .map(|id| WideCodeSet::from_id(id).unwrap_or(WideCodeSet::Unsupported(id))),
        }
    }

    pub(super) fn set(&self, code_sets: CodeSets) {
        self.0.store(Self::number(code_sets), Ordering::Relaxed);
    }

    /// Returns the registry numbers of both code sets packed into one number; 0 for a missing one.
    fn number(code_sets: CodeSets) -> u64 {
        let wide = code_sets.wide.map_or(0, WideCodeSet::id);
        u64::from(code_sets.narrow.id()) << 32 | u64::from(wide)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_agreed_on_is_read_back() {
        let agreed = AgreedCodeSets::new(CodeSets::NATIVE);
        assert_eq!(agreed.get(), CodeSets::NATIVE);
        assert_eq!(AgreedCodeSets::number(CodeSets::NATIVE), NATIVE);
        for narrow in NarrowCodeSet::all() {
            let unsupported = WideCodeSet::Unsupported(0x0501_0001);
            for wide in [WideCodeSet::Utf16, WideCodeSet::Ucs2, unsupported]
                .map(Some)
                .into_iter()
                .chain([None])
            {
                let code_sets = CodeSets { narrow, wide };
                agreed.set(code_sets);
                assert_eq!(agreed.get(), code_sets);
            }
        }
    }
}
