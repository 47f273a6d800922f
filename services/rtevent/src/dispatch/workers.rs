//! Workers: threads that run tasks, the most urgent first.
//!
//! A consumer that blocks keeps its thread. If all threads are inside of tasks, none has ended for a
//! set time and others wait, one more thread starts, up to a limit; it ends again when it has been idle. A watching
//! thread decides that; it exists from the first time at which all threads are busy.

use super::dispatcher::Task;
use super::link::caught;
use crate::level::Level;
use parking_lot::{Condvar, Mutex};
use punctual_exec::{SpawnError, ThreadSpec};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

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
    watch: Condvar,
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
    is_watched: bool,
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
                watch: Condvar::new(),
            }),
        };
        for _ in 0..workers.shared.staffing.threads {
            workers.shared.start_worker()?;
        }
        Ok(workers)
    }

    pub(crate) fn schedule(&self, level: Level, task: Arc<dyn Task>) {
        let mut state = self.shared.state.lock();
        state.push(level, task);
        let is_busy = state.idle == 0;
        let starts_watching = is_busy && self.shared.wants_watching(&mut state);
        drop(state);
        if !is_busy {
            self.shared.work.notify_one();
        } else if starts_watching {
            self.shared.start_watching();
        } else {
            self.shared.watch.notify_one();
        }
    }

    /// Returns the number of threads now.
    #[cfg(test)]
    pub(crate) fn threads(&self) -> usize {
        self.shared.state.lock().threads
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock();
        state.stops = true;
        let waiting = std::mem::take(&mut state.waiting);
        state.count = 0;
        drop(state);
        self.shared.work.notify_all();
        self.shared.watch.notify_all();
        drop(waiting);
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

    fn work(self: &Arc<Self>) {
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
            // Others may have been scheduled while this thread was idle, for which no thread is left now.
            let leaves_others = state.count > 0 && state.idle == 0;
            let starts_watching = leaves_others && self.wants_watching(&mut state);
            drop(state);
            if starts_watching {
                self.start_watching();
            } else if leaves_others {
                self.watch.notify_one();
            }
            let has_more = caught(|| task.run()).unwrap_or(false);
            state = self.state.lock();
            state.ended += 1;
            if has_more && !state.stops {
                state.push(level, task);
            }
        }
        state.threads -= 1;
    }

    /// Returns whether the watching thread is to be started, and notes that it is.
    fn wants_watching(&self, state: &mut State) -> bool {
        let wants = !state.is_watched && self.staffing.most_threads > self.staffing.threads;
        state.is_watched |= wants;
        wants
    }

    fn start_watching(self: &Arc<Self>) {
        let own = self.clone();
        let spec = self.staffing.thread.clone();
        if spec.start(move || own.watch()).is_err() {
            self.state.lock().is_watched = false;
        }
    }

    fn watch(self: &Arc<Self>) {
        let mut state = self.state.lock();
        while !state.stops {
            if !state.is_blocked(&self.staffing) {
                self.watch.wait(&mut state);
                continue;
            }
            let ended = state.ended;
            let waited = self.watch.wait_for(&mut state, self.staffing.blocked_after);
            let mut is_late = waited.timed_out();
            while !is_late && !state.stops && state.ended == ended {
                is_late = self
                    .watch
                    .wait_for(&mut state, self.staffing.blocked_after)
                    .timed_out();
            }
            if is_late && state.ended == ended && state.is_blocked(&self.staffing) {
                drop(state);
                // Refused by the machine, it is tried again after the same time.
                let _ = self.start_worker();
                state = self.state.lock();
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
    use std::sync::mpsc::{Receiver, Sender, channel};

    /// Task that waits for a message, or sends one.
    enum Step {
        Wait(Mutex<Receiver<()>>),
        Send(Mutex<Sender<()>>),
    }

    impl Task for Step {
        fn run(&self) -> bool {
            match self {
                Self::Wait(from) => from.lock().recv().unwrap_or_default(),
                Self::Send(to) => to.lock().send(()).unwrap_or_default(),
            }
            false
        }
    }

    #[test]
    fn a_task_that_was_scheduled_while_a_thread_was_still_idle_does_not_wait_for_one_that_blocks() {
        let workers = Workers::start(Staffing {
            thread: ThreadSpec::named("test"),
            threads: 1,
            most_threads: 2,
            blocked_after: Duration::from_millis(1),
            idle_for: Duration::from_secs(60),
        });
        let workers = workers.unwrap();
        let (send, wait) = channel();
        while workers.shared.state.lock().idle == 0 {
            std::thread::yield_now();
        }
        // As two calls of `schedule` do before the thread wakes.
        let mut state = workers.shared.state.lock();
        state.push(Level::default(), Arc::new(Step::Wait(Mutex::new(wait))));
        state.push(Level::default(), Arc::new(Step::Send(Mutex::new(send))));
        drop(state);
        workers.shared.work.notify_one();
        while workers.shared.state.lock().ended < 2 {
            std::thread::yield_now();
        }
    }
}
