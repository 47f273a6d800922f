//! Workers: threads that run tasks, the most urgent first.
//!
//! A consumer that blocks keeps its thread. A watching thread notices runs that last too long while others wait: it
//! writes their threads off and starts others, and their tasks go to a lane of their own when they return
//! ([`Task::is_slow`]). Written off threads are bounded, and end with their runs.
//!
//! ```text
//! staffing  numbers of threads, and the tasks that they run
//! state     tasks that wait, and runs in progress
//! work      loop of a thread
//! watch     loop of the watching thread
//! ```

mod staffing;
mod state;
mod watch;
mod work;

use super::dispatcher::Task;
use crate::level::Level;
use parking_lot::{Condvar, Mutex};
use punctual_exec::SpawnError;
use state::State;
use std::sync::Arc;

pub(crate) use staffing::{Lane, Staffing};

/// Threads and the tasks that wait for them. Dropping it ends the threads after their tasks.
pub(crate) struct Workers {
    shared: Arc<Shared>,
}

struct Shared {
    staffing: Staffing,
    lane: Lane,
    state: Mutex<State>,
    /// Signals idle threads.
    work: Condvar,
    /// Signals the watching thread.
    watched: Condvar,
}

impl Workers {
    /// Starts the threads.
    ///
    /// # Errors
    /// The operating system refuses one; those before it end.
    pub(crate) fn start(staffing: Staffing, lane: Lane) -> Result<Self, SpawnError> {
        let workers = Self {
            shared: Arc::new(Shared {
                state: Mutex::new(State::new(&lane)),
                staffing,
                lane,
                work: Condvar::new(),
                watched: Condvar::new(),
            }),
        };
        for _ in 0..workers.shared.staffing.threads {
            workers.shared.start_worker()?;
        }
        if workers.shared.staffing.most_blocked > 0 {
            let own = workers.shared.clone();
            let spec = workers.shared.staffing.thread.clone();
            spec.start(move || own.keep_watch())?;
        }
        Ok(workers)
    }

    pub(crate) fn schedule(&self, level: Level, task: Arc<dyn Task>) {
        let mut state = self.shared.state.lock();
        state.push(level, task);
        let is_idle = state.idle > 0;
        let is_pressed = state.needs_watch(&self.shared.staffing);
        drop(state);
        if is_idle {
            self.shared.work.notify_one();
        } else if is_pressed {
            self.shared.watched.notify_one();
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use punctual_exec::ThreadSpec;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc;
    use std::time::Duration;

    /// Task whose run ends when the test says so.
    struct Blocks {
        begin: mpsc::Sender<()>,
        wait: Mutex<mpsc::Receiver<()>>,
        is_slow: AtomicBool,
    }

    impl Blocks {
        fn new(begin: &mpsc::Sender<()>) -> (Arc<Self>, mpsc::Sender<()>) {
            let (release, wait) = mpsc::channel();
            let task = Self {
                begin: begin.clone(),
                wait: Mutex::new(wait),
                is_slow: AtomicBool::new(false),
            };
            (Arc::new(task), release)
        }
    }

    impl Task for Blocks {
        fn run(&self) -> bool {
            self.begin.send(()).unwrap();
            // The test has ended.
            let _ = self.wait.lock().recv();
            false
        }

        fn is_slow(&self) -> bool {
            self.is_slow.load(Ordering::Relaxed)
        }

        fn set_slow(&self, is_slow: bool) {
            self.is_slow.store(is_slow, Ordering::Relaxed);
        }
    }

    fn workers(threads: usize, most_blocked: usize) -> Workers {
        let staffing = Staffing {
            thread: ThreadSpec::named("workers"),
            threads,
            most_threads: threads + 2,
            most_blocked,
            blocked_after: Duration::from_millis(1),
            idle_for: Duration::from_millis(1),
        };
        Workers::start(staffing, Lane::Only).unwrap()
    }

    fn wait_for(workers: &Workers, is_so: impl Fn(&State) -> bool) {
        while !is_so(&workers.shared.state.lock()) {
            std::thread::yield_now();
        }
    }

    #[test]
    fn threads_in_runs_that_block_are_written_off_and_replaced_and_end_with_their_runs() {
        let workers = workers(1, 100);
        let (begin, begun) = mpsc::channel();
        let all: Vec<_> = (0..20).map(|_| Blocks::new(&begin)).collect();
        for (task, _) in &all {
            workers.schedule(Level::default(), task.clone());
        }
        (0..20).for_each(|_| begun.recv().unwrap());
        // The last one blocks nothing that waits.
        let (waits, _release) = Blocks::new(&begin);
        workers.schedule(Level::default(), waits);
        begun.recv().unwrap();
        let tasks: Vec<_> = all.into_iter().map(|(task, _)| task).collect();
        wait_for(&workers, |state| state.blocked == 0 && state.threads == 1);
        assert!(tasks.iter().any(|task| task.is_slow()));
    }

    #[test]
    fn no_more_threads_are_written_off_than_the_limit() {
        let workers = workers(1, 2);
        let (begin, begun) = mpsc::channel();
        let all: Vec<_> = (0..4).map(|_| Blocks::new(&begin)).collect();
        for (task, _) in &all {
            workers.schedule(Level::default(), task.clone());
        }
        (0..3).for_each(|_| begun.recv().unwrap());
        wait_for(&workers, |state| state.blocked == 2);
        drop(all);
        begun.recv().unwrap();
    }

    #[test]
    fn a_task_that_panics_leaves_its_thread_to_others() {
        struct Panics;
        impl Task for Panics {
            fn run(&self) -> bool {
                panic!("on purpose");
            }
        }
        let workers = workers(1, 0);
        let (begin, begun) = mpsc::channel();
        let (task, _release) = Blocks::new(&begin);
        workers.schedule(Level::default(), Arc::new(Panics));
        workers.schedule(Level::default(), task);
        begun.recv().unwrap();
    }
}
