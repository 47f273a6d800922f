//! Workers: threads that run tasks, the most urgent first.
//!
//! A consumer that blocks keeps its thread. If all threads are inside of tasks, none has ended for a
//! set time and others wait, one more thread starts, up to a limit; it ends again when it has been idle. A watching
//! thread decides that; there is none where the limit is the number of threads.

use super::dispatcher::Task;
use super::link::caught;
use crate::level::Level;
use parking_lot::{Condvar, Mutex, MutexGuard};
use punctual_exec::{SpawnError, ThreadSpec};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Threads and the tasks that wait for them. Dropping it ends the threads after their tasks.
pub(crate) struct Workers {
    shared: Arc<Shared>,
}

/// Numbers of threads, and when they change.
#[derive(Clone)]
pub(crate) struct Staffing {
    /// Specification of the threads.
    pub(crate) thread: ThreadSpec,
    /// Number of threads that are always there.
    pub(crate) threads: usize,
    /// Largest number of threads.
    pub(crate) most_threads: usize,
    /// Time without the end of a task after which another thread starts.
    pub(crate) blocked_after: Duration,
    /// Time after which a further thread that is idle ends.
    pub(crate) idle_for: Duration,
}

struct Shared {
    staffing: Staffing,
    state: Mutex<State>,
    /// Signals idle threads.
    work: Condvar,
    /// Signals the watching thread.
    watched: Condvar,
}

#[derive(Default)]
struct State {
    waiting: BTreeMap<Level, VecDeque<Arc<dyn Task>>>,
    /// Number of waiting tasks.
    count: usize,
    threads: usize,
    idle: usize,
    /// Number of runs that have ended.
    ended: u64,
    stops: bool,
}

/// Number of levels whose empty queues are kept.
const KEPT: usize = 64;

impl Workers {
    /// Starts the threads.
    ///
    /// # Errors
    /// The operating system refuses one; those before it end.
    pub(crate) fn start(staffing: Staffing) -> Result<Self, SpawnError> {
        let workers = Self {
            shared: Arc::new(Shared {
                staffing,
                state: Mutex::default(),
                work: Condvar::new(),
                watched: Condvar::new(),
            }),
        };
        for _ in 0..workers.shared.staffing.threads {
            workers.shared.start_worker()?;
        }
        if workers.shared.staffing.most_threads > workers.shared.staffing.threads {
            let own = workers.shared.clone();
            let spec = workers.shared.staffing.thread.clone();
            spec.start(move || own.keep_watch())?;
        }
        Ok(workers)
    }

    pub(crate) fn schedule(&self, level: Level, task: Arc<dyn Task>) {
        let mut state = self.shared.state.lock();
        state.push(level, task);
        let signal = match state.idle {
            0 => &self.shared.watched,
            _ => &self.shared.work,
        };
        drop(state);
        signal.notify_one();
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock();
        state.stops = true;
        drop(state);
        self.shared.work.notify_all();
        self.shared.watched.notify_all();
    }
}

impl Shared {
    fn start_worker(self: &Arc<Self>) -> Result<(), SpawnError> {
        self.state.lock().threads += 1;
        let own = self.clone();
        let started = self.staffing.thread.clone().start(move || own.work());
        if started.is_err() {
            self.state.lock().threads -= 1;
        }
        started.map(drop)
    }

    fn work(&self) {
        let mut state = self.state.lock();
        loop {
            if state.stops {
                break;
            }
            let Some((level, task)) = state.pop() else {
                state.idle += 1;
                let waited = self.work.wait_for(&mut state, self.staffing.idle_for);
                state.idle -= 1;
                let is_further = state.threads > self.staffing.threads;
                if waited.timed_out() && state.count == 0 && is_further {
                    break;
                }
                continue;
            };
            if state.is_blocked(&self.staffing) {
                self.watched.notify_one();
            }
            drop(state);
            // Dropped without the lock: a task may be the last owner of its consumer, and of these threads.
            let task = caught(|| task.run()).unwrap_or(false).then_some(task);
            state = self.state.lock();
            state.ended += 1;
            if let Some(task) = task {
                state.push(level, task);
            }
        }
        state.threads -= 1;
    }

    fn keep_watch(self: &Arc<Self>) {
        let mut state = self.state.lock();
        while !state.stops {
            if !state.is_blocked(&self.staffing) {
                self.watched.wait(&mut state);
                continue;
            }
            let ended = state.ended;
            let until = Instant::now().checked_add(self.staffing.blocked_after);
            while !state.stops && !self.wait_until(&mut state, until) {}
            if state.ended == ended && state.is_blocked(&self.staffing) {
                drop(state);
                // Refused by the machine, it is tried again after the same time.
                let _ = self.start_worker();
                state = self.state.lock();
            }
        }
    }

    /// Waits; returns `true` when the time has come.
    fn wait_until(&self, state: &mut MutexGuard<'_, State>, until: Option<Instant>) -> bool {
        match until {
            Some(until) => self.watched.wait_until(state, until).timed_out(),
            None => {
                self.watched.wait(state);
                false
            }
        }
    }
}

impl State {
    fn is_blocked(&self, staffing: &Staffing) -> bool {
        self.count > 0 && self.idle == 0 && self.threads < staffing.most_threads
    }

    fn push(&mut self, level: Level, task: Arc<dyn Task>) {
        self.waiting.entry(level).or_default().push_back(task);
        self.count += 1;
    }

    fn pop(&mut self) -> Option<(Level, Arc<dyn Task>)> {
        if self.count == 0 {
            return None;
        }
        let most = self
            .waiting
            .iter_mut()
            .find(|(_, tasks)| !tasks.is_empty())?;
        let (level, task) = (*most.0, most.1.pop_front()?);
        self.count -= 1;
        if self.waiting.len() > KEPT {
            self.waiting.retain(|_, tasks| !tasks.is_empty());
        }
        Some((level, task))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    /// Task whose run ends when the test says so.
    struct Blocks(mpsc::Sender<()>, Mutex<mpsc::Receiver<()>>);

    impl Task for Blocks {
        fn run(&self) -> bool {
            self.0.send(()).unwrap();
            // The test has ended.
            let _ = self.1.lock().recv();
            false
        }
    }

    fn wait_for_threads(workers: &Workers, threads: usize) {
        while workers.shared.state.lock().threads != threads {
            std::thread::yield_now();
        }
    }

    #[test]
    fn further_threads_start_while_tasks_block_and_end_when_they_are_idle() {
        let workers = Workers::start(Staffing {
            thread: ThreadSpec::named("workers"),
            threads: 1,
            most_threads: 3,
            blocked_after: Duration::from_millis(1),
            idle_for: Duration::from_millis(1),
        });
        let workers = workers.unwrap();
        let (begin, begun) = mpsc::channel();
        let releases: Vec<_> = (0..3)
            .map(|_| {
                let (release, wait) = mpsc::channel();
                let task = Blocks(begin.clone(), Mutex::new(wait));
                workers.schedule(Level::default(), Arc::new(task));
                release
            })
            .collect();
        (0..3).for_each(|_| begun.recv().unwrap());
        wait_for_threads(&workers, 3);
        drop(releases);
        wait_for_threads(&workers, 1);
    }

    #[test]
    fn a_task_that_panics_leaves_its_thread_to_others() {
        struct Panics;
        impl Task for Panics {
            fn run(&self) -> bool {
                panic!("on purpose");
            }
        }
        let workers = Workers::start(Staffing {
            thread: ThreadSpec::named("workers"),
            threads: 1,
            most_threads: 1,
            blocked_after: Duration::from_millis(1),
            idle_for: Duration::from_millis(1),
        });
        let workers = workers.unwrap();
        let (begin, begun) = mpsc::channel();
        let (_release, wait) = mpsc::channel();
        workers.schedule(Level::default(), Arc::new(Panics));
        workers.schedule(Level::default(), Arc::new(Blocks(begin, Mutex::new(wait))));
        begun.recv().unwrap();
    }
}
