//! Loop of a thread that runs tasks.

use super::Shared;
use super::staffing::Lane;
use super::state::{Seat, State};
use crate::dispatch::dispatcher::{Dispatcher, Task};
use crate::dispatch::link::caught;
use crate::level::Level;
use parking_lot::MutexGuard;
use punctual_exec::SpawnError;
use std::sync::{Arc, Weak};
use std::time::Instant;

impl Shared {
    pub(super) fn start_worker(self: &Arc<Self>) -> Result<(), SpawnError> {
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
        let seat = state.sit();
        while !state.stops {
            let Some((level, task)) = state.pop() else {
                if self.ends_idle(&mut state) {
                    break;
                }
                continue;
            };
            state.begin_run(&seat);
            if state.needs_watch(&self.staffing) {
                self.watched.notify_one();
            }
            drop(state);
            let task = self.run(&seat, level, task);
            state = self.state.lock();
            state.end_run(&seat);
            if let Some(task) = task {
                state.push(level, task);
            }
            if seat.is_written_off() {
                // The thread has been replaced, unless the machine refused another one.
                if state.threads >= self.staffing.threads {
                    break;
                }
                state.reinstate(&seat);
            }
        }
        state.leave(&seat);
    }

    /// Runs a task; returns it if it has more to do in this lane. Tasks are dropped without the lock: one may be the last
    /// owner of its consumer, and of these threads.
    fn run(&self, seat: &Seat, level: Level, task: Arc<dyn Task>) -> Option<Arc<dyn Task>> {
        let began = matches!(self.lane, Lane::Slow(..)).then(Instant::now);
        let has_more = caught(|| task.run()).unwrap_or(false);
        if seat.is_written_off() {
            task.set_slow(true);
        } else if self.is_in_time(began) {
            task.set_slow(false);
        }
        match &self.lane {
            _ if !has_more => None,
            Lane::Usual(home) if task.is_slow() => pass_on(home, level, task),
            Lane::Slow(home, _) if !task.is_slow() => pass_on(home, level, task),
            _ => Some(task),
        }
    }

    /// Returns whether a slow task, whose run ends now, is slow no more.
    fn is_in_time(&self, began: Option<Instant>) -> bool {
        match (&self.lane, began) {
            (Lane::Slow(_, in_time), Some(began)) => began.elapsed() < *in_time,
            _ => false,
        }
    }

    /// Waits for work; returns whether the thread is one too many, and has been idle for long.
    fn ends_idle(&self, state: &mut MutexGuard<'_, State>) -> bool {
        state.idle += 1;
        let waited = self.work.wait_for(state, self.staffing.idle_for);
        state.idle -= 1;
        let is_further = state.threads > self.staffing.threads;
        waited.timed_out() && state.count == 0 && is_further
    }
}

/// Schedules a task in another lane, unless the strategy ends.
fn pass_on(
    home: &Weak<dyn Dispatcher>,
    level: Level,
    task: Arc<dyn Task>,
) -> Option<Arc<dyn Task>> {
    if let Some(home) = home.upgrade() {
        home.schedule(level, task);
    }
    None
}
