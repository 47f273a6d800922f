//! Pool of reusable workers: started ahead, kept, bounded.
//!
//! For work that must begin at once, on a thread of its own, such as the next reader of a
//! connection whose thread is in an upcall. The work goes to an idle worker, else to a new one; it
//! never waits behind other work, which might itself depend on it. So there is no queue of work,
//! and a pool whose workers are all busy refuses.
//!
//! Handing over takes no lock that threads share (`handover`), allocates the closure, and wakes a
//! thread; starting a thread costs some ten times as much, and memory for a stack.

mod handover;

use crate::thread::{SpawnError, ThreadSpec};
use crate::{Deadline, ThreadGroup};
use crossbeam_queue::SegQueue;
use handover::Handover;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use std::sync::{Arc, mpsc};

/// Options of a worker pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerPoolOptions {
    /// Specification of the pool's threads; all have the same name.
    pub spec: ThreadSpec,
    /// Number of workers started with the pool. Default 0.
    pub started_ahead: usize,
    /// Number of idle workers that are kept, at least those started ahead: others end once they are
    /// idle. Default 16.
    pub max_idle: usize,
    /// Upper bound of the number of workers, at least one. Default 1,024.
    pub max_workers: usize,
}

impl WorkerPoolOptions {
    /// Returns the default options of a pool, with threads of this specification.
    #[must_use]
    pub fn new(spec: impl Into<ThreadSpec>) -> Self {
        Self {
            spec: spec.into(),
            started_ahead: 0,
            max_idle: 16,
            max_workers: 1024,
        }
    }
}

/// Pool of workers; see the module. Dropping it ends idle workers at once, and the others when
/// their work is done.
pub struct WorkerPool {
    shared: Arc<Shared>,
}

type Job = Box<dyn FnOnce() + Send>;

struct Shared {
    spec: ThreadSpec,
    threads: ThreadGroup,
    max_idle: usize,
    idle: SegQueue<Arc<Handover<Job>>>,
    /// Number of workers in the list of idle ones, or about to enter it.
    idle_count: AtomicUsize,
    stopped: AtomicBool,
}

impl WorkerPool {
    /// Starts a pool; the workers that are started ahead are idle when this returns.
    ///
    /// # Errors
    /// Those of [`ThreadSpec::start`]; workers already started end then.
    pub fn start(options: WorkerPoolOptions) -> Result<Self, SpawnError> {
        let max_workers = options.max_workers.max(1);
        let ahead = options.started_ahead.min(max_workers);
        let pool = Self {
            shared: Arc::new(Shared {
                spec: options.spec,
                threads: ThreadGroup::new(max_workers),
                max_idle: options.max_idle.max(ahead),
                idle: SegQueue::new(),
                idle_count: AtomicUsize::new(0),
                stopped: AtomicBool::new(false),
            }),
        };
        let (idle, became_idle) = mpsc::channel();
        for _ in 0..ahead {
            let (shared, idle) = (pool.shared.clone(), idle.clone());
            pool.spawn(move || shared.work(None, Some(idle)))?;
        }
        drop(idle);
        // Ends when each of them has reported.
        for () in became_idle {}
        Ok(pool)
    }

    /// Runs `work` on a worker at once. The worker survives a panic of the work.
    ///
    /// # Errors
    /// [`SpawnError::Full`] when all workers are busy and the pool may not grow,
    /// [`SpawnError::Stopped`], else those of [`ThreadSpec::start`]. The work is dropped then.
    pub fn run(&self, work: impl FnOnce() + Send + 'static) -> Result<(), SpawnError> {
        let shared = &self.shared;
        if shared.stopped.load(Ordering::Acquire) {
            return Err(SpawnError::Stopped);
        }
        let mut job: Job = Box::new(work);
        while let Some(worker) = shared.idle.pop() {
            shared.idle_count.fetch_sub(1, Ordering::Relaxed);
            match worker.give(job) {
                Ok(()) => return Ok(()),
                Err(back) => job = back,
            }
        }
        let own = shared.clone();
        self.spawn(move || own.work(Some(job), None))
    }

    /// Returns the number of worker threads in the pool.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.shared.threads.len()
    }

    /// Returns the number of idle worker threads in the pool: each of them takes work from now on.
    #[must_use]
    pub fn idle(&self) -> usize {
        self.shared.idle.len()
    }

    /// Takes no more work, ends idle workers, and waits until the others have finished; returns
    /// `false` if the deadline passed first. A worker that stops its pool does not wait for itself:
    /// `rest` is the number of workers that may still run.
    #[must_use]
    pub fn stop(&self, rest: usize, deadline: Deadline) -> bool {
        self.halt();
        self.shared.threads.wait_until_at_most(rest, deadline)
    }

    fn spawn(&self, work: impl FnOnce() + Send + 'static) -> Result<(), SpawnError> {
        self.shared.threads.spawn(&self.shared.spec, work)
    }

    fn halt(&self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        // Pairs with the fence in `Shared::next`: either a worker that becomes idle is found in the
        // list here, or it sees that the pool has been stopped.
        fence(Ordering::SeqCst);
        while let Some(worker) = self.shared.idle.pop() {
            self.shared.idle_count.fetch_sub(1, Ordering::Relaxed);
            worker.end();
        }
    }
}

impl Drop for WorkerPool {
    fn drop(&mut self) {
        self.halt();
    }
}

impl fmt::Debug for WorkerPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkerPool")
            .field("spec", &self.shared.spec)
            .field("workers", &self.workers())
            .field("idle", &self.idle())
            .finish_non_exhaustive()
    }
}

impl Shared {
    /// Runs a worker: does `first`, then the jobs it is given. `idle` is signalled when it is first
    /// without work.
    fn work(&self, first: Option<Job>, mut idle: Option<mpsc::Sender<()>>) {
        let own = Arc::new(Handover::own());
        let mut next = first;
        loop {
            if let Some(job) = next.take() {
                // The process's panic hook has reported it.
                let _ = catch_unwind(AssertUnwindSafe(job));
            }
            next = self.next(&own, &mut idle);
            if next.is_none() {
                return;
            }
        }
    }

    /// Returns the worker's next job; `None` when the worker is not kept.
    fn next(&self, own: &Arc<Handover<Job>>, idle: &mut Option<mpsc::Sender<()>>) -> Option<Job> {
        let one_more = |count| (count < self.max_idle).then_some(count + 1);
        // Relaxed: a mere counter.
        self.idle_count
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more)
            .ok()?;
        own.begin_waiting();
        self.idle.push(own.clone());
        drop(idle.take());
        // Pairs with the fence in `WorkerPool::halt`.
        fence(Ordering::SeqCst);
        if self.stopped.load(Ordering::SeqCst) {
            own.end();
        }
        own.wait()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::sync::Mutex;
    use std::thread::ThreadId;
    use std::time::Duration;

    fn pool(change: impl FnOnce(&mut WorkerPoolOptions)) -> WorkerPool {
        let mut options = WorkerPoolOptions::new("worker");
        change(&mut options);
        WorkerPool::start(options).unwrap()
    }

    /// Waits until the pool has `count` idle workers.
    fn wait_for_idle(pool: &WorkerPool, count: usize) {
        while pool.idle() != count {
            std::thread::yield_now();
        }
    }

    #[test]
    fn workers_are_started_ahead_and_used_again() {
        let pool = pool(|options| options.started_ahead = 2);
        assert_eq!((pool.workers(), pool.idle()), (2, 2));
        let (tell, told) = mpsc::channel::<ThreadId>();
        let mut seen = HashSet::new();
        for _ in 0..50 {
            let tell = tell.clone();
            pool.run(move || tell.send(std::thread::current().id()).unwrap())
                .unwrap();
            seen.insert(told.recv().unwrap());
            wait_for_idle(&pool, 2);
        }
        assert_eq!(pool.workers(), 2);
        assert!(seen.len() <= 2);
    }

    #[test]
    fn work_begins_though_all_workers_are_busy_until_there_are_as_many_as_may_be() {
        let pool = pool(|options| options.max_workers = 3);
        let (release, wait) = mpsc::channel::<()>();
        let (wait, (began, begins)) = (Arc::new(Mutex::new(wait)), mpsc::channel());
        for _ in 0..3 {
            let (wait, began) = (wait.clone(), began.clone());
            let work = move || {
                began.send(()).unwrap();
                // Ends when the sender is dropped.
                let _ = wait.lock().unwrap().recv();
            };
            pool.run(work).unwrap();
            begins.recv().unwrap();
        }
        let refused = pool.run(|| {}).unwrap_err();
        assert!(matches!(refused, SpawnError::Full { limit: 3 }));
        drop(release);
        wait_for_idle(&pool, 3);
        pool.run(|| {}).unwrap();
    }

    #[test]
    fn no_more_idle_workers_are_kept_than_wanted() {
        let pool = pool(|options| options.max_idle = 1);
        let (release, wait) = mpsc::channel::<()>();
        let wait = Arc::new(Mutex::new(wait));
        for _ in 0..4 {
            let wait = wait.clone();
            pool.run(move || {
                let _ = wait.lock().unwrap().recv();
            })
            .unwrap();
        }
        drop(release);
        assert!(pool.shared.threads.wait_until_at_most(1, Deadline::NEVER));
        wait_for_idle(&pool, 1);
    }

    #[test]
    fn a_panic_leaves_the_worker_for_the_next_work() {
        let pool = pool(|options| options.max_workers = 1);
        let (lives, ends) = mpsc::channel::<()>();
        pool.run(move || {
            let _lives = lives;
            panic!("on purpose")
        })
        .unwrap();
        // A worker is idle before its first work, too.
        ends.recv().unwrap_err();
        wait_for_idle(&pool, 1);
        let (tell, told) = mpsc::channel();
        pool.run(move || tell.send(7).unwrap()).unwrap();
        assert_eq!(told.recv().unwrap(), 7);
    }

    #[test]
    fn stopping_waits_for_work_under_way_and_refuses_more() {
        let pool = pool(|options| options.started_ahead = 3);
        let (release, wait) = mpsc::channel::<()>();
        let (began, begins) = mpsc::channel();
        let work = move || {
            began.send(()).unwrap();
            let _ = wait.recv();
        };
        pool.run(work).unwrap();
        begins.recv().unwrap();
        assert!(!pool.stop(0, Deadline::after(Duration::from_millis(5))));
        assert!(matches!(pool.run(|| {}), Err(SpawnError::Stopped)));
        drop(release);
        assert!(pool.stop(0, Deadline::NEVER));
    }

    #[test]
    fn a_pool_that_is_dropped_ends_its_workers() {
        let pool = pool(|options| options.started_ahead = 2);
        let threads = pool.shared.threads.clone();
        drop(pool);
        assert!(threads.wait_until_at_most(0, Deadline::NEVER));
    }

    #[test]
    fn a_pool_whose_threads_are_refused_is_not_made() {
        use crate::thread::Scheduling;
        let beyond = Scheduling::Fifo { priority: 1000 };
        let mut options = WorkerPoolOptions::new(ThreadSpec::named("worker").scheduling(beyond));
        options.started_ahead = 1;
        let error = WorkerPool::start(options).unwrap_err();
        assert!(matches!(error, SpawnError::Refused { .. }));
    }
}
