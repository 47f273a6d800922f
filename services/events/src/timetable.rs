//! Jobs that are due later, run by one thread of the service.
//!
//! The jobs only hand work over to other threads, so that none delays the next.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use punctual_exec::thread::JoinHandle;
use punctual_exec::{SpawnError, ThreadSpec};

type Job = Box<dyn FnOnce() + Send>;

/// Jobs ordered by the times at which they are due, and the thread that waits for these times. Dropping it ends
/// the thread.
pub struct Timetable {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    thread: OnceLock<ThreadId>,
}

#[derive(Default)]
struct State {
    due: BTreeMap<(Instant, u64), Job>,
    /// Distinguishes jobs that are due at the same time.
    next: u64,
    is_ended: bool,
}

impl std::fmt::Debug for Timetable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Timetable").finish_non_exhaustive()
    }
}

impl Timetable {
    /// Starts the thread with this name, of which the kernel keeps 15 characters.
    ///
    /// # Errors
    /// The system starts no thread.
    pub fn start(name: &'static str) -> Result<Self, SpawnError> {
        let shared = Arc::new(Shared::default());
        let own = shared.clone();
        let thread = ThreadSpec::named(name).start(move || own.run())?;
        Ok(Self {
            shared,
            thread: Mutex::new(Some(thread)),
        })
    }

    /// Runs a job after a time. After [`end`](Self::end) it is dropped.
    pub fn after(&self, time: Duration, job: impl FnOnce() + Send + 'static) {
        let at = Instant::now() + time.min(Duration::from_secs(365 * 24 * 3600));
        let mut state = self.shared.state.lock();
        if state.is_ended {
            return;
        }
        let is_next = state
            .due
            .first_key_value()
            .is_none_or(|((first, _), _)| at < *first);
        let number = state.next;
        state.next += 1;
        state.due.insert((at, number), Box::new(job));
        drop(state);
        if is_next {
            self.shared.changed.notify_one();
        }
    }

    /// Drops all jobs, and ends the thread: waits for the job that it runs at present, unless that calls this.
    pub fn end(&self) {
        let due = {
            let mut state = self.shared.state.lock();
            state.is_ended = true;
            std::mem::take(&mut state.due)
        };
        self.shared.changed.notify_one();
        drop(due);
        let is_own = self.shared.thread.get() == Some(&std::thread::current().id());
        let thread = self.thread.lock().take();
        if let Some(thread) = thread.filter(|_| !is_own) {
            let _ = thread.join();
        }
    }
}

impl Drop for Timetable {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    fn run(&self) {
        // It is set once.
        let _ = self.thread.set(std::thread::current().id());
        while let Some(job) = self.next() {
            job();
        }
    }

    /// Waits for the next job that is due; `None` at the end.
    fn next(&self) -> Option<Job> {
        let mut state = self.state.lock();
        loop {
            if state.is_ended {
                return None;
            }
            let Some(((at, _), _)) = state.due.first_key_value() else {
                self.changed.wait(&mut state);
                continue;
            };
            let at = *at;
            if at <= Instant::now() {
                return state.due.pop_first().map(|(_, job)| job);
            }
            self.changed.wait_until(&mut state, at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::channel;

    #[test]
    fn the_end_waits_for_the_job_that_runs_and_drops_the_others() {
        let timetable = Timetable::start("test").unwrap();
        let (begin, begun) = channel();
        let is_done = Arc::new(AtomicBool::new(false));
        let done = is_done.clone();
        timetable.after(Duration::ZERO, move || {
            begin.send(()).unwrap();
            for _ in 0..1_000 {
                std::thread::yield_now();
            }
            done.store(true, Ordering::SeqCst);
        });
        begun.recv().unwrap();
        let kept = Arc::new(());
        let held = kept.clone();
        timetable.after(Duration::from_secs(3_600), move || drop(held));
        timetable.end();
        assert!(is_done.load(Ordering::SeqCst));
        timetable.after(Duration::ZERO, || panic!("it is not run"));
        assert_eq!(Arc::strong_count(&kept), 1);
    }

    #[test]
    fn a_job_may_have_the_last_reference_to_its_timetable() {
        let timetable = Arc::new(Timetable::start("test").unwrap());
        let (done, is_done) = channel();
        let (go_on, goes_on) = channel();
        let own = timetable.clone();
        timetable.after(Duration::ZERO, move || {
            goes_on.recv().unwrap();
            drop(own);
            done.send(()).unwrap();
        });
        drop(timetable);
        go_on.send(()).unwrap();
        is_done.recv().unwrap();
    }
}
