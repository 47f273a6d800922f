//! Model of a registration's owner: there is one at a time, and each event is seen by an owner
//! after it happened.

use crate::explore;
use crate::owner::{Owner, Readiness, Retired};
use punctual_models::loom::cell::UnsafeCell;
use punctual_models::loom::sync::Arc;
use punctual_models::loom::sync::Mutex;
use punctual_models::loom::sync::atomic::{AtomicU32, Ordering};
use punctual_models::loom::thread;

/// Model of a registration whose handler takes events of two kinds.
struct Registration {
    owner: Owner,
    /// Pending amount of each kind; a handler takes all.
    there: [AtomicU32; 2],
    /// Number of entries in the reactor's queue.
    queued: Mutex<u32>,
    /// Cell that only the owner may touch: loom detects two owners here.
    held: UnsafeCell<()>,
    /// Number of events of each kind that the handler has taken.
    taken: [AtomicU32; 2],
    cleared: AtomicU32,
}

const KINDS: [Readiness; 2] = [Readiness::READ, Readiness::WRITE];

impl Registration {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            owner: Owner::new(),
            there: [AtomicU32::new(0), AtomicU32::new(0)],
            queued: Mutex::new(0),
            held: UnsafeCell::new(()),
            taken: [AtomicU32::new(0), AtomicU32::new(0)],
            cleared: AtomicU32::new(0),
        })
    }

    /// Raises an event of a kind on the thread that the kernel wakes.
    fn happens(&self, kind: usize) {
        self.there[kind].fetch_add(1, Ordering::Relaxed);
        if let Some(told) = self.owner.offer(0, KINDS[kind]) {
            self.serve(told);
        }
    }

    /// Raises an event of a kind, posted for other threads to serve.
    fn post(&self, kind: usize) {
        self.there[kind].fetch_add(1, Ordering::Relaxed);
        if self.owner.post(0, KINDS[kind]) {
            self.queue();
        }
    }

    fn queue(&self) {
        *self.queued.lock().unwrap() += 1;
    }

    fn serve_queue(&self) {
        let queued = {
            let mut queued = self.queued.lock().unwrap();
            std::mem::take(&mut *queued)
        };
        for _ in 0..queued {
            if let Some(told) = self.owner.unqueue(0) {
                self.serve(told);
            }
        }
    }

    fn serve(&self, mut told: Readiness) {
        loop {
            if told.has(Readiness::RETIRED) {
                return self.clear();
            }
            self.take(told);
            match self.owner.release(0) {
                None => return,
                Some(more) => told = more,
            }
        }
    }

    fn take(&self, told: Readiness) {
        self.held.with_mut(|_| ());
        for (kind, what) in KINDS.into_iter().enumerate() {
            if told.has(what) {
                let all = self.there[kind].load(Ordering::Relaxed);
                self.taken[kind].store(all, Ordering::Relaxed);
            }
        }
    }

    /// Clears the registration as its owner: no thread may own it from then on.
    fn clear(&self) {
        self.held.with_mut(|_| ());
        assert_eq!(self.cleared.fetch_add(1, Ordering::Relaxed), 0);
        let _ = self.owner.vacate(0);
    }

    /// Checks, after all threads have ended, that the owner was given every event.
    fn check(&self) {
        self.serve_queue();
        assert_eq!(self.owner.release(0), None);
        for (there, taken) in self.there.iter().zip(&self.taken) {
            let (there, taken) = (there.load(Ordering::Relaxed), taken.load(Ordering::Relaxed));
            assert_eq!(taken, there);
        }
    }
}

fn at_once(registration: &Arc<Registration>, acts: Vec<fn(&Registration)>) {
    let threads: Vec<_> = acts
        .into_iter()
        .map(|act| {
            let registration = registration.clone();
            thread::spawn(move || act(&registration))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn threads_that_are_told_at_once_have_one_owner_and_lose_nothing() {
    explore("told at once", || {
        let registration = Registration::new();
        at_once(
            &registration,
            vec![
                |one| {
                    one.happens(0);
                    one.happens(1);
                },
                |one| one.happens(0),
                |one| one.happens(1),
            ],
        );
        registration.check();
    });
}

#[test]
fn what_is_posted_while_it_is_served_is_served_again() {
    explore("posted", || {
        let registration = Registration::new();
        at_once(
            &registration,
            vec![
                |one| one.happens(0),
                |one| {
                    one.post(1);
                    one.serve_queue();
                },
                |one| one.post(0),
            ],
        );
        registration.check();
    });
}

#[test]
fn what_is_handed_over_with_something_left_is_served_by_the_next() {
    explore("handed over", || {
        let registration = Registration::new();
        at_once(
            &registration,
            vec![
                |one| {
                    one.there[0].fetch_add(1, Ordering::Relaxed);
                    let owns = one.owner.offer(0, Readiness::NONE).is_some();
                    let queue = match owns {
                        true => one.owner.hand_over(0, KINDS[0]) == Ok(true),
                        false => one.owner.post(0, KINDS[0]),
                    };
                    if queue {
                        one.queue();
                    }
                    one.serve_queue();
                },
                |one| one.happens(1),
                |one| one.serve_queue(),
            ],
        );
        registration.check();
    });
}

#[test]
fn one_that_is_taken_out_is_cleared_once_and_owned_by_nobody_after() {
    explore("taken out", || {
        let registration = Registration::new();
        at_once(
            &registration,
            vec![
                |one| one.happens(0),
                |one| {
                    if one.owner.retire(0) == Retired::Mine {
                        one.clear();
                    }
                },
                |one| one.post(1),
            ],
        );
        registration.serve_queue();
        assert_eq!(
            registration.cleared.load(Ordering::Relaxed),
            1,
            "{:?}",
            registration.owner
        );
        assert!(registration.owner.offer(0, Readiness::READ).is_none());
        assert_eq!(registration.owner.generation(), 1);
    });
}
