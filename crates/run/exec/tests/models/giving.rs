//! Model of jobs given to idle workers: each job is done once, or returned to its giver, also while
//! the pool stops.

use crate::explore;
use crate::handover::Handover;
use punctual_models::loom::sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};
use punctual_models::loom::sync::{Arc, Mutex};
use punctual_models::loom::thread;

/// Pool with its list of idle workers, as in `WorkerPool`.
struct World {
    idle: Mutex<Vec<Arc<Handover<u32>>>>,
    stopped: AtomicBool,
    /// Bit set of the jobs that have been done.
    done: AtomicU32,
}

impl World {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            idle: Mutex::new(Vec::new()),
            stopped: AtomicBool::new(false),
            done: AtomicU32::new(0),
        })
    }

    /// Acts as a worker of the pool, until it is stopped.
    fn work(&self) {
        let own = Arc::new(Handover::own());
        loop {
            own.begin_waiting();
            self.idle.lock().unwrap().push(own.clone());
            fence(Ordering::SeqCst);
            if self.stopped.load(Ordering::SeqCst) {
                own.end();
            }
            let Some(job) = own.wait() else {
                return;
            };
            let before = self.done.fetch_or(job, Ordering::Relaxed);
            assert_eq!(before & job, 0, "done twice");
        }
    }

    fn take(&self) -> Option<Arc<Handover<u32>>> {
        self.idle.lock().unwrap().pop()
    }

    /// Gives a job to an idle worker; returns whether there was one.
    fn give(&self, mut job: u32) -> bool {
        while let Some(worker) = self.take() {
            match worker.give(job) {
                Ok(()) => return true,
                Err(back) => job = back,
            }
        }
        false
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        while let Some(worker) = self.take() {
            worker.end();
        }
    }
}

#[test]
fn a_job_is_done_once_or_comes_back_while_the_pool_stops() {
    explore("a job and the end", || {
        let world = World::new();
        let (working, giving) = (world.clone(), world.clone());
        let worker = thread::spawn(move || working.work());
        let giver = thread::spawn(move || giving.give(1));
        world.stop();
        let given = giver.join().unwrap();
        worker.join().unwrap();
        assert_eq!(world.done.load(Ordering::Relaxed), u32::from(given));
    });
}

#[test]
fn two_that_give_at_once_do_not_give_to_one_worker() {
    explore("two give", || {
        let world = World::new();
        let working = world.clone();
        let worker = thread::spawn(move || working.work());
        let givers = [1, 2].map(|job| {
            let giving = world.clone();
            thread::spawn(move || if giving.give(job) { job } else { 0 })
        });
        let given: u32 = givers.map(|giver| giver.join().unwrap()).iter().sum();
        world.stop();
        worker.join().unwrap();
        assert_eq!(world.done.load(Ordering::Relaxed), given);
    });
}
