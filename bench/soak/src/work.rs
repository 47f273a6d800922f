//! Work of each process of the soak: counted pieces of work, faults found, and the load, which can
//! be started, paused and ended from outside.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Upper bound of the faults kept; more would add no information.
pub(crate) const MOST_FAULTS: usize = 20;

/// Counters of one kind of work in the soak test.
#[derive(Debug, Default)]
pub(crate) struct Work {
    done: AtomicU64,
    refused: AtomicU64,
}

/// Snapshot of the counters of [`Work`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Count {
    /// Number of pieces of work done with the right result.
    pub(crate) done: u64,
    /// Number of pieces that failed as expected: the server was killed, or lacked descriptors or
    /// disk space.
    pub(crate) refused: u64,
}

impl Work {
    pub(crate) fn record_done(&self) {
        self.record_done_many(1);
    }

    pub(crate) fn record_done_many(&self, count: u64) {
        self.done.fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn record_refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count(&self) -> Count {
        Count {
            done: self.done.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
        }
    }
}

/// Counters of the calls and other work that a process of the soak did, and the failures it found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally(Arc<Kept>);

#[derive(Debug, Default)]
struct Kept {
    work: Mutex<BTreeMap<String, Arc<Work>>>,
    faults: Mutex<Vec<String>>,
}

impl Tally {
    /// Returns the counters of the work with the given name; makes them on demand.
    pub(crate) fn work(&self, name: &str) -> Arc<Work> {
        locked(&self.0.work)
            .entry(name.to_owned())
            .or_default()
            .clone()
    }

    /// Records a fault, unless the upper bound of recorded faults is reached.
    pub(crate) fn fault(&self, what: impl Into<String>) {
        let mut faults = locked(&self.0.faults);
        if faults.len() < MOST_FAULTS {
            faults.push(what.into());
        }
    }

    pub(crate) fn counts(&self) -> BTreeMap<String, Count> {
        let work = locked(&self.0.work);
        let count = |(name, work): (&String, &Arc<Work>)| (name.clone(), work.count());
        work.iter().map(count).collect()
    }

    pub(crate) fn faults(&self) -> Vec<String> {
        locked(&self.0.faults).clone()
    }
}

/// Switch that starts, pauses and ends all work. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Load(Arc<(Mutex<State>, Condvar)>);

#[derive(Debug, Default)]
struct State {
    is_on: bool,
    is_over: bool,
    /// Number of pieces of work in progress.
    busy: usize,
}

impl Load {
    /// Waits until work is allowed, and begins a piece of work, whose end [`Load::end`] reports;
    /// returns `false` once the load has ended for good.
    pub(crate) fn begin(&self) -> bool {
        while self.wait_until_on() {
            if self.begin_if_on() {
                return true;
            }
        }
        false
    }

    /// Begins a piece of work if work is allowed now; returns `false` otherwise.
    fn begin_if_on(&self) -> bool {
        let mut state = locked(&self.0.0);
        let is_on = state.is_on && !state.is_over;
        state.busy += usize::from(is_on);
        is_on
    }

    /// Waits until work is allowed; returns `false` once the load has ended for good.
    fn wait_until_on(&self) -> bool {
        let (state, changed) = &*self.0;
        let held = |state: &mut State| !state.is_on && !state.is_over;
        let state = changed.wait_while(locked(state), held);
        !state.unwrap_or_else(PoisonError::into_inner).is_over
    }

    pub(crate) fn end(&self) {
        locked(&self.0.0).busy -= 1;
        self.0.1.notify_all();
    }

    pub(crate) fn go(&self) {
        locked(&self.0.0).is_on = true;
        self.0.1.notify_all();
    }

    /// Pauses the load, and waits until no work is in progress; returns `false` if that takes
    /// longer than `limit`.
    pub(crate) fn pause(&self, limit: Duration) -> bool {
        let (state, changed) = &*self.0;
        let mut state = locked(state);
        state.is_on = false;
        let until = Instant::now() + limit;
        while state.busy > 0 {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let waited = changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Ends the load permanently, and wakes the threads that wait for it.
    pub(crate) fn stop(&self) {
        locked(&self.0.0).is_over = true;
        self.0.1.notify_all();
    }

    /// Returns whether work is allowed to go on; pieces of work that can be cut short check it.
    pub(crate) fn is_on(&self) -> bool {
        let state = locked(&self.0.0);
        state.is_on && !state.is_over
    }

    /// Waits for `time`, or until the load is over; returns whether it is over.
    pub(crate) fn is_over_after(&self, time: Duration) -> bool {
        let (state, changed) = &*self.0;
        let waited = changed.wait_timeout_while(locked(state), time, |state| !state.is_over);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_over
    }
}

/// Locks a mutex, poisoned or not: a panic leaves the state valid.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Repeats `piece` while there is load, with a rest between; faults are recorded under its name.
pub(crate) fn again_and_again(
    (load, tally): (&Load, &Tally),
    name: &str,
    rest: Duration,
    mut piece: impl FnMut(&Work) -> Result<(), String>,
) {
    let work = tally.work(name);
    while load.begin() {
        do_one((load, tally), name, rest, || piece(&work));
    }
}

/// Does a piece of work that has begun, records its fault under `name`, and rests.
fn do_one(
    (load, tally): (&Load, &Tally),
    name: &str,
    rest: Duration,
    piece: impl FnOnce() -> Result<(), String>,
) {
    if let Err(fault) = piece() {
        tally.fault(format!("{name}: {fault}"));
    }
    load.end();
    std::thread::sleep(rest);
}

/// Repeats `piece` as [`again_and_again`] does, each time the load goes on in a new thread, which
/// ends with the load. A thread keeps the connection of its last call, so that otherwise the number
/// of open descriptors in the idle phases would depend on which connections were used last.
pub(crate) fn again_in_new_threads(
    (load, tally): (&Load, &Tally),
    name: &str,
    rest: Duration,
    mut piece: impl FnMut(&Work) -> Result<(), String> + Send,
) {
    let work = tally.work(name);
    let mut phase = || {
        while load.begin_if_on() {
            do_one((load, tally), name, rest, || piece(&work));
        }
    };
    while load.wait_until_on() {
        let ended = std::thread::scope(|scope| scope.spawn(&mut phase).join());
        if ended.is_err() {
            tally.fault(format!("{name}: its thread has panicked"));
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::OnceCell;

    /// Counts the end of a thread, as part of the thread's own memory.
    struct EndOfThread(Arc<AtomicU64>);

    impl Drop for EndOfThread {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    thread_local! {
        static END: OnceCell<EndOfThread> = const { OnceCell::new() };
    }

    #[test]
    fn work_in_new_threads_ends_with_each_pause() {
        let (load, tally) = (Load::default(), Tally::default());
        let ended = Arc::new(AtomicU64::new(0));
        std::thread::scope(|scope| {
            let (load, tally, ends) = (&load, &tally, ended.clone());
            let working = scope.spawn(move || {
                again_in_new_threads((load, tally), "work", Duration::ZERO, |work| {
                    END.with(|end| end.get_or_init(|| EndOfThread(ends.clone())).0.clone());
                    work.record_done();
                    Ok(())
                });
            });
            for phase in 1..=2 {
                let before = tally.work("work").count().done;
                load.go();
                while tally.work("work").count().done <= before {
                    std::thread::yield_now();
                }
                assert!(load.pause(Duration::from_secs(60)), "phase {phase}");
                while ended.load(Ordering::Relaxed) < phase {
                    std::thread::yield_now();
                }
            }
            load.stop();
            assert!(working.join().is_ok());
        });
        assert_eq!(ended.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn a_pause_waits_for_what_is_in_progress_and_the_end_lets_all_go() {
        let load = Load::default();
        load.go();
        assert!(load.begin());
        assert!(!load.pause(Duration::ZERO));
        load.end();
        assert!(load.pause(Duration::ZERO));
        load.stop();
        assert!(!load.begin());
    }

    #[test]
    fn faults_are_kept_up_to_a_number() {
        let tally = Tally::default();
        for number in 0..2 * MOST_FAULTS {
            tally.fault(number.to_string());
        }
        assert_eq!(tally.faults().len(), MOST_FAULTS);
    }
}
