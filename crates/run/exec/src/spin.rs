//! Looking for something for a while before sleeping, for as long as that pays.

use punctual_sys::{processor, quota};
use std::cell::Cell;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// After this many waits that were not looked for at all, one is, to see whether it pays again.
const PROBE: u32 = 16;
/// A shorter look costs less than it takes to note it.
const SHORTEST: Duration = Duration::from_micros(1);
/// What is known of a thread is asked for again after so many looks of it in vain.
const KNOWN_FOR: u32 = 4096;
/// A thread that may run on one processor only lets others have it after so many batches of looks.
const BATCHES_BEFORE_YIELD: u32 = 8;

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
/// What is waited for may come late (a busy peer, a quiet client): then a few waits bring the budget to nothing,
/// and only one in 16 tries again. A thread that may run on one processor only yields between looks
/// (`sched_yield`), as the peer may need that processor. Two kinds of thread look no more than once, unless they are
/// told to by whoever has set processors apart: real-time ones, to which the peer could be the one that is kept
/// from running, and those of a process whose control group has less time than the processors it may run on
/// (cgroup `cpu.max`), which would use up the time that calls need.
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

    /// Whether threads look, too, that are real-time or have less time than processors, and none yields: where the
    /// peer runs on another processor, and this one has nothing else to do.
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
        let manners = if budget == 0 { None } else { self.manners() };
        let budget_time = Duration::from_nanos(budget.into());
        let found = self.look_for(budget_time, manners?, &mut look);
        let next = match (&found, self.budget.load(Ordering::Relaxed) / 2) {
            (Some(_), _) => self.most,
            // Also after a probe in vain, which was not on this budget.
            (None, half) if Duration::from_nanos(half.into()) < SHORTEST => 0,
            (None, half) => half,
        };
        self.budget.store(next, Ordering::Relaxed);
        found
    }

    fn look_for<T>(
        &self,
        budget: Duration,
        manners: Manners,
        look: &mut impl FnMut() -> Option<T>,
    ) -> Option<T> {
        // While it is young the clock is left alone: reading it costs as much as several looks.
        for _ in 0..self.look.first() {
            spin_loop();
            if let Some(found) = look() {
                return Some(found);
            }
        }
        let begin = Instant::now();
        let mut batches = 0;
        while begin.elapsed() < budget {
            batches += 1;
            if manners == Manners::Yields && batches % BATCHES_BEFORE_YIELD == 0 {
                thread::yield_now();
            }
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

    /// How the calling thread may look; `None` where it may not.
    fn manners(&self) -> Option<Manners> {
        if self.always {
            return Some(Manners::Keeps);
        }
        KNOWN.with(|known| {
            let mut thread = known.get();
            if thread.looks == 0 {
                thread = KnownThread::ask();
            }
            thread.looks -= 1;
            known.set(thread);
            thread.manners
        })
    }
}

/// What a thread that looks does with its processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manners {
    /// Keeps it: there are others.
    Keeps,
    /// Lets other threads have it now and then.
    Yields,
}

/// What is known of a thread.
#[derive(Clone, Copy)]
struct KnownThread {
    manners: Option<Manners>,
    /// Looks until this is asked for again.
    looks: u32,
}

thread_local! {
    static KNOWN: Cell<KnownThread> = const {
        Cell::new(KnownThread { manners: None, looks: 0 })
    };
}

impl KnownThread {
    fn ask() -> Self {
        let processors = processor::own_count();
        // Where it can't be told, no thread is.
        let is_real_time = processor::is_real_time().unwrap_or(false);
        Self {
            manners: manners_of(processors, is_real_time, quota::processors()),
            looks: KNOWN_FOR,
        }
    }
}

/// How a thread may look that may run on so many processors, and whose process may use the time of so many.
fn manners_of(processors: u32, is_real_time: bool, quota: Option<f64>) -> Option<Manners> {
    if is_real_time || quota.is_some_and(|quota| quota < f64::from(processors)) {
        return None;
    }
    Some(match processors {
        0 | 1 => Manners::Yields,
        _ => Manners::Keeps,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual_sys::scheduling::{self, Scheduling};
    use std::sync::{Arc, Barrier};

    fn looks_of(spin: &Spin, found_at: u32) -> (u32, bool) {
        let mut looks = 0;
        let found = spin.until(|| {
            looks += 1;
            (looks >= found_at).then_some(())
        });
        (looks, found.is_some())
    }

    fn can_spin() -> bool {
        let can = KnownThread::ask().manners.is_some();
        if !can {
            eprintln!("skipped: this thread is real-time, or has a quota");
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
    fn threads_that_would_starve_others_do_not_look_and_those_with_one_processor_yield() {
        assert_eq!(manners_of(4, false, None), Some(Manners::Keeps));
        assert_eq!(manners_of(4, false, Some(4.0)), Some(Manners::Keeps));
        assert_eq!(manners_of(1, false, None), Some(Manners::Yields));
        assert_eq!(manners_of(4, true, None), None);
        assert_eq!(manners_of(4, false, Some(3.5)), None);
        assert_eq!(manners_of(1, false, Some(0.5)), None);
    }

    /// On a thread of its own, as what is known of a thread is its own.
    fn on_a_thread(test: impl FnOnce() + Send + 'static) {
        thread::spawn(test).join().unwrap();
    }

    #[test]
    fn a_thread_with_one_processor_lets_the_one_run_that_it_waits_for() {
        if quota::processors().is_some() {
            return eprintln!("skipped: the process has a quota");
        }
        on_a_thread(|| {
            processor::pin_to(processor::allowed().unwrap()[0]).unwrap();
            let done = Arc::new(AtomicU32::new(0));
            let (begun, peer_done) = (Arc::new(Barrier::new(2)), done.clone());
            let peer_begun = begun.clone();
            // On the same processor: it runs when the one that looks yields, or has used up its time.
            let peer = thread::spawn(move || {
                peer_begun.wait();
                peer_done.store(1, Ordering::Release);
            });
            begun.wait();
            let spin = Spin::new(Duration::from_secs(4), Look::Memory);
            let found = spin.until(|| (done.load(Ordering::Acquire) == 1).then_some(()));
            assert!(found.is_some());
            peer.join().unwrap();
        });
    }

    #[test]
    fn a_real_time_thread_looks_once_unless_it_is_told_to() {
        on_a_thread(|| {
            let fifo = Scheduling::Fifo { priority: 1 };
            if let Err(error) = scheduling::set_own(fifo) {
                return eprintln!("skipped: no real-time thread: {error}");
            }
            let spin = Spin::new(Duration::from_secs(1), Look::System);
            assert_eq!(looks_of(&spin, 2), (1, false));
            assert_eq!(looks_of(&spin, 1), (1, true));
            assert_eq!(looks_of(&spin.always(true), 2), (2, true));
        });
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
