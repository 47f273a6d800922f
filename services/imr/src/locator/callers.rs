//! Threads that begin calls to servers and activators.
//!
//! The calls are asynchronous, but connecting may take time, and the threads that serve requests must not wait for others. A
//! host that does not answer occupies few of the threads, and the calls to other hosts pass it.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};
use punctual::ObjectRef;
use punctual::protocol::endpoints_of;
use punctual_exec::thread::ThreadSpec;

/// Maximum number of threads. They are started when they are needed, and stay.
const THREADS: usize = 64;

/// Maximum number of threads that make calls to one host at a time.
const OF_A_HOST: usize = 4;

type Job = Box<dyn FnOnce() + Send>;

/// Queues of calls to be begun.
pub(crate) struct Callers(Arc<Shared>);

#[derive(Default)]
struct Shared {
    queues: Mutex<Queues>,
    /// Notified when there is a job, when a thread ends, and at the end.
    changed: Condvar,
}

#[derive(Default)]
struct Queues {
    hosts: BTreeMap<String, Host>,
    /// Hosts that a thread may begin a job of; one may be in it more than once, or in vain.
    ready: VecDeque<String>,
    threads: usize,
    idle: usize,
    has_ended: bool,
}

/// Jobs of one host. A host without any is removed.
#[derive(Default)]
struct Host {
    jobs: VecDeque<Job>,
    /// Number of threads that run one.
    running: usize,
}

impl Callers {
    pub(crate) fn new() -> Self {
        Self(Arc::default())
    }

    /// Queues a job for the threads. Without any, it is run by the caller.
    pub(crate) fn run(&self, host: String, job: impl FnOnce() + Send + 'static) {
        let shared = &self.0;
        let mut queues = shared.queues.lock();
        let is_short = queues.ready.len() >= queues.idle && queues.threads < THREADS;
        if is_short && !queues.has_ended {
            let work = {
                let shared = shared.clone();
                move || shared.work()
            };
            match ThreadSpec::named("imr-caller").start(work) {
                // It goes on by itself until the end, which waits for it by its count.
                Ok(thread) => {
                    drop(thread);
                    queues.threads += 1;
                }
                Err(error) => tracing::warn!("a thread for calls cannot be started: {error}"),
            }
        }
        if queues.threads == 0 || queues.has_ended {
            drop(queues);
            return job();
        }
        let of_host = queues.hosts.entry(host.clone()).or_default();
        of_host.jobs.push_back(Box::new(job));
        queues.ready.push_back(host);
        drop(queues);
        shared.changed.notify_all();
    }

    /// Ends the threads when they have run the jobs that wait.
    pub(crate) fn end(&self) {
        let mut queues = self.0.queues.lock();
        queues.has_ended = true;
        self.0.changed.notify_all();
        while queues.threads > 0 {
            self.0.changed.wait(&mut queues);
        }
    }
}

impl Shared {
    /// Runs jobs until the end.
    fn work(&self) {
        let mut queues = self.queues.lock();
        loop {
            if let Some((host, job)) = queues.next() {
                drop(queues);
                job();
                queues = self.queues.lock();
                queues.done(host);
                continue;
            }
            // Those that are left belong to hosts whose threads go on with them.
            if queues.has_ended {
                queues.threads -= 1;
                self.changed.notify_all();
                return;
            }
            queues.idle += 1;
            self.changed.wait(&mut queues);
            queues.idle -= 1;
        }
    }
}

impl Queues {
    /// Takes a job that may be begun.
    fn next(&mut self) -> Option<(String, Job)> {
        while let Some(host) = self.ready.pop_front() {
            let Some(queue) = self.hosts.get_mut(&host) else {
                continue;
            };
            // One of its threads goes on with its jobs.
            if queue.running >= OF_A_HOST {
                continue;
            }
            if let Some(job) = queue.jobs.pop_front() {
                queue.running += 1;
                return Some((host, job));
            }
        }
        None
    }

    /// Takes that a job of a host has been run.
    fn done(&mut self, host: String) {
        let Some(queue) = self.hosts.get_mut(&host) else {
            return;
        };
        queue.running -= 1;
        match (queue.jobs.is_empty(), queue.running) {
            (false, _) => self.ready.push_back(host),
            (true, 0) => drop(self.hosts.remove(&host)),
            (true, _) => {}
        }
    }
}

impl fmt::Debug for Callers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Callers")
    }
}

/// Returns the host of an object, or its whole address if that has none; empty if there is no address at all.
pub(crate) fn host_of(object: &ObjectRef) -> String {
    let endpoints = endpoints_of(object.orb(), object.ior());
    let address = endpoints.first().map(|endpoint| &endpoint.address);
    let text = address.map(|address| match address.host_and_port() {
        Some((host, _)) => host.to_owned(),
        None => address.to_string(),
    });
    text.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn a_host_that_does_not_answer_holds_up_its_own_calls_alone() {
        let callers = Callers::new();
        let (go, wait) = channel::<()>();
        let wait = Arc::new(Mutex::new(wait));
        let (say, heard) = channel();
        for at in 0..20 {
            let (wait, say) = (wait.clone(), say.clone());
            callers.run("silent".to_owned(), move || {
                let _ = wait.lock().recv();
                say.send(at).unwrap();
            });
        }
        for at in 100..110 {
            let say = say.clone();
            callers.run("other".to_owned(), move || say.send(at).unwrap());
        }
        let mut others: Vec<i32> = heard.iter().take(10).collect();
        others.sort_unstable();
        assert_eq!(others, (100..110).collect::<Vec<i32>>());
        // Its calls are made, and the threads end.
        drop(go);
        callers.end();
        assert_eq!(heard.try_iter().count(), 20);
        let (ran, later) = channel();
        callers.run("other".to_owned(), move || ran.send(()).unwrap());
        later.recv().unwrap();
    }
}
