//! Looking for something for a while before sleeping, for as long as that pays.

use punctual_sys::processor;
use std::cell::Cell;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// After this many waits that were not looked for at all, one is, to see whether it pays again.
const PROBE: u32 = 16;
/// A shorter look costs less than it takes to note it.
const SHORTEST: Duration = Duration::from_micros(1);
/// What is known of a thread is asked for again after so many looks of it in vain.
const KNOWN_FOR: u32 = 4096;

/// What one look costs, and so how often the clock is looked at in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// At memory: a few nanoseconds. None at the clock before some 200 of those.
    Memory,
    /// By a system call.
    System,
}

impl Look {
    /// Looks before the first at the clock.
    fn first(self) -> u32 {
        match self {
            Self::Memory => 200,
            Self::System => 4,
        }
    }

    /// Looks between two looks at the clock.
    fn later(self) -> u32 {
        match self {
            Self::Memory => 32,
            Self::System => 2,
        }
    }
}

/// A budget of time that halves with each look in vain and is whole again after one that paid.
///
/// What is waited for may come late (a busy peer, a quiet client), or never while this thread holds the
/// processor that the peer needs: then a few waits bring the budget to nothing, and only one in 16 tries
/// again. A thread that may run on one processor only never looks for longer than once, as the peer may
/// need that one, and neither does a real-time thread, which would keep the peer from running: unless
/// that is asked for, by whoever has set the processors apart.
///
/// One thread at a time waits with it; the atomics are for that right being handed on, and whoever does
/// so synchronises.
#[derive(Debug)]
pub struct Spin {
    look: Look,
    always: bool,
    /// In nanoseconds, as all below.
    most: u32,
    budget: AtomicU32,
    /// Waits since the budget came to nothing.
    idle: AtomicU32,
}

impl Spin {
    /// At most so long a look, of this kind. Zero looks once. Longer than 4 s is taken for 4 s.
    #[must_use]
    pub fn new(most: Duration, look: Look) -> Self {
        let most = u32::try_from(most.as_nanos()).unwrap_or(u32::MAX);
        Self {
            look,
            always: false,
            most,
            budget: AtomicU32::new(most),
            idle: AtomicU32::new(0),
        }
    }

    /// Whether real-time threads look, too, and those that may run on one processor only. They do not
    /// unless they are told to: where the peer runs on another processor, and this one has nothing else
    /// to do.
    #[must_use]
    pub fn always(mut self, always: bool) -> Self {
        self.always = always;
        self
    }

    /// Whether it never looks more than once.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.most == 0
    }

    /// Looks until it finds something, or the budget is used up.
    #[inline]
    pub fn until<T>(&self, mut look: impl FnMut() -> Option<T>) -> Option<T> {
        if let Some(found) = look() {
            return Some(found);
        }
        self.look_on(look)
    }

    /// As [`Spin::until`], behind a first look.
    pub fn look_on<T>(&self, mut look: impl FnMut() -> Option<T>) -> Option<T> {
        let budget = self.next_budget();
        if budget == 0 || !self.has_processor() {
            return None;
        }
        let found = self.look_for(Duration::from_nanos(budget.into()), &mut look);
        let next = match (&found, self.budget.load(Ordering::Relaxed) / 2) {
            (Some(_), _) => self.most,
            // Also after a probe in vain, which was not on this budget.
            (None, half) if Duration::from_nanos(half.into()) < SHORTEST => 0,
            (None, half) => half,
        };
        self.budget.store(next, Ordering::Relaxed);
        found
    }

    fn look_for<T>(&self, budget: Duration, look: &mut impl FnMut() -> Option<T>) -> Option<T> {
        // While it is young the clock is left alone: reading it costs as much as several looks.
        for _ in 0..self.look.first() {
            spin_loop();
            if let Some(found) = look() {
                return Some(found);
            }
        }
        let begin = Instant::now();
        while begin.elapsed() < budget {
            for _ in 0..self.look.later() {
                spin_loop();
                if let Some(found) = look() {
                    return Some(found);
                }
            }
        }
        None
    }

    fn next_budget(&self) -> u32 {
        let budget = self.budget.load(Ordering::Relaxed);
        if budget > 0 || self.most == 0 {
            return budget;
        }
        let idle = self.idle.load(Ordering::Relaxed) + 1;
        self.idle.store(idle % PROBE, Ordering::Relaxed);
        if idle < PROBE { 0 } else { self.most }
    }

    /// Whether the calling thread has a processor to look with.
    fn has_processor(&self) -> bool {
        self.always
            || KNOWN.with(|known| {
                let mut thread = known.get();
                if thread.looks == 0 {
                    thread = Thread::ask();
                }
                thread.looks -= 1;
                known.set(thread);
                thread.has_choice && !thread.is_real_time
            })
    }
}

/// What is known of a thread.
#[derive(Clone, Copy)]
struct Thread {
    /// Whether it may run on more than one processor.
    has_choice: bool,
    is_real_time: bool,
    /// Looks until this is asked for again.
    looks: u32,
}

thread_local! {
    static KNOWN: Cell<Thread> = const {
        Cell::new(Thread { has_choice: false, is_real_time: false, looks: 0 })
    };
}

impl Thread {
    fn ask() -> Self {
        Self {
            has_choice: processor::is_spare(),
            // Where it can't be told, no thread is.
            is_real_time: processor::is_real_time().unwrap_or(false),
            looks: KNOWN_FOR,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks_of(spin: &Spin, found_at: u32) -> (u32, bool) {
        let mut looks = 0;
        let found = spin.until(|| {
            looks += 1;
            (looks >= found_at).then_some(())
        });
        (looks, found.is_some())
    }

    fn can_spin() -> bool {
        let can = processor::is_spare() && !processor::is_real_time().unwrap_or(false);
        if !can {
            eprintln!("skipped: this thread has no processor to spare");
        }
        can
    }

    #[test]
    fn looking_in_vain_comes_to_nothing_and_one_that_pays_restores_it() {
        if !can_spin() {
            return;
        }
        let spin = Spin::new(Duration::from_micros(8), Look::Memory);
        let budget = || spin.budget.load(Ordering::Relaxed);
        let most = budget();
        let mut waits = 0;
        while budget() > 0 {
            assert!(!looks_of(&spin, u32::MAX).1);
            waits += 1;
        }
        assert_eq!(waits, 4);
        for _ in 1..PROBE {
            assert_eq!(looks_of(&spin, u32::MAX), (1, false));
        }
        assert!(looks_of(&spin, u32::MAX).0 > 1);
        assert_eq!(budget(), 0);
        for _ in 1..PROBE {
            assert_eq!(looks_of(&spin, 2), (1, false));
        }
        assert_eq!(looks_of(&spin, 2), (2, true));
        assert_eq!(budget(), most);
    }

    #[test]
    fn without_a_budget_there_is_one_look() {
        let spin = Spin::new(Duration::ZERO, Look::Memory);
        for _ in 0..2 * PROBE {
            assert_eq!(looks_of(&spin, 2), (1, false));
        }
        assert!(spin.is_off());
    }

    #[test]
    fn a_thread_with_one_processor_looks_once_unless_it_is_told_to() {
        std::thread::spawn(|| {
            processor::pin_to(processor::allowed().unwrap()[0]).unwrap();
            let spin = Spin::new(Duration::from_secs(1), Look::System);
            assert_eq!(looks_of(&spin, 2), (1, false));
            assert_eq!(looks_of(&spin, 1), (1, true));
            assert_eq!(looks_of(&spin.always(true), 2), (2, true));
        })
        .join()
        .unwrap();
    }

    #[test]
    fn what_is_there_within_the_first_looks_needs_no_clock() {
        if !can_spin() {
            return;
        }
        // Nothing is left of a nanosecond once the clock has been looked at.
        let spin = Spin::new(Duration::from_nanos(1), Look::Memory);
        let young = Look::Memory.first() + 1;
        assert_eq!(looks_of(&spin, young), (young, true));
        assert!(!looks_of(&spin, u32::MAX).1);
    }
}
