//! Ownership of a registration: one thread serves it at a time, chosen by a single exchange, and no
//! event that occurs meanwhile is lost.
//!
//! ```text
//!            offer, unqueue                    offer, post: noted for the owner
//!   idle ---------------------> owned --------------------------------.
//!    | ^                       |  |  ^                                 |
//!    | '------- release -------'  |  '------- release: again ----------'
//!    |                            |
//!    | post                       | hand_over
//!    v                            v
//!   queued <----------- what is noted waits in the reactor's queue
//! ```
//!
//! One word holds it all: above, the registration's generation, so that events of an earlier
//! registration in the same entry of the table are dropped; below, whether it is owned or queued,
//! and the noted events. Noted events without an owner imply that the registration is queued.

use crate::sync::{AtomicU64, Ordering};

/// Set of events that have occurred for a registration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Readiness(u32);

const READABLE: u32 = 1;
const WRITABLE: u32 = 1 << 1;
const ENDED: u32 = 1 << 2;
const NUDGED: u32 = 1 << 3;
const OVERDUE: u32 = 1 << 4;
const GONE: u32 = 1 << 5;
const NOTES: u32 = (1 << 6) - 1;
const OWNED: u32 = 1 << 30;
const QUEUED: u32 = 1 << 31;

impl Readiness {
    /// Empty set of events.
    pub const NONE: Self = Self(0);
    /// Event: the descriptor has data to read.
    pub const READ: Self = Self(READABLE);
    /// Event: the descriptor can be written to without blocking.
    pub const WRITE: Self = Self(WRITABLE);
    /// The peer has finished, or the connection failed: reading continues until it reports so.
    pub const END: Self = Self(ENDED);
    /// A thread asked for the registration to be served (`Reactor::nudge`).
    pub const NUDGE: Self = Self(NUDGED);
    /// Event: the deadline of the registration has passed.
    pub const DEADLINE: Self = Self(OVERDUE);
    /// The registration was removed while it was owned: the owner clears it.
    pub(super) const RETIRED: Self = Self(GONE);

    /// Returns whether the set contains all events of `other`.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the union of both sets of events.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns whether the set contains no events.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// Atomic state of a reactor registration, including its ownership; see the module documentation.
#[derive(Debug)]
pub struct Owner {
    state: AtomicU64,
}

/// Outcome of removing a registration from the reactor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retired {
    /// The caller owns the registration now, and clears it.
    Mine,
    /// The thread that currently owns the registration will clear it.
    Later,
    /// No registration with this generation exists any more.
    Stale,
}

/// New value of the state word, and the caller's result; `None` leaves the word as it is.
type Step<T> = (Option<u32>, T);

#[allow(clippy::cast_possible_truncation)] // What is cut off is the generation.
fn flags(word: u64) -> u32 {
    word as u32
}

fn generation(word: u64) -> u32 {
    (word >> 32) as u32
}

fn word(generation: u32, flags: u32) -> u64 {
    u64::from(generation) << 32 | u64::from(flags)
}

impl Owner {
    /// Makes the state of an idle registration of generation 0.
    #[must_use]
    pub fn new() -> Self {
        Self {
            state: AtomicU64::new(0),
        }
    }

    /// Returns the generation of the current or last registration.
    #[must_use]
    pub fn generation(&self) -> u32 {
        generation(self.state.load(Ordering::Acquire))
    }

    /// Reports events. Returns all noted events if the caller owns the registration now; `None` if
    /// another owner will see them, or the generation is stale.
    #[inline]
    #[must_use]
    pub fn offer(&self, of: u32, happened: Readiness) -> Option<Readiness> {
        self.step(of, None, |flags| {
            if flags & OWNED == 0 {
                let taken = flags & !NOTES | OWNED;
                (Some(taken), Some(Readiness(flags & NOTES | happened.0)))
            } else {
                (Some(flags | happened.0), None)
            }
        })
    }

    /// Notes events for other threads to serve; returns whether the caller has to queue the
    /// registration.
    #[must_use]
    pub fn post(&self, of: u32, happened: Readiness) -> bool {
        self.step(of, false, |flags| {
            let noted = flags | happened.0;
            match flags & OWNED {
                0 => (Some(noted | QUEUED), flags & QUEUED == 0),
                _ => (Some(noted), false),
            }
        })
    }

    /// Takes ownership of a registration that was taken out of the queue; returns the noted events
    /// if the caller owns it now.
    #[must_use]
    pub fn unqueue(&self, of: u32) -> Option<Readiness> {
        self.step(of, None, |flags| {
            let noted = flags & NOTES;
            if flags & OWNED != 0 || noted == 0 {
                return (Some(flags & !QUEUED), None);
            }
            (Some(OWNED), Some(Readiness(noted)))
        })
    }

    /// Ends the owner's turn. Returns events that came meanwhile if the caller has to serve again
    /// and stays owner.
    #[inline]
    #[must_use]
    pub fn release(&self, of: u32) -> Option<Readiness> {
        self.step(of, None, |flags| match flags & NOTES {
            0 => (Some(flags & !OWNED), None),
            noted => (Some(flags & !NOTES), Some(Readiness(noted))),
        })
    }

    /// Hands the registration to the next free thread, with `left` still to be done. Returns
    /// whether the caller has to queue it.
    ///
    /// # Errors
    /// The noted events, if the registration was removed: the caller, still its owner, clears it.
    pub fn hand_over(&self, of: u32, left: Readiness) -> Result<bool, Readiness> {
        self.step(of, Ok(false), |flags| {
            let noted = flags & NOTES | left.0;
            if noted & GONE != 0 {
                return (None, Err(Readiness::RETIRED));
            }
            match noted {
                0 => (Some(flags & !OWNED), Ok(false)),
                _ => {
                    let queued = noted | QUEUED;
                    (Some(queued), Ok(flags & QUEUED == 0))
                }
            }
        })
    }

    /// Removes the registration from the reactor.
    #[must_use]
    pub fn retire(&self, of: u32) -> Retired {
        self.step(of, Retired::Stale, |flags| match flags & (OWNED | GONE) {
            0 => (Some(flags | OWNED | GONE), Retired::Mine),
            OWNED => (Some(flags | GONE), Retired::Later),
            _ => (None, Retired::Stale),
        })
    }

    /// Frees the registration's entry, after the owner has cleared it, and returns the generation
    /// of its next registration.
    #[must_use]
    pub fn vacate(&self, of: u32) -> u32 {
        let next = of.wrapping_add(1);
        // AcqRel as in `step`, for the thread that serves the next registration.
        self.state.swap(word(next, 0), Ordering::AcqRel);
        next
    }

    /// Replaces the state word by one exchange, or returns `stale` if its generation is not `of`.
    /// Ordering AcqRel: the next owner sees what the last one did, and the thread that receives an
    /// event sees what happened before it was reported.
    #[inline]
    fn step<T>(&self, of: u32, stale: T, next: impl Fn(u32) -> Step<T>) -> T {
        let mut now = self.state.load(Ordering::Relaxed);
        loop {
            if generation(now) != of {
                return stale;
            }
            let (Some(then), told) = next(flags(now)) else {
                return next(flags(now)).1;
            };
            let then = word(of, then);
            match self
                .state
                .compare_exchange_weak(now, then, Ordering::AcqRel, Ordering::Relaxed)
            {
                Ok(_) => return told,
                Err(other) => now = other,
            }
        }
    }
}

impl Default for Owner {
    fn default() -> Self {
        Self::new()
    }
}
