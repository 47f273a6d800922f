//! Where registrations stand. Finding one takes no lock and follows no pointer that could dangle: places
//! are made in blocks that stay for good, and a token's generation tells an old registration from the one
//! that has its place now.

use super::Handler;
use super::owner::Owner;
use std::io;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Places in a block.
const BLOCK: usize = 256;

/// A registration, as its holder names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Token {
    pub(super) place: u32,
    pub(super) generation: u32,
}

impl Token {
    pub(super) fn to_word(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.place)
    }

    #[allow(clippy::cast_possible_truncation)] // What is cut off is the other half.
    pub(super) fn from_word(word: u64) -> Self {
        Self {
            place: word as u32,
            generation: (word >> 32) as u32,
        }
    }
}

/// A place for a registration.
#[derive(Default)]
pub(super) struct Place {
    pub(super) owner: Owner,
    /// Its deadline in milliseconds of the coarse clock; 0 for none.
    pub(super) due: AtomicU64,
    /// When the alarm looks at it next, 0 for never. Written under the lock of the timers only.
    pub(super) scheduled: AtomicU64,
    /// Contended only by whoever changes what is waited for while it is being served.
    handler: Mutex<Option<Arc<dyn Handler>>>,
}

impl Place {
    pub(super) fn handler(&self) -> Option<Arc<dyn Handler>> {
        self.lock().clone()
    }

    pub(super) fn set_handler(
        &self,
        handler: Option<Arc<dyn Handler>>,
    ) -> Option<Arc<dyn Handler>> {
        std::mem::replace(&mut *self.lock(), handler)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Arc<dyn Handler>>> {
        self.handler.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All places.
pub(super) struct Table {
    blocks: Box<[OnceLock<Box<[Place]>>]>,
    free: Mutex<Free>,
}

struct Free {
    /// Places given back.
    places: Vec<u32>,
    /// Places never used begin here.
    fresh: u32,
    most: u32,
}

impl Table {
    /// Room for `most` registrations, whose memory is taken as it is needed.
    pub(super) fn new(most: u32) -> Self {
        let blocks = (most as usize).div_ceil(BLOCK);
        Self {
            blocks: (0..blocks).map(|_| OnceLock::new()).collect(),
            free: Mutex::new(Free {
                places: Vec::new(),
                fresh: 0,
                most,
            }),
        }
    }

    #[inline]
    pub(super) fn place(&self, token: Token) -> Option<&Place> {
        let at = token.place as usize;
        self.blocks.get(at / BLOCK)?.get()?.get(at % BLOCK)
    }

    /// A place for a registration, and its token.
    pub(super) fn take(&self) -> io::Result<Token> {
        let place = {
            let mut free = self.free();
            match free.places.pop() {
                Some(place) => place,
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
        let at = place as usize;
        let block = self.blocks.get(at / BLOCK);
        let block =
            block.map(|block| block.get_or_init(|| (0..BLOCK).map(|_| Place::default()).collect()));
        let generation = block
            .and_then(|block| block.get(at % BLOCK))
            .map_or(0, |place| place.owner.generation());
        Ok(Token { place, generation })
    }

    /// Gives back a place that has been vacated.
    pub(super) fn give_back(&self, token: Token) {
        self.free().places.push(token.place);
    }

    /// How many registrations there are.
    pub(super) fn len(&self) -> usize {
        let free = self.free();
        free.fresh as usize - free.places.len()
    }

    fn free(&self) -> std::sync::MutexGuard<'_, Free> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_registration_takes_little_memory() {
        // Its share of the list of free places, and of the alarm's, included.
        assert!(size_of::<Place>() + size_of::<u32>() + 2 * size_of::<(u64, u32)>() < 200);
    }

    #[test]
    fn places_are_bounded_and_used_again() {
        let table = Table::new(2);
        let tokens = [table.take().unwrap(), table.take().unwrap()];
        assert!(table.take().is_err());
        assert_eq!(table.len(), 2);
        for token in tokens {
            let place = table.place(token).unwrap();
            let _ = place.owner.vacate(token.generation);
            table.give_back(token);
        }
        let again = table.take().unwrap();
        assert_eq!(again.generation, 1);
        assert_eq!(Token::from_word(again.to_word()), again);
    }
}
