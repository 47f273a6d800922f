use super::raw::WITHOUT_LOCK_PI2;
use super::{LockError, PiMutex};
use crate::clock;
use crate::processor::{self, Processors};
use crate::scheduling::{self, Scheduling};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

const MILLISECOND: u64 = 1_000_000;

#[test]
fn threads_that_all_lock_exclude_each_other() {
    const EACH: u64 = 20_000;
    let counted = PiMutex::new(0u64);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..EACH {
                    let mut count = counted.lock().unwrap();
                    let before = *count;
                    std::hint::spin_loop();
                    *count = before + 1;
                }
            });
        }
    });
    assert_eq!(*counted.lock().unwrap(), 4 * EACH);
}

#[test]
fn a_lock_that_is_held_is_not_tried_and_times_out() {
    for old_call in [false, true] {
        WITHOUT_LOCK_PI2.store(old_call, Ordering::Relaxed);
        let mutex = PiMutex::new(7);
        let held = mutex.lock().unwrap();
        thread::scope(|scope| {
            scope.spawn(|| {
                assert!(mutex.try_lock().unwrap().is_none());
                let begin = Instant::now();
                let until = clock::nanos() + 20 * MILLISECOND;
                assert_eq!(mutex.lock_until(until).unwrap_err(), LockError::TimedOut);
                assert!(begin.elapsed() >= Duration::from_millis(20));
                assert_eq!(mutex.lock_until(0).unwrap_err(), LockError::TimedOut);
            });
        });
        drop(held);
        assert_eq!(*mutex.lock_until(0).unwrap(), 7, "nobody waits: no clock");
        assert!(mutex.try_lock().unwrap().is_some());
    }
    WITHOUT_LOCK_PI2.store(false, Ordering::Relaxed);
}

#[test]
fn one_that_waits_with_a_time_out_gets_the_lock_when_it_is_given_back() {
    for old_call in [false, true] {
        WITHOUT_LOCK_PI2.store(old_call, Ordering::Relaxed);
        let mutex = PiMutex::new(0);
        let mut held = mutex.lock().unwrap();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                let until = clock::nanos() + 60_000 * MILLISECOND;
                *mutex.lock_until(until).unwrap()
            });
            *held = 5;
            while !mutex.is_waited_for() {
                thread::yield_now();
            }
            drop(held);
            assert_eq!(waiting.join().unwrap(), 5);
        });
    }
    WITHOUT_LOCK_PI2.store(false, Ordering::Relaxed);
}

#[test]
fn locking_twice_is_refused_and_the_first_lock_stays() {
    let mutex = PiMutex::new(1);
    let held = mutex.lock().unwrap();
    assert_eq!(mutex.lock().unwrap_err(), LockError::Deadlock);
    let soon = clock::nanos() + 60_000 * MILLISECOND;
    assert_eq!(mutex.lock_until(soon).unwrap_err(), LockError::Deadlock);
    assert_eq!(*held, 1);
    drop(held);
    assert!(mutex.lock().is_ok());
}

#[test]
fn a_panic_gives_the_lock_back() {
    let mutex = PiMutex::new(1);
    let panicked = thread::scope(|scope| {
        let panics = scope.spawn(|| {
            let mut held = mutex.lock().unwrap();
            *held = 2;
            panic!("on purpose");
        });
        panics.join().is_err()
    });
    assert!(panicked);
    assert_eq!(*mutex.lock().unwrap(), 2);
}

#[test]
fn one_whose_owner_ended_before_anybody_waited_is_lost() {
    let mutex = Arc::new(PiMutex::new(1));
    let leaking = mutex.clone();
    thread::spawn(move || std::mem::forget(leaking.lock().unwrap()))
        .join()
        .unwrap();
    assert!(mutex.try_lock().unwrap().is_none());
    for _ in 0..2 {
        assert_eq!(mutex.lock().unwrap_err(), LockError::OwnerDied);
    }
}

#[test]
fn those_that_wait_for_an_owner_that_ends_are_all_told() {
    let mutex = Arc::new(PiMutex::new(1));
    let (hold, held) = (Arc::new(Barrier::new(2)), mutex.clone());
    let (end, wait) = mpsc::channel::<()>();
    let owner = {
        let hold = hold.clone();
        thread::spawn(move || {
            std::mem::forget(held.lock().unwrap());
            hold.wait();
            wait.recv().unwrap();
        })
    };
    hold.wait();
    let waiting: Vec<_> = (0..3)
        .map(|_| {
            let mutex = mutex.clone();
            thread::spawn(move || mutex.lock().map(drop))
        })
        .collect();
    end.send(()).unwrap();
    owner.join().unwrap();
    for one in waiting {
        assert_eq!(one.join().unwrap(), Err(LockError::OwnerDied));
    }
    // The value's state is unknown, so no thread gets access to it.
    assert_eq!(mutex.lock().map(drop), Err(LockError::OwnerDied));
    assert!(!matches!(mutex.try_lock(), Ok(Some(_))));
}

/// Starts a thread of a native priority on the first processor.
fn real_time<'scope, T: Send + 'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    priority: i32,
    work: impl FnOnce() -> T + Send + 'scope,
) -> thread::ScopedJoinHandle<'scope, T> {
    scope.spawn(move || {
        let first = processor::allowed().unwrap()[0];
        // The priority first: an ordinary thread would never get a processor where these run.
        scheduling::set_own(Scheduling::Fifo { priority }).unwrap();
        Processors::of(&[first]).unwrap().pin_own().unwrap();
        work()
    })
}

fn may_be_real_time() -> bool {
    let may = thread::spawn(|| scheduling::set_own(Scheduling::Fifo { priority: 3 }).is_ok());
    let may = may.join().unwrap();
    if !may {
        eprintln!("skipped: this process may not use SCHED_FIFO");
    }
    may
}

/// The low thread locks; the medium one, more urgent, computes on the same processor without end;
/// the high one waits for the lock. Without inheritance the low thread would not run again before
/// the medium one gives up.
#[test]
fn the_owner_runs_at_the_priority_of_whoever_waits_for_it() {
    if !may_be_real_time() {
        return;
    }
    let mutex = PiMutex::new(());
    let done = AtomicBool::new(false);
    let (tell, told) = mpsc::channel();
    let (begin, medium_runs) = (mpsc::channel(), AtomicBool::new(false));
    thread::scope(|scope| {
        let (mutex, done, medium_runs) = (&mutex, &done, &medium_runs);
        let low = real_time(scope, 1, move || {
            let guard = mutex.lock().unwrap();
            tell.send(()).unwrap();
            while !medium_runs.load(Ordering::SeqCst) {
                thread::yield_now();
            }
            drop(guard);
        });
        told.recv().unwrap();
        let medium = real_time(scope, 2, move || {
            medium_runs.store(true, Ordering::SeqCst);
            begin.0.send(()).unwrap();
            let begin = Instant::now();
            while !done.load(Ordering::SeqCst) {
                if begin.elapsed() > Duration::from_secs(10) {
                    return false;
                }
            }
            true
        });
        begin.1.recv().unwrap();
        let high = real_time(scope, 3, move || {
            let got = mutex.lock_until(clock::nanos() + 60_000 * MILLISECOND);
            done.store(true, Ordering::SeqCst);
            got.map(drop)
        });
        assert!(medium.join().unwrap(), "high waited for medium");
        assert_eq!(high.join().unwrap(), Ok(()));
        low.join().unwrap();
    });
}
