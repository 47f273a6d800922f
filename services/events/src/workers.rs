//! Threads that call peers.
//!
//! A call may wait for a peer that does not answer, so no thread that serves requests makes one. What waits for a
//! free thread is kept in a queue; each proxy has at most a few jobs there.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};
use punctual_exec::{SpawnError, ThreadSpec, WorkerPool, WorkerPoolOptions};

type Job = Box<dyn FnOnce() + Send>;

/// Bounded pool of threads with a queue. Clones share it.
#[derive(Clone)]
pub struct Workers(Arc<Inner>);

struct Inner {
    pool: WorkerPool,
    most: usize,
    jobs: Mutex<Jobs>,
    /// Signals that a thread has done its last job.
    done: Condvar,
}

#[derive(Default)]
struct Jobs {
    waiting: VecDeque<Job>,
    /// Number of threads that take jobs out of the queue.
    active: usize,
    is_ended: bool,
}

impl std::fmt::Debug for Workers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workers").finish_non_exhaustive()
    }
}

impl Workers {
    /// Makes a pool of at most `most` threads, which start when there is work.
    ///
    /// # Errors
    /// The system starts no threads.
    pub fn new(name: &'static str, most: usize) -> Result<Self, SpawnError> {
        let mut options = WorkerPoolOptions::new(ThreadSpec::named(name));
        options.max_workers = most.max(1);
        Ok(Self(Arc::new(Inner {
            pool: WorkerPool::start(options)?,
            most: most.max(1),
            jobs: Mutex::default(),
            done: Condvar::new(),
        })))
    }

    /// Runs a job on one of the threads, as soon as one is free. After [`end`](Self::end) jobs are dropped.
    pub fn run(&self, job: impl FnOnce() + Send + 'static) {
        let mut jobs = self.0.jobs.lock();
        if jobs.is_ended {
            return;
        }
        jobs.waiting.push_back(Box::new(job));
        if jobs.active >= self.0.most {
            return;
        }
        jobs.active += 1;
        drop(jobs);
        let inner = self.0.clone();
        if let Err(error) = self.0.pool.run(move || inner.work()) {
            // An active thread takes the job, or else the thread of the next one.
            self.0.jobs.lock().active -= 1;
            self.0.done.notify_all();
            tracing::warn!("a thread that calls peers could not be started: {error}");
        }
    }

    /// Waits until all jobs are done; those to come are dropped.
    pub fn finish(&self) {
        let mut jobs = self.0.jobs.lock();
        jobs.is_ended = true;
        while jobs.active > 0 {
            self.0.done.wait(&mut jobs);
        }
    }

    /// Drops the jobs that wait, and those to come.
    pub fn end(&self) {
        let waiting = {
            let mut jobs = self.0.jobs.lock();
            jobs.is_ended = true;
            std::mem::take(&mut jobs.waiting)
        };
        drop(waiting);
    }
}

impl Inner {
    fn work(&self) {
        while let Some(job) = self.next() {
            let job = std::panic::AssertUnwindSafe(job);
            if std::panic::catch_unwind(|| { job }.0()).is_err() {
                tracing::error!("a call to a peer has panicked");
            }
        }
    }

    /// Returns the next job, or counts the thread out.
    fn next(&self) -> Option<Job> {
        let mut jobs = self.jobs.lock();
        let job = jobs.waiting.pop_front();
        if job.is_none() {
            jobs.active -= 1;
            self.done.notify_all();
        }
        job
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn jobs_beyond_the_number_of_threads_wait_and_all_are_done() {
        let workers = Workers::new("test", 2).unwrap();
        let (held, hold) = (Arc::new(Mutex::new(())), channel());
        let locked = held.lock();
        for number in 0..10 {
            let (held, done) = (held.clone(), hold.0.clone());
            workers.run(move || {
                drop(held.lock());
                done.send(number).unwrap();
            });
        }
        assert!(hold.1.try_recv().is_err());
        drop(locked);
        let mut done: Vec<i32> = hold.1.iter().take(10).collect();
        done.sort_unstable();
        assert_eq!(done, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn at_the_end_all_jobs_are_done_or_those_that_wait_are_dropped() {
        let workers = Workers::new("test", 1).unwrap();
        let (done, doing) = channel();
        for number in 0..100 {
            let done = done.clone();
            workers.run(move || done.send(number).unwrap());
        }
        workers.finish();
        assert_eq!(doing.try_iter().count(), 100);
        workers.run(move || done.send(0).unwrap());
        assert!(doing.recv().is_err());
    }

    #[test]
    fn a_job_that_panics_takes_no_thread_with_it() {
        let workers = Workers::new("test", 1).unwrap();
        let (done, doing) = channel();
        workers.run(|| panic!("as the test wants it"));
        workers.run(move || done.send(()).unwrap());
        doing.recv().unwrap();
    }
}
