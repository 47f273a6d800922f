//! Threads that begin calls to servers and activators.
//!
//! The calls are asynchronous, but connecting may take time, and the threads that serve requests must not wait for others.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use parking_lot::Mutex;
use punctual_exec::thread::{JoinHandle, ThreadSpec};

/// Number of threads: one that waits for a host that does not answer holds up as many others.
const THREADS: usize = 4;

type Job = Box<dyn FnOnce() + Send>;

/// Queue of calls to be begun.
pub(crate) struct Callers {
    jobs: Mutex<Option<Sender<Job>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Callers {
    /// Starts the threads. Without any, jobs are run by those who bring them.
    pub(crate) fn start() -> Self {
        let (jobs, queue) = channel::<Job>();
        let queue = Arc::new(Mutex::new(queue));
        let mut threads = Vec::new();
        for _ in 0..THREADS {
            let queue = queue.clone();
            let work = move || {
                while let Some(job) = next(&queue) {
                    job();
                }
            };
            match ThreadSpec::named("imr-caller").start(work) {
                Ok(thread) => threads.push(thread),
                Err(error) => tracing::warn!("a thread for calls cannot be started: {error}"),
            }
        }
        Self {
            jobs: Mutex::new((!threads.is_empty()).then_some(jobs)),
            threads: Mutex::new(threads),
        }
    }

    /// Queues a job for the threads.
    pub(crate) fn run(&self, job: impl FnOnce() + Send + 'static) {
        let jobs = self.jobs.lock().clone();
        match jobs {
            Some(jobs) => {
                if let Err(unsent) = jobs.send(Box::new(job)) {
                    unsent.0();
                }
            }
            None => job(),
        }
    }

    /// Ends the threads when they have run the jobs that wait.
    pub(crate) fn end(&self) {
        self.jobs.lock().take();
        let threads = std::mem::take(&mut *self.threads.lock());
        for thread in threads {
            let _has_panicked = thread.join();
        }
    }
}

fn next(queue: &Mutex<Receiver<Job>>) -> Option<Job> {
    queue.lock().recv().ok()
}

impl fmt::Debug for Callers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Callers")
    }
}
