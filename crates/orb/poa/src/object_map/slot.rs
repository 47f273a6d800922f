//! One place for an entry, and the word that says who may touch it: the only `unsafe` of this crate.
//!
//! ```text
//! 63            32 31   30      29      28        27        0
//! |  generation   |OPEN|CLOSING|WATCHED|FORWARDED|    pins   |
//! ```
//!
//! - **Free**: neither OPEN nor CLOSING, no pins. The next entry comes under this generation.
//! - **Open**: there is an entry. Who knows the generation may pin it: one compare-exchange to enter, one
//!   subtraction to unpin.
//! - **Closing**: nobody enters any more. The exchange that set it found at least one pin, its own; the
//!   subtraction that takes the last pin of a closing slot is one and no more, and who made it alone has the
//!   entry from then on, until it frees the slot under the next generation. A slot that is being filled is
//!   closing too, without pins.
//!
//! WATCHED asks who unpins last to wake somebody. FORWARDED says that calls are to be sent elsewhere; both
//! say nothing about the entry.

use super::sync::{AtomicU64, Ordering, UnsafeCell};
use std::fmt;
use std::ops::Deref;

const OPEN: u64 = 1 << 31;
const CLOSING: u64 = 1 << 30;
const WATCHED: u64 = 1 << 29;
const FORWARDED: u64 = 1 << 28;
/// How many pins there is room for; one too many is refused.
const PINS: u64 = FORWARDED - 1;
const GENERATION: u32 = 32;

fn generation(word: u64) -> u32 {
    (word >> GENERATION) as u32
}

/// A place for an entry. Alone in its cache line: a lookup touches one, and none that others write.
#[repr(align(64))]
pub(crate) struct Slot<E> {
    word: AtomicU64,
    /// For the chain that the slot is in, of an index or of free slots; says nothing about the entry.
    link: AtomicU64,
    entry: UnsafeCell<Option<E>>,
}

// SAFETY: an entry is shared between threads by pins (`Sync`), and is dropped by another thread than the one
// that put it in (`Send`). `word` orders all access: see the module and `Pin::deref`, `LastPin::take` and
// `fill`.
unsafe impl<E: Send + Sync> Sync for Slot<E> {}

/// What a slot is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Free,
    Open,
    Closing,
}

impl<E> Slot<E> {
    pub(crate) fn new() -> Self {
        Self {
            word: AtomicU64::new(0),
            link: AtomicU64::new(0),
            entry: UnsafeCell::new(None),
        }
    }

    /// One that has been used so often.
    #[cfg(test)]
    pub(crate) fn aged(generation: u32) -> Self {
        let slot = Self::new();
        let word = u64::from(generation) << GENERATION;
        slot.word.store(word, Ordering::Relaxed);
        slot
    }

    /// Enters; `None` when the slot is not open in this generation. Does not block.
    ///
    /// The exchange is `SeqCst`: who enters and then looks at a state that was stored before the
    /// slot was [watched](Slot::watch) sees that state, or is seen by the watcher.
    #[inline]
    pub(crate) fn pin(&self, of: u32) -> Option<Pin<'_, E>> {
        // Acquire: who finds that a slot is closing knows what was written before it was closed.
        let mut word = self.word.load(Ordering::Acquire);
        loop {
            if generation(word) != of || word & OPEN == 0 || word & PINS == PINS {
                return None;
            }
            match self.word.compare_exchange_weak(
                word,
                word + 1,
                Ordering::SeqCst,
                Ordering::Acquire,
            ) {
                Ok(_) => return Some(Pin { slot: self }),
                Err(changed) => word = changed,
            }
        }
    }

    /// Enters in whatever generation there is; says which.
    pub(crate) fn pin_any(&self) -> Option<(Pin<'_, E>, u32)> {
        let (_, of) = self.state();
        Some((self.pin(of)?, of))
    }

    /// What the slot is in, and its generation.
    pub(crate) fn state(&self) -> (State, u32) {
        let word = self.word.load(Ordering::Acquire);
        let state = match (word & OPEN != 0, word & CLOSING != 0) {
            (true, _) => State::Open,
            (false, true) => State::Closing,
            (false, false) => State::Free,
        };
        (state, generation(word))
    }

    /// Puts an entry in and opens the slot; gives the entry back when the slot is not free. What was written
    /// before is seen by who enters.
    pub(crate) fn fill(&self, entry: E) -> Result<u32, E> {
        let word = self.word.load(Ordering::Relaxed);
        let free = word & (OPEN | CLOSING | PINS) == 0;
        // Acquire: with the release of `LastPin::free`, after which nobody touches the former entry.
        if !free
            || self
                .word
                .compare_exchange(word, word | CLOSING, Ordering::Acquire, Ordering::Relaxed)
                .is_err()
        {
            return Err(entry);
        }
        // SAFETY: the exchange made a free slot a closing one without pins. Nobody enters such a slot, and
        // as nobody unpins it there is no `LastPin`: this thread alone touches the entry.
        self.entry.with_mut(|place| unsafe { *place = Some(entry) });
        // Release: who enters (acquire) reads the entry. An addition, as a watcher may set its bit meanwhile.
        self.word.fetch_add(OPEN - CLOSING, Ordering::Release);
        Ok(generation(word))
    }

    /// Gives up the generation of a free slot: no entry had it, and none will. `None` when the slot is not
    /// free or has no further one.
    pub(crate) fn skip(&self) -> Option<u32> {
        let word = self.word.load(Ordering::Relaxed);
        let of = generation(word);
        if word & (OPEN | CLOSING | PINS) != 0 || of == u32::MAX {
            return None;
        }
        self.word
            .compare_exchange(
                word,
                word + (1 << GENERATION),
                Ordering::Relaxed,
                Ordering::Relaxed,
            )
            .ok()
            .map(|_| of)
    }

    /// Whether it has no pin, and what was in it is removed. `SeqCst`, see [`Slot::pin`].
    pub(crate) fn is_unpinned(&self) -> bool {
        self.word.load(Ordering::SeqCst) & (PINS | CLOSING) == 0
    }

    /// Asks who unpins last to say so; `false` when there is no pin, and what was in it is removed.
    pub(crate) fn watch(&self) -> bool {
        let mut word = self.word.load(Ordering::SeqCst);
        loop {
            if word & (PINS | CLOSING) == 0 {
                return false;
            }
            match self.word.compare_exchange_weak(
                word,
                word | WATCHED,
                Ordering::AcqRel,
                Ordering::SeqCst,
            ) {
                Ok(_) => return true,
                Err(changed) => word = changed,
            }
        }
    }

    /// Asks no longer.
    pub(crate) fn unwatch(&self) {
        self.word.fetch_and(!WATCHED, Ordering::AcqRel);
    }

    /// The link of the chain that the slot is in.
    #[inline]
    pub(crate) fn link(&self) -> u64 {
        self.link.load(Ordering::Acquire)
    }

    /// Sets the link. Who reads it sees what was written before.
    pub(crate) fn set_link(&self, link: u64) {
        self.link.store(link, Ordering::Release);
    }
}

/// Keeps the entry of a slot where it is. One that is dropped without [`Pin::unpin`] stays for ever.
pub(crate) struct Pin<'s, E> {
    slot: &'s Slot<E>,
}

/// What is to be done after unpinning.
pub(crate) enum Unpinned<'s, E> {
    /// Nothing.
    Quietly,
    /// Somebody is to be woken.
    Watched,
    /// The slot was closing and nobody is left in it.
    Last(LastPin<'s, E>),
}

impl<'s, E> Pin<'s, E> {
    /// The slot.
    pub(crate) fn slot(&self) -> &'s Slot<E> {
        self.slot
    }

    /// Leaves.
    #[inline]
    pub(crate) fn unpin(self) -> Unpinned<'s, E> {
        // Release: what was done with the entry comes before it is removed; acquire, for who removes it:
        // what all others did.
        let before = self.slot.word.fetch_sub(1, Ordering::AcqRel);
        if before & PINS != 1 || before & (CLOSING | WATCHED) == 0 {
            return Unpinned::Quietly;
        }
        if before & CLOSING == 0 {
            return Unpinned::Watched;
        }
        Unpinned::Last(LastPin { slot: self.slot })
    }

    /// Closes the slot: nobody enters any more, and the last who unpins it removes the entry. `false` when
    /// it was closed before.
    pub(crate) fn close(&self) -> bool {
        let mut word = self.slot.word.load(Ordering::Relaxed);
        loop {
            if word & OPEN == 0 {
                return false;
            }
            // Release: who finds the slot closing sees what was written before.
            match self.slot.word.compare_exchange_weak(
                word,
                word ^ (OPEN | CLOSING),
                Ordering::AcqRel,
                Ordering::Relaxed,
            ) {
                Ok(_) => return true,
                Err(changed) => word = changed,
            }
        }
    }

    /// Whether the slot is open still.
    pub(crate) fn is_open(&self) -> bool {
        self.slot.word.load(Ordering::Acquire) & OPEN != 0
    }

    /// Says that calls are to be sent elsewhere from now on.
    pub(crate) fn forward(&self) {
        self.slot.word.fetch_or(FORWARDED, Ordering::AcqRel);
    }

    /// Whether calls are to be sent elsewhere.
    #[inline]
    pub(crate) fn is_forwarded(&self) -> bool {
        self.slot.word.load(Ordering::Acquire) & FORWARDED != 0
    }
}

impl<E> Deref for Pin<'_, E> {
    type Target = E;

    #[inline]
    fn deref(&self) -> &E {
        // SAFETY: an entry is written by `fill`, which makes the slot open afterwards (release); a `Pin` is made
        // by an exchange that found it open (acquire). It is written again by `LastPin`, which is made when the
        // last pin is subtracted, and so after this one has left (release, acquire): `unpin` takes the
        // `Pin`, and with it all that was borrowed from it.
        let entry = self.slot.entry.with(|place| unsafe { &*place });
        match entry {
            Some(entry) => entry,
            None => unreachable!("an open slot holds an entry"),
        }
    }
}

/// Who has unpinned a closing slot last: it alone has the entry. A slot whose `LastPin` is dropped stays closing for
/// ever.
pub(crate) struct LastPin<'s, E> {
    slot: &'s Slot<E>,
}

impl<E> LastPin<'_, E> {
    /// Takes the entry out; `None` when that was done before.
    pub(crate) fn take(&mut self) -> Option<E> {
        // SAFETY: the pins of a closing slot are subtracted to none once, as nobody enters it; `LastPin`
        // is made there and cannot be copied. All who were in have left before (release, acquire), and
        // nobody fills a slot that is closing.
        self.slot.entry.with_mut(|place| unsafe { (*place).take() })
    }

    /// Frees the slot under its next generation; `false` when there is none, and the slot not to be used again.
    /// An entry that was not taken is dropped.
    pub(crate) fn free(mut self) -> bool {
        drop(self.take());
        let mut word = self.slot.word.load(Ordering::Relaxed);
        loop {
            let next = generation(word).checked_add(1);
            let free = u64::from(next.unwrap_or(u32::MAX)) << GENERATION;
            // Release: for who fills the slot next. In a loop, as a watcher may set its bit meanwhile.
            match self.slot.word.compare_exchange_weak(
                word,
                free,
                Ordering::AcqRel,
                Ordering::Relaxed,
            ) {
                Ok(_) => return next.is_some(),
                Err(changed) => word = changed,
            }
        }
    }
}

impl<E> fmt::Debug for Slot<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (state, generation) = self.state();
        f.debug_struct("Slot")
            .field("state", &state)
            .field("generation", &generation)
            .finish()
    }
}
