//! Slot of an entry, and the word that controls access to it: the only `unsafe` of this crate.
//!
//! ```text
//! 63            32 31   30      29      28        27        0
//! |  generation   |OPEN|CLOSING|WATCHED|FORWARDED|    pins   |
//! ```
//!
//! - **Free**: neither OPEN nor CLOSING, no pins. The next entry comes under this generation.
//! - **Open**: there is an entry. A thread that knows the generation may pin it: one
//!   compare-exchange to pin, one subtraction to unpin.
//! - **Closing**: no thread can pin it any more. The exchange that set CLOSING found at least one
//!   pin, that of its own thread; exactly one subtraction takes the last pin of a closing slot, and
//!   the thread that makes it is the sole owner of the entry from then on, until it frees the slot
//!   under the next generation. A slot that is being filled is closing too, without pins.
//!
//! WATCHED asks the thread that unpins last to wake a waiter. FORWARDED says that calls are to be
//! forwarded; both say nothing about the entry.

use super::sync::{AtomicU64, Ordering, UnsafeCell};
use std::fmt;
use std::ops::Deref;

const OPEN: u64 = 1 << 31;
const CLOSING: u64 = 1 << 30;
const WATCHED: u64 = 1 << 29;
const FORWARDED: u64 = 1 << 28;
/// Upper bound of the pins of an entry; a further one is refused.
const PINS: u64 = FORWARDED - 1;
const GENERATION: u32 = 32;

fn generation(word: u64) -> u32 {
    (word >> GENERATION) as u32
}

/// Slot for an entry, alone in its cache line: a lookup touches one line, and other slots' writes
/// do not invalidate it.
#[repr(align(64))]
pub(crate) struct Slot<E> {
    word: AtomicU64,
    /// Link of the chain that the slot is in: that of an index, or that of the free slots. Not
    /// related to the state of the entry.
    link: AtomicU64,
    entry: UnsafeCell<Option<E>>,
}

// SAFETY: an entry is shared between threads by pins (`Sync`), and is dropped by another thread than the one
// that put it in (`Send`). `word` orders all access: see the module and `Pin::deref`, `LastPin::take` and
// `fill`.
unsafe impl<E: Send + Sync> Sync for Slot<E> {}

/// State of a slot of the active object map.
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

    /// Makes a slot that counts as having been used `generation` times.
    #[cfg(test)]
    pub(crate) fn aged(generation: u32) -> Self {
        let slot = Self::new();
        let word = u64::from(generation) << GENERATION;
        slot.word.store(word, Ordering::Relaxed);
        slot
    }

    /// Pins the entry; returns `None` if the slot is not open in this generation. Does not block.
    ///
    /// The exchange is `SeqCst`: if a thread pins the slot and then reads a state that another
    /// thread stored before it [watched](Slot::watch) the slot, either the reader sees that state,
    /// or the watcher sees the pin.
    #[inline]
    pub(crate) fn pin(&self, of: u32) -> Option<Pin<'_, E>> {
        // Acquire: a thread that finds a slot closing sees the writes before it was closed.
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

    /// Pins the entry in whatever generation it is; returns the pin and the generation.
    pub(crate) fn pin_any(&self) -> Option<(Pin<'_, E>, u32)> {
        let (_, of) = self.state();
        Some((self.pin(of)?, of))
    }

    /// Returns the state of the slot, and its generation.
    pub(crate) fn state(&self) -> (State, u32) {
        let word = self.word.load(Ordering::Acquire);
        let state = match (word & OPEN != 0, word & CLOSING != 0) {
            (true, _) => State::Open,
            (false, true) => State::Closing,
            (false, false) => State::Free,
        };
        (state, generation(word))
    }

    /// Stores an entry and opens the slot; gives the entry back if the slot is not free. A thread
    /// that pins the entry sees all writes that came before this.
    pub(crate) fn fill(&self, entry: E) -> Result<u32, E> {
        let word = self.word.load(Ordering::Relaxed);
        let free = word & (OPEN | CLOSING | PINS) == 0;
        // Acquire: pairs with the Release of `LastPin::free`, after which no thread touches the
        // former entry.
        if !free
            || self
                .word
                .compare_exchange(word, word | CLOSING, Ordering::Acquire, Ordering::Relaxed)
                .is_err()
        {
            return Err(entry);
        }
        // SAFETY: the exchange made a free slot a closing one without pins. No thread enters such a
        // slot, and as none unpins it there is no `LastPin`: this thread alone touches the entry.
        self.entry.with_mut(|place| unsafe { *place = Some(entry) });
        // Release: a thread that enters (Acquire) reads the entry. An addition, as a watcher may
        // set its bit meanwhile.
        self.word.fetch_add(OPEN - CLOSING, Ordering::Release);
        Ok(generation(word))
    }

    /// Skips the current generation of a free slot, and returns it: no entry has had it, and none
    /// will. Returns `None` if the slot is not free or has no further generation.
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

    /// Returns whether the slot has no pin, and its former entry has been removed. `SeqCst`, see
    /// [`Slot::pin`].
    pub(crate) fn is_unpinned(&self) -> bool {
        self.word.load(Ordering::SeqCst) & (PINS | CLOSING) == 0
    }

    /// Asks for a wake-up by the thread that releases the last pin; returns `false` if there is no
    /// pin and the former entry has been removed.
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

    /// Withdraws the request to be woken when the slot is unpinned.
    pub(crate) fn unwatch(&self) {
        self.word.fetch_and(!WATCHED, Ordering::AcqRel);
    }

    /// Returns the slot's link to the next element of its chain.
    #[inline]
    pub(crate) fn link(&self) -> u64 {
        self.link.load(Ordering::Acquire)
    }

    /// Sets the slot's link in its chain. A thread that reads it sees the writes before.
    pub(crate) fn set_link(&self, link: u64) {
        self.link.store(link, Ordering::Release);
    }
}

/// Pin that keeps the entry of a slot from being removed. A pin that is dropped without
/// [`Pin::unpin`] is never released.
pub(crate) struct Pin<'s, E> {
    slot: &'s Slot<E>,
}

/// Work that remains after a slot has been unpinned.
pub(crate) enum Unpinned<'s, E> {
    /// No work remains after unpinning.
    NoWork,
    /// A thread that waits for the slot must be woken.
    Watched,
    /// The slot was closing, and this was the last pin.
    Last(LastPin<'s, E>),
}

impl<'s, E> Pin<'s, E> {
    /// Returns the slot that the pin protects.
    pub(crate) fn slot(&self) -> &'s Slot<E> {
        self.slot
    }

    /// Releases the pin; returns the work to be done afterwards.
    #[inline]
    pub(crate) fn unpin(self) -> Unpinned<'s, E> {
        // Release: the uses of the entry come before its removal; Acquire, for the thread that
        // removes it: the uses of all others.
        let before = self.slot.word.fetch_sub(1, Ordering::AcqRel);
        if before & PINS != 1 || before & (CLOSING | WATCHED) == 0 {
            return Unpinned::NoWork;
        }
        if before & CLOSING == 0 {
            return Unpinned::Watched;
        }
        Unpinned::Last(LastPin { slot: self.slot })
    }

    /// Closes the slot: no thread can pin it any more, and the thread that unpins it last removes
    /// the entry. Returns `false` if it was closed before.
    pub(crate) fn close(&self) -> bool {
        let mut word = self.slot.word.load(Ordering::Relaxed);
        loop {
            if word & OPEN == 0 {
                return false;
            }
            // Release: a thread that finds the slot closing sees the writes before.
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

    /// Returns whether the pinned slot is still open for new calls.
    pub(crate) fn is_open(&self) -> bool {
        self.slot.word.load(Ordering::Acquire) & OPEN != 0
    }

    /// Marks the object of the slot as forwarding its calls from now on.
    pub(crate) fn forward(&self) {
        self.slot.word.fetch_or(FORWARDED, Ordering::AcqRel);
    }

    /// Returns whether calls of the object in this slot are forwarded.
    #[inline]
    pub(crate) fn is_forwarded(&self) -> bool {
        self.slot.word.load(Ordering::Acquire) & FORWARDED != 0
    }
}

impl<E> Deref for Pin<'_, E> {
    type Target = E;

    #[inline]
    fn deref(&self) -> &E {
        // SAFETY: an entry is written by `fill`, which makes the slot open afterwards (Release); a
        // `Pin` is made by an exchange that found it open (Acquire). It is written again by
        // `LastPin`, which is made when the last pin is subtracted, and so after this one has left
        // (Release, Acquire): `unpin` takes the `Pin`, and with it all that was borrowed from it.
        let entry = self.slot.entry.with(|place| unsafe { &*place });
        match entry {
            Some(entry) => entry,
            None => unreachable!("an open slot holds an entry"),
        }
    }
}

/// Sole ownership of the entry, for the thread that unpinned a closing slot last. If a `LastPin` is
/// dropped without freeing the slot, the slot stays closing for ever.
pub(crate) struct LastPin<'s, E> {
    slot: &'s Slot<E>,
}

impl<E> LastPin<'_, E> {
    /// Takes the entry out of the slot; returns `None` if it was taken before.
    pub(crate) fn take(&mut self) -> Option<E> {
        // SAFETY: the pins of a closing slot are subtracted to none once, as no thread enters it;
        // `LastPin` is made there and cannot be copied. All threads that were in have left before
        // (Release, Acquire), and none fills a slot that is closing.
        self.slot.entry.with_mut(|place| unsafe { (*place).take() })
    }

    /// Frees the slot under its next generation. Returns `false` if there is none, so that the slot
    /// cannot be used again. An entry that was not taken is dropped.
    pub(crate) fn free(mut self) -> bool {
        drop(self.take());
        let mut word = self.slot.word.load(Ordering::Relaxed);
        loop {
            let next = generation(word).checked_add(1);
            let free = u64::from(next.unwrap_or(u32::MAX)) << GENERATION;
            // Release: for the thread that fills the slot next. In a loop, as a watcher may set its
            // bit meanwhile.
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
