//! Adaptive spinning: polls for a while before sleeping, for as long as that pays.

use punctual_sys::{processor, quota};
use std::cell::Cell;
use std::hint::spin_loop;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Number of waits that sleep at once, where spinning did not pay, before one wait spins again as a
/// test.
const PROBE: u32 = 16;
/// Upper bound of the number of waits that sleep at once between two such tests; the number grows
/// while spinning does not pay.
const MAX_PROBE: u32 = 4096;
/// Minimum time between two successive readings of the clock that shows that another thread has run
/// on the processor meanwhile.
const INTERRUPTED: Duration = Duration::from_micros(4);
/// Lower bound of the speed of copying memory, in bytes a nanosecond.
const BYTES_PER_NANO: u64 = 1;
/// Shortest time of a spin: a budget that is halved below it becomes 0, as the bookkeeping of so
/// short a spin would cost more than it saves.
const SHORTEST: Duration = Duration::from_micros(1);
/// Number of vain spins after which a thread's properties are queried again.
const RECHECK_AFTER: u32 = 256;
/// Number of vain spins after which a real-time thread's properties are queried again: rarely, as
/// the system calls for that would delay its calls.
const REAL_TIME_KNOWN_FOR: u32 = 16_384;

/// Cost of one poll of the awaited condition, which determines the number of polls between readings
/// of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Polls memory, which takes a few nanoseconds. The clock is first read after some 200 polls.
    Memory,
    /// Polls with system calls.
    System,
}

impl Look {
    /// Returns the number of polls before the clock is first read.
    fn first(self) -> u32 {
        match self {
            Self::Memory => 200,
            Self::System => 4,
        }
    }

    /// Returns the number of polls between two readings of the clock.
    fn later(self) -> u32 {
        match self {
            Self::Memory => 32,
            Self::System => 2,
        }
    }
}

/// Time budget for spinning that halves with each vain spin and is whole again after one that paid.
///
/// The awaited event may come late (a busy peer, a quiet client), or never while this thread has
/// the processor that the peer needs: then a few waits reduce the budget to nothing, and one wait
/// in 16 spins again, later one in 32, and so on down to one in 4,096. Where another thread had the
/// processor meanwhile, perhaps the peer, the budget drops to nothing at once. At most half as many
/// threads of a process spin as it has processors.
///
/// Two kinds of thread poll only once, unless an application that has dedicated processors to them
/// says otherwise: real-time threads, which would keep all others from running, and threads of a
/// process whose control group has less time than its processors (cgroup `cpu.max`), which would
/// use up the time that calls need.
///
/// One thread at a time waits with a `Spin`; the atomics serve to pass that right on, and the
/// threads that do so synchronise.
#[derive(Debug)]
pub struct Spin {
    look: Look,
    always: bool,
    /// Maximum time that a thread may spin in one wait, in nanoseconds.
    most: u32,
    budget: AtomicU32,
    /// Number of waits since the budget fell to zero or was last tried again.
    idle: AtomicU32,
    /// Number of waits after which a budget of zero is tried again.
    probe: AtomicU32,
}

/// Number of the process's threads that spin, except those that always may.
static SPINNING: AtomicU32 = AtomicU32::new(0);

/// Guard that counts the thread as spinning until it is dropped.
struct Looking;

impl Looking {
    /// Counts the calling thread in; returns `None` if enough threads spin already.
    fn begin() -> Option<Self> {
        static MOST: OnceLock<u32> = OnceLock::new();
        let most = MOST.get_or_init(|| (processor::of_process() / 2).max(1));
        let looking = Self;
        // Relaxed: a mere bound; it publishes nothing.
        (SPINNING.fetch_add(1, Ordering::Relaxed) < *most).then_some(looking)
    }
}

impl Drop for Looking {
    fn drop(&mut self) {
        SPINNING.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Spin {
    /// Makes a budget of at most `most` for spinning with polls of the kind `look`. With zero, a
    /// wait polls once. More than 4 s counts as 4 s.
    #[must_use]
    pub fn new(most: Duration, look: Look) -> Self {
        let most = u32::try_from(most.as_nanos()).unwrap_or(u32::MAX);
        Self {
            look,
            always: false,
            most,
            budget: AtomicU32::new(most),
            idle: AtomicU32::new(0),
            probe: AtomicU32::new(PROBE),
        }
    }

    /// Sets whether threads spin even if they are real-time or have less time than processors, and
    /// however many spin already: for a peer that runs on another processor, while this one has
    /// nothing else to do.
    #[must_use]
    pub fn always(mut self, always: bool) -> Self {
        self.always = always;
        self
    }

    /// Returns whether a wait never polls more than once.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.most == 0
    }

    /// Polls until something is found or the budget is used up.
    #[inline]
    pub fn until<T>(&self, mut look: impl FnMut() -> Option<T>) -> Option<T> {
        if let Some(found) = look() {
            return Some(found);
        }
        self.spin_on(look)
    }

    /// Continues to spin as [`Spin::until`] does, after a first poll in vain. Costs next to nothing
    /// while spinning does not pay.
    #[inline]
    pub fn spin_on<T>(&self, look: impl FnMut() -> Option<T>) -> Option<T> {
        self.spin_on_copying(look, |_| 0)
    }

    /// Spins as [`Spin::spin_on`] does; `copied` returns the number of bytes that a successful poll
    /// copied, whose time is not taken for an interruption.
    #[inline]
    pub fn spin_on_copying<T>(
        &self,
        look: impl FnMut() -> Option<T>,
        copied: impl FnOnce(&T) -> usize,
    ) -> Option<T> {
        match self.next_budget() {
            0 => None,
            budget => self.look_within(Duration::from_nanos(budget.into()), look, copied),
        }
    }

    #[inline(never)]
    fn look_within<T>(
        &self,
        budget: Duration,
        mut look: impl FnMut() -> Option<T>,
        copied: impl FnOnce(&T) -> usize,
    ) -> Option<T> {
        if !self.may_look() {
            return None;
        }
        let _looking = match self.always {
            true => None,
            false => Some(Looking::begin()?),
        };
        // The clock is left alone at first: reading it costs as much as several looks. An event
        // found by then was there already, and tells nothing about whether spinning pays.
        let begin = Instant::now();
        if let Some(found) = look_times(self.look.first(), &mut look) {
            return Some(found);
        }
        let (found, was_interrupted) = self.look_from(begin, budget, &mut look, copied);
        let (next, probe) = match (&found, self.budget.load(Ordering::Relaxed) / 2) {
            _ if was_interrupted && !self.always => (0, self.less_often()),
            (Some(_), _) => (self.most, PROBE),
            // Also after a vain probe, which had a budget of its own.
            (None, half) if Duration::from_nanos(half.into()) < SHORTEST => (0, self.less_often()),
            (None, half) => (half, PROBE),
        };
        self.budget.store(next, Ordering::Relaxed);
        self.probe.store(probe, Ordering::Relaxed);
        found
    }

    fn less_often(&self) -> u32 {
        (self.probe.load(Ordering::Relaxed) * 2).min(MAX_PROBE)
    }

    /// Polls from `begin` until something is found or `budget` has passed; also returns whether
    /// another thread ran on the processor meanwhile.
    fn look_from<T>(
        &self,
        begin: Instant,
        budget: Duration,
        look: &mut impl FnMut() -> Option<T>,
        copied: impl FnOnce(&T) -> usize,
    ) -> (Option<T>, bool) {
        let mut last = begin;
        let mut was_interrupted = false;
        loop {
            let now = Instant::now();
            was_interrupted |= now - last > INTERRUPTED;
            if now - begin >= budget {
                return (None, was_interrupted);
            }
            last = now;
            if let Some(found) = look_times(self.look.later(), look) {
                let copying = u64::try_from(copied(&found)).unwrap_or(u64::MAX) / BYTES_PER_NANO;
                let usual = INTERRUPTED + Duration::from_nanos(copying);
                return (Some(found), was_interrupted || last.elapsed() > usual);
            }
        }
    }

    fn next_budget(&self) -> u32 {
        let budget = self.budget.load(Ordering::Relaxed);
        if budget > 0 || self.most == 0 {
            return budget;
        }
        let (idle, probe) = (
            self.idle.load(Ordering::Relaxed) + 1,
            self.probe.load(Ordering::Relaxed),
        );
        let is_time = idle >= probe;
        self.idle
            .store(if is_time { 0 } else { idle }, Ordering::Relaxed);
        if is_time { self.most } else { 0 }
    }

    /// Returns whether the calling thread may spin before it blocks.
    fn may_look(&self) -> bool {
        self.always
            || KNOWN.with(|known| {
                let mut thread = known.get();
                if thread.looks == 0 {
                    thread = KnownThread::ask();
                }
                thread.looks -= 1;
                known.set(thread);
                thread.may_look
            })
    }
}

fn look_times<T>(times: u32, look: &mut impl FnMut() -> Option<T>) -> Option<T> {
    (0..times).find_map(|_| {
        spin_loop();
        look()
    })
}

/// Cached properties of a thread that determine whether the thread may spin.
#[derive(Clone, Copy)]
struct KnownThread {
    may_look: bool,
    /// Number of further spins for which the cached properties are used before they are queried
    /// again.
    looks: u32,
}

thread_local! {
    static KNOWN: Cell<KnownThread> = const {
        Cell::new(KnownThread { may_look: false, looks: 0 })
    };
}

impl KnownThread {
    fn ask() -> Self {
        // Where the kernel does not tell, the thread counts as an ordinary one.
        let is_real_time = processor::is_real_time().unwrap_or(false);
        Self {
            may_look: may_look(is_real_time, processor::of_process(), quota::processors()),
            looks: match is_real_time {
                true => REAL_TIME_KNOWN_FOR,
                false => RECHECK_AFTER,
            },
        }
    }
}

/// Returns whether a thread may spin, given the number of processors of its process and its quota
/// of processor time.
fn may_look(is_real_time: bool, processors: u32, quota: Option<f64>) -> bool {
    !is_real_time && quota.is_none_or(|quota| quota >= f64::from(processors))
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual_sys::scheduling::{self, Scheduling};
    use std::sync::{Mutex, MutexGuard, PoisonError};
    use std::thread;

    /// Serialises the tests, as the number of spinning threads of a process is bounded.
    fn turn() -> MutexGuard<'static, ()> {
        static TURN: Mutex<()> = Mutex::new(());
        TURN.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn looks_of(spin: &Spin, found_at: u32) -> (u32, bool) {
        let mut looks = 0;
        let found = spin.until(|| {
            looks += 1;
            (looks >= found_at).then_some(())
        });
        (looks, found.is_some())
    }

    fn can_spin() -> bool {
        let can = KnownThread::ask().may_look;
        if !can {
            eprintln!("skipped: this thread is real-time, or has a quota");
        }
        can
    }

    #[test]
    fn looking_in_vain_comes_to_nothing_and_one_that_pays_restores_it() {
        // Long enough for unoptimised or interrupted looks to end within it.
        let spin = Spin::new(Duration::from_micros(8 << 10), Look::Memory).always(true);
        let budget = || spin.budget.load(Ordering::Relaxed);
        let most = budget();
        let mut waits = 0;
        while budget() > 0 {
            assert!(!looks_of(&spin, u32::MAX).1);
            waits += 1;
        }
        assert_eq!(waits, 14);
        // Where spinning does not pay, it is tried less and less often.
        for probe in [PROBE * 2, PROBE * 4] {
            for _ in 1..probe {
                assert_eq!(looks_of(&spin, u32::MAX), (1, false));
            }
            assert!(looks_of(&spin, u32::MAX).0 > 1);
            assert_eq!(budget(), 0);
        }
        for _ in 1..PROBE * 8 {
            assert_eq!(looks_of(&spin, 2), (1, false));
        }
        let later = Look::Memory.first() + 2;
        assert_eq!(looks_of(&spin, later), (later, true));
        assert_eq!(budget(), most);
    }

    #[test]
    fn a_look_that_another_thread_has_interrupted_is_the_last_one_for_a_while() {
        if !can_spin() {
            return;
        }
        let _turn = turn();
        let spin = Spin::new(Duration::from_millis(1), Look::System);
        // As if another thread had had the processor.
        let looked = spin.until(|| {
            thread::sleep(Duration::from_micros(50));
            None::<()>
        });
        assert_eq!(looked, None);
        for _ in 1..2 * PROBE {
            assert_eq!(looks_of(&spin, 2), (1, false));
        }
    }

    #[test]
    fn only_so_many_threads_look_at_a_time() {
        if !can_spin() {
            return;
        }
        let _turn = turn();
        let all: Vec<Looking> = std::iter::from_fn(Looking::begin).collect();
        assert!(!all.is_empty() && all.len() <= processor::online().max(2) / 2);
        let spin = Spin::new(Duration::from_secs(1), Look::System);
        assert_eq!(looks_of(&spin, 2), (1, false));
        drop(all);
        assert_eq!(looks_of(&spin, 2), (2, true));
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
    fn threads_that_would_starve_others_do_not_look() {
        assert!(may_look(false, 4, None) && may_look(false, 1, None));
        assert!(may_look(false, 4, Some(4.0)));
        assert!(!may_look(true, 4, None));
        assert!(!may_look(false, 4, Some(3.5)) && !may_look(false, 1, Some(0.5)));
    }

    /// Runs a test on a thread of its own, as a thread's properties are cached with it.
    fn on_a_thread(test: impl FnOnce() + Send + 'static) {
        thread::spawn(test).join().unwrap();
    }

    #[test]
    fn on_one_processor_that_the_peer_needs_looking_comes_to_next_to_nothing() {
        if !can_spin() {
            return;
        }
        on_a_thread(|| {
            processor::pin_to(processor::allowed().unwrap()[0]).unwrap();
            let spin = Spin::new(Duration::from_micros(8), Look::Memory);
            let mut looked = 0;
            // The awaited event never comes: the peer cannot run.
            for _ in 0..10_000 {
                let _turn = turn();
                looked += u32::from(looks_of(&spin, u32::MAX).0 > 1);
            }
            assert!(looked < 20, "{looked}");
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
        // A nanosecond is over once the clock has been read.
        let spin = Spin::new(Duration::from_nanos(1), Look::Memory).always(true);
        let young = Look::Memory.first() + 1;
        assert_eq!(looks_of(&spin, young), (young, true));
        assert!(!looks_of(&spin, u32::MAX).1);
    }
}
