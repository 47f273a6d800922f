//! Workers: threads that run tasks, the most urgent first.
//!
//! A consumer that blocks keeps its thread. A watching thread notices runs that last too long while others wait: it
//! writes their threads off and starts others, and their tasks go to a lane of their own when they return
//! ([`Task::is_slow`]). Written off threads are bounded, and end with their runs.
//!
//! ```text
//! staffing    numbers of threads, and the tasks that they run
//! state       tasks that wait, and runs in progress
//! neighbours  lanes that share threads
//! work        loop of a thread
//! lend        runs for other lanes
//! watch       loop of the watching thread
//! ```

mod lend;
mod neighbours;
mod staffing;
mod state;
mod watch;
mod work;

use super::dispatcher::Task;
use crate::level::Level;
use neighbours::Neighbours;
use parking_lot::{Condvar, Mutex};
use punctual_exec::SpawnError;
use state::State;
use std::sync::Arc;

pub(crate) use staffing::{Growth, Lane, Staffing};

/// Threads and the tasks that wait for them. Dropping it ends the threads after their tasks.
pub(crate) struct Workers {
    shared: Arc<Shared>,
}

/// Numbers of threads of workers at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strength {
    /// Number of threads that are not written off.
    pub(crate) threads: usize,
    /// Number of threads that are written off.
    pub(crate) blocked: usize,
    /// Number of runs that threads of other workers have made.
    pub(crate) borrowed: u64,
}

struct Shared {
    staffing: Staffing,
    lane: Lane,
    neighbours: Neighbours<Self>,
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
        let workers = Self::new(staffing, lane);
        workers.start_threads()?;
        Ok(workers)
    }

    /// Starts the threads of lanes, the most urgent lane first, that borrow threads of the less urgent ones.
    ///
    /// # Errors
    /// The operating system refuses one; those before it end.
    pub(crate) fn start_sharing(
        lanes: impl Iterator<Item = (Staffing, Lane)>,
    ) -> Result<Vec<Self>, SpawnError> {
        let lanes: Vec<_> = lanes
            .map(|(staffing, lane)| Self::new(staffing, lane))
            .collect();
        let all: Vec<_> = lanes.iter().map(|one| one.shared.clone()).collect();
        for (place, one) in all.iter().enumerate() {
            let (above, rest) = all.split_at(place);
            one.neighbours.set(above, rest.get(1..).unwrap_or_default());
        }
        lanes.iter().try_for_each(Self::start_threads)?;
        Ok(lanes)
    }

    pub(crate) fn schedule(&self, level: Level, task: Arc<dyn Task>) {
        self.shared.schedule(level, task);
    }

    /// Returns the numbers of threads.
    pub(crate) fn strength(&self) -> Strength {
        let state = self.shared.state.lock();
        Strength {
            threads: state.threads,
            blocked: state.blocked,
            borrowed: self.shared.neighbours.borrowed(),
        }
    }

    fn new(staffing: Staffing, lane: Lane) -> Self {
        Self {
            shared: Arc::new(Shared {
                state: Mutex::new(State::new(&lane)),
                staffing,
                lane,
                neighbours: Neighbours::default(),
                work: Condvar::new(),
                watched: Condvar::new(),
            }),
        }
    }

    fn start_threads(&self) -> Result<(), SpawnError> {
        for _ in 0..self.shared.staffing.threads {
            self.shared.start_worker()?;
        }
        if self.shared.staffing.changes() {
            let own = self.shared.clone();
            let spec = self.shared.staffing.thread.clone();
            spec.start(move || own.keep_watch())?;
        }
        Ok(())
    }
}

impl Shared {
    fn schedule(&self, level: Level, task: Arc<dyn Task>) {
        let mut state = self.state.lock();
        state.push(level, task);
        let is_idle = state.idle > 0;
        let needs_watch = state.needs_watch(&self.staffing);
        let has_to_ask = self.has_to_ask(&state);
        drop(state);
        if is_idle {
            self.work.notify_one();
        }
        if needs_watch {
            self.watched.notify_one();
        }
        if has_to_ask {
            self.ask_for_thread();
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
        Workers::start(staffing(threads, most_blocked), Lane::Only).unwrap()
    }

    fn staffing(threads: usize, most_blocked: usize) -> Staffing {
        Staffing {
            thread: ThreadSpec::named("workers"),
            threads,
            most_threads: threads + 2,
            most_blocked,
            blocked_after: Duration::from_millis(1),
            idle_for: Duration::from_millis(1),
            growth: Growth::WhenBlocked,
        }
    }

    /// Starts lanes of one thread each, which borrow from each other.
    fn sharing(count: usize) -> Vec<Workers> {
        let alone = || Staffing {
            most_threads: 1,
            growth: Growth::OnDemand,
            // One that wakes would look for lanes that are short of threads by itself.
            idle_for: Duration::MAX,
            ..staffing(1, 0)
        };
        let lanes = Workers::start_sharing((0..count).map(|_| (alone(), Lane::Only))).unwrap();
        lanes
            .iter()
            .for_each(|lane| wait_for(lane, |state| state.idle == 1));
        lanes
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

    #[test]
    fn threads_are_borrowed_from_the_next_lane_below_that_has_an_idle_one() {
        let lanes = sharing(3);
        let (begin, begun) = mpsc::channel();
        let all: Vec<_> = (0..4).map(|_| Blocks::new(&begin)).collect();
        let idle = || -> Vec<_> {
            let idle = |lane: &Workers| lane.shared.state.lock().idle;
            lanes.iter().map(idle).collect()
        };
        let schedule = |lane: usize, task: usize| {
            lanes[lane].schedule(Level::default(), all[task].0.clone());
        };
        for (task, left) in [[0, 1, 1], [0, 0, 1], [0, 0, 0]].iter().enumerate() {
            schedule(0, task);
            begun.recv().unwrap();
            assert_eq!(idle(), left);
        }
        assert_eq!(lanes[0].strength().borrowed, 2);
        // The thread of the last lane goes to the lane in the middle before it is idle.
        schedule(1, 3);
        all[2].1.send(()).unwrap();
        begun.recv().unwrap();
        assert_eq!(lanes[1].strength().borrowed, 1);
        for (_, release) in &all {
            // Its run may have ended.
            let _ = release.send(());
        }
        lanes
            .iter()
            .for_each(|lane| wait_for(lane, |state| state.idle == 1));
    }

    #[test]
    fn a_thread_that_is_written_off_while_it_is_lent_is_replaced() {
        let lane = |most_blocked| Staffing {
            growth: Growth::OnDemand,
            most_threads: 1,
            ..staffing(1, most_blocked)
        };
        let lanes = [0, 9].map(|most_blocked| (lane(most_blocked), Lane::Only));
        let lanes = Workers::start_sharing(lanes.into_iter()).unwrap();
        let (begin, begun) = mpsc::channel();
        let all: Vec<_> = (0..3).map(|_| Blocks::new(&begin)).collect();
        for (task, lane) in [(0, 0), (1, 0), (2, 1)] {
            lanes[lane].schedule(Level::default(), all[task].0.clone());
            begun.recv().unwrap();
        }
        drop(all);
        for lane in &lanes {
            wait_for(lane, |state| state.threads == 1 && state.blocked == 0);
        }
    }
}
