//! Who serves a registration: one thread at a time, chosen by a single exchange, and nothing that
//! happened meanwhile is lost.
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
//! One word holds it all: the registration's generation above, so that what was said of an earlier one
//! at the same place goes to nobody, and below whether it is owned, queued, and what is noted. What is
//! noted while nobody owns it implies that it is queued.

use crate::sync::{AtomicU64, Ordering};

/// What happened to a registration, as a set.
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
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// There is something to read.
    pub const READ: Self = Self(READABLE);
    /// There is room to write.
    pub const WRITE: Self = Self(WRITABLE);
    /// The other side has finished, or the connection failed: reading goes on until it says so.
    pub const END: Self = Self(ENDED);
    /// Somebody asked for it to be served.
    pub const NUDGE: Self = Self(NUDGED);
    /// Its deadline has passed.
    pub const DEADLINE: Self = Self(OVERDUE);
    /// It was taken out of the reactor while it was owned: the owner clears up.
    pub(super) const RETIRED: Self = Self(GONE);

    /// Whether all of `other` is in it.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both together.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether nothing is in it.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// See the module.
#[derive(Debug)]
pub struct Owner {
    state: AtomicU64,
}

/// What taking a registration out came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retired {
    /// The caller owns it now, and clears up.
    Mine,
    /// Its owner will.
    Later,
    /// There is none of that generation.
    Stale,
}

/// What the word becomes, and what that is to the caller; `None` leaves it as it is.
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
    /// Of a place that holds a registration of generation 0: idle.
    #[must_use]
    pub fn new() -> Self {
        Self {
            state: AtomicU64::new(0),
        }
    }

    /// The generation that the place holds, or held.
    #[must_use]
    pub fn generation(&self) -> u32 {
        generation(self.state.load(Ordering::Acquire))
    }

    /// Something happened: all that did, if the caller owns the registration now; `None` when its owner
    /// will be told, or there is none.
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

    /// As [`Owner::offer`], for others to serve: whether the caller has to queue it.
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

    /// It was taken out of the queue: all that is noted, if the caller owns it now.
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

    /// The owner has done with it: what happened meanwhile, if it has to serve it again and stays owner.
    #[inline]
    #[must_use]
    pub fn release(&self, of: u32) -> Option<Readiness> {
        self.step(of, None, |flags| match flags & NOTES {
            0 => (Some(flags & !OWNED), None),
            noted => (Some(flags & !NOTES), Some(Readiness(noted))),
        })
    }

    /// The owner hands it to whoever comes next, with what is left to do: whether the caller has to
    /// queue it, or, as an error, that it was taken out and the caller, still its owner, clears up.
    ///
    /// # Errors
    /// It was taken out.
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

    /// It is taken out of the reactor.
    #[must_use]
    pub fn retire(&self, of: u32) -> Retired {
        self.step(of, Retired::Stale, |flags| match flags & (OWNED | GONE) {
            0 => (Some(flags | OWNED | GONE), Retired::Mine),
            OWNED => (Some(flags | GONE), Retired::Later),
            _ => (None, Retired::Stale),
        })
    }

    /// The owner has cleared up: the place is ready for another, whose generation is returned.
    #[must_use]
    pub fn vacate(&self, of: u32) -> u32 {
        let next = of.wrapping_add(1);
        // AcqRel as in `step`, for whoever serves the next registration.
        self.state.swap(word(next, 0), Ordering::AcqRel);
        next
    }

    /// AcqRel: what the last owner did is seen by the next, and what happened before it was told of is
    /// seen by whoever is told.
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
