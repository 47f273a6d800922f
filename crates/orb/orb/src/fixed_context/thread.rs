//! Scheduling state of the calling thread, and the last priority word that determined it.

use super::word::{ObeyedWord, WORD};
use crate::priority::Priority;
use std::cell::Cell;

impl Priority {
    /// Returns the CORBA priority that was set for the calling thread.
    #[inline]
    #[must_use]
    pub fn of_thread() -> Option<Self> {
        OF_THREAD.with(|thread| thread.runs_at.get().priority())
    }

    /// Returns the CORBA priority of the calling thread, and the number that the thread last recorded by
    /// [`Priority::record_place`].
    #[inline]
    pub(crate) fn of_thread_and_place() -> (Option<Self>, usize) {
        OF_THREAD.with(|thread| (thread.runs_at.get().priority(), thread.place.get()))
    }

    /// Records where the lane of the calling thread's priority stands among an ORB's lanes.
    pub(crate) fn record_place(place: usize) {
        OF_THREAD.with(|thread| thread.place.set(place));
    }

    /// Sets the calling thread's CORBA priority for the ORBs that it calls through, and returns the
    /// previous one. To be called by the scheduler of the thread (`punctual_rt`'s `RtCurrent`).
    // Not inlined: in another crate, access to the thread-local variable would be a call through a
    // pointer.
    #[inline(never)]
    pub fn replace_of_thread(priority: Option<Self>) -> Option<Self> {
        OF_THREAD.with(|thread| {
            let before = thread.runs_at.get();
            thread
                .runs_at
                .set(RunsAt::new(before.scheduled(), priority));
            before.priority()
        })
    }
}

/// Scheduling state of a thread in one number: the number that the thread's scheduler gives to its
/// scheduling (0 at first), and its CORBA priority. For schedulers of threads (`punctual_rt`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunsAt(u64);

/// Bit that is set if there is a CORBA priority, which is in the lower bits.
const HAS_PRIORITY: u64 = 1 << 16;
const PRIORITY: u64 = 0x7fff;

impl RunsAt {
    /// Combines the number of a thread's scheduling with its CORBA priority.
    #[inline]
    #[must_use]
    pub const fn new(scheduled: u32, priority: Option<Priority>) -> Self {
        let priority = match priority {
            Some(priority) => HAS_PRIORITY | priority.get().cast_unsigned() as u64,
            None => 0,
        };
        Self((scheduled as u64) << 32 | priority)
    }

    /// Returns the scheduling state encoded as a number.
    #[inline]
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0
    }

    /// Restores the scheduling state from a number that [`RunsAt::number`] returned.
    #[inline]
    #[must_use]
    pub const fn from_number(number: u64) -> Self {
        Self(number)
    }

    /// Returns the number that identifies the thread's scheduling.
    #[inline]
    #[must_use]
    pub const fn scheduled(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// Returns the thread's CORBA priority, if there is one.
    #[inline]
    #[must_use]
    pub const fn priority(self) -> Option<Priority> {
        match self.0 & HAS_PRIORITY {
            0 => None,
            _ => match Priority::new((self.0 & PRIORITY) as i16) {
                Ok(priority) => Some(priority),
                Err(_) => None,
            },
        }
    }

    /// Returns the scheduling state of the calling thread.
    #[inline(never)]
    #[must_use]
    pub fn of_thread() -> Self {
        OF_THREAD.with(|thread| thread.runs_at.get())
    }

    /// Records this as the state of the calling thread, and returns the previous one.
    #[inline(never)]
    pub fn replace_of_thread(self) -> Self {
        OF_THREAD.with(|thread| thread.runs_at.replace(self))
    }

    /// Records that the calling thread is now scheduled as its scheduler interprets this word of a
    /// request. The next request with an equal word need not be decoded if it is served by a thread
    /// with equal scheduling.
    #[inline(never)]
    pub fn obeys(scheduler: u32, word: [u8; WORD]) {
        OF_THREAD.with(|thread| {
            thread.obeyed.set(obeyed(scheduler, word));
            thread.as_obeyed.set(thread.runs_at.get());
        });
    }

    /// Gives the calling thread the scheduling that a request's word demands, if the last recorded
    /// word is equal and the thread's scheduling has not changed since. Returns the thread's
    /// previous state, and the priority at which it now runs.
    #[inline]
    pub(crate) fn obey_again(by: ObeyedWord, word: [u8; WORD]) -> Option<(Self, Priority)> {
        OF_THREAD.with(|thread| {
            let (before, wanted) = (thread.runs_at.get(), thread.as_obeyed.get());
            let is_same = thread.obeyed.get() == obeyed(by.scheduler, word)
                && before.scheduled() == wanted.scheduled();
            let priority = wanted.priority().filter(|_| is_same)?;
            thread.runs_at.set(wanted);
            Some((before, priority))
        })
    }

    /// Restores this state if the calling thread's scheduling has the number recorded in it;
    /// returns whether it has.
    #[inline]
    pub(crate) fn restore(self) -> bool {
        OF_THREAD.with(|thread| {
            let is_scheduled_so = thread.runs_at.get().scheduled() == self.scheduled();
            if is_scheduled_so {
                thread.runs_at.set(self);
            }
            is_scheduled_so
        })
    }
}

/// State of the calling thread, in one struct, so that one access to thread-local memory reaches
/// all of it.
struct OfThread {
    runs_at: Cell<RunsAt>,
    /// Scheduler and word of the last request that determined the thread's scheduling ([`obeyed`]).
    obeyed: Cell<u64>,
    /// State of the thread after that word was applied.
    as_obeyed: Cell<RunsAt>,
    /// Place of the lane that the thread last called by, among the lanes of its ORB.
    place: Cell<usize>,
}

thread_local! {
    static OF_THREAD: OfThread = const {
        OfThread {
            runs_at: Cell::new(RunsAt::new(0, None)),
            // No scheduler has the number 0.
            obeyed: Cell::new(0),
            as_obeyed: Cell::new(RunsAt::new(0, None)),
            place: Cell::new(0),
        }
    };
}

/// Combines a scheduler's number and a word to one number.
#[inline]
fn obeyed(scheduler: u32, word: [u8; WORD]) -> u64 {
    u64::from(scheduler) << 32 | u64::from(u32::from_ne_bytes(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_like_the_last_is_obeyed_again_by_a_thread_that_is_scheduled_as_then() {
        std::thread::spawn(|| {
            let nine = Priority::new(9).unwrap();
            let (own, urgent) = (RunsAt::new(7, None), RunsAt::new(7, Some(nine)));
            let by = |scheduler| ObeyedWord {
                context: 10,
                scheduler,
            };
            let word = [1, 0, 9, 0];
            assert_eq!(RunsAt::obey_again(by(3), word), None);
            urgent.replace_of_thread();
            RunsAt::obeys(3, word);
            assert_eq!(own.replace_of_thread(), urgent);
            assert_eq!(RunsAt::obey_again(by(4), word), None);
            assert_eq!(RunsAt::obey_again(by(3), [0, 0, 0, 9]), None);
            assert_eq!(RunsAt::obey_again(by(3), word), Some((own, nine)));
            assert_eq!(Priority::of_thread(), Some(nine));
            assert!(own.restore());
            assert_eq!(RunsAt::of_thread(), own);
            // The thread is scheduled otherwise meanwhile.
            RunsAt::new(8, None).replace_of_thread();
            assert_eq!(RunsAt::obey_again(by(3), word), None);
            assert!(!own.restore());
            assert_eq!(RunsAt::of_thread(), RunsAt::new(8, None));
        })
        .join()
        .unwrap();
    }
}
