//! Table of registrations. A lookup takes no lock and follows no pointer that could dangle: entries
//! are made in blocks that stay permanently, and a token's generation tells an old registration from
//! the one that occupies its entry now.

use super::owner::Owner;
use std::io;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Number of entries in a block of the registration table.
const BLOCK: usize = 256;

/// Handle that identifies a registration in the reactor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Token {
    pub(super) index: u32,
    pub(super) generation: u32,
}

impl Token {
    pub(super) fn to_word(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.index)
    }

    #[allow(clippy::cast_possible_truncation)] // What is cut off is the other half.
    pub(super) fn from_word(word: u64) -> Self {
        Self {
            index: word as u32,
            generation: (word >> 32) as u32,
        }
    }
}

/// Entry of the table: a registration with a handler of type `H`, or room for one.
pub(super) struct Entry<H: ?Sized> {
    pub(super) owner: Owner,
    /// Deadline in milliseconds of the coarse clock; 0 for none.
    pub(super) due: AtomicU64,
    /// Time when the timer next checks the entry; 0 for never. Written only under the lock of the
    /// timers.
    pub(super) scheduled: AtomicU64,
    /// Handler; contended only by a thread that changes the interest while the registration is
    /// served.
    handler: Mutex<Option<Arc<H>>>,
}

impl<H: ?Sized> Entry<H> {
    /// Makes a table entry without a registration.
    fn new() -> Self {
        Self {
            owner: Owner::default(),
            due: AtomicU64::new(0),
            scheduled: AtomicU64::new(0),
            handler: Mutex::new(None),
        }
    }

    pub(super) fn handler(&self) -> Option<Arc<H>> {
        self.lock().clone()
    }

    pub(super) fn set_handler(&self, handler: Option<Arc<H>>) -> Option<Arc<H>> {
        std::mem::replace(&mut *self.lock(), handler)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Arc<H>>> {
        self.handler.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Table entries that are allocated together, and never freed.
type Block<H> = Box<[Entry<H>]>;

/// Table of the reactor's registrations.
pub(super) struct Table<H: ?Sized> {
    blocks: Box<[OnceLock<Block<H>>]>,
    free: Mutex<Free>,
}

struct Free {
    /// Indices of free entries that were used before.
    entries: Vec<u32>,
    /// Index of the first entry that was never used.
    fresh: u32,
    most: u32,
}

impl<H: ?Sized> Table<H> {
    /// Makes a table of at most `most` registrations, whose memory is allocated as needed.
    pub(super) fn new(most: u32) -> Self {
        let blocks = (most as usize).div_ceil(BLOCK);
        Self {
            blocks: (0..blocks).map(|_| OnceLock::new()).collect(),
            free: Mutex::new(Free {
                entries: Vec::new(),
                fresh: 0,
                most,
            }),
        }
    }

    #[inline]
    pub(super) fn entry(&self, token: Token) -> Option<&Entry<H>> {
        let at = token.index as usize;
        self.blocks.get(at / BLOCK)?.get()?.get(at % BLOCK)
    }

    /// Takes a free entry of the table, and returns its token.
    pub(super) fn take(&self) -> io::Result<Token> {
        let index = {
            let mut free = self.free();
            match free.entries.pop() {
                Some(index) => index,
                None if free.fresh < free.most => {
                    free.fresh += 1;
                    free.fresh - 1
                }
                None => {
                    let error = "the reactor has as many connections as it may have";
                    return Err(io::Error::new(io::ErrorKind::QuotaExceeded, error));
                }
            }
        };
        let at = index as usize;
        let block = self.blocks.get(at / BLOCK);
        let block =
            block.map(|block| block.get_or_init(|| (0..BLOCK).map(|_| Entry::new()).collect()));
        let generation = block
            .and_then(|block| block.get(at % BLOCK))
            .map_or(0, |entry| entry.owner.generation());
        Ok(Token { index, generation })
    }

    /// Returns a vacated entry to the free entries of the table.
    pub(super) fn give_back(&self, token: Token) {
        self.free().entries.push(token.index);
    }

    /// Returns the number of registrations in the table.
    pub(super) fn len(&self) -> usize {
        let free = self.free();
        free.fresh as usize - free.entries.len()
    }

    fn free(&self) -> std::sync::MutexGuard<'_, Free> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Handler;
    use super::*;

    #[test]
    fn an_idle_registration_takes_little_memory() {
        // Includes its share of the list of free entries and of the timer's.
        assert!(
            size_of::<Entry<dyn Handler>>() + size_of::<u32>() + 2 * size_of::<(u64, u32)>() < 200
        );
    }

    #[test]
    fn places_are_bounded_and_used_again() {
        let table = Table::<dyn Handler>::new(2);
        let tokens = [table.take().unwrap(), table.take().unwrap()];
        assert!(table.take().is_err());
        assert_eq!(table.len(), 2);
        for token in tokens {
            let entry = table.entry(token).unwrap();
            let _ = entry.owner.vacate(token.generation);
            table.give_back(token);
        }
        let again = table.take().unwrap();
        assert_eq!(again.generation, 1);
        assert_eq!(Token::from_word(again.to_word()), again);
    }
}
