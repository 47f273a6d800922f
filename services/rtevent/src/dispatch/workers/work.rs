//! Loop of a thread that runs tasks.

use super::Shared;
use super::staffing::Lane;
use super::state::{Seat, State, Waiting};
use crate::dispatch::dispatcher::{Dispatcher, Task};
use crate::dispatch::link::caught;
use crate::level::Level;
use parking_lot::MutexGuard;
use punctual_exec::SpawnError;
use std::sync::{Arc, Weak};
use std::time::Instant;

impl Shared {
    pub(super) fn start_worker(self: &Arc<Self>) -> Result<(), SpawnError> {
        self.state.lock().begin_start();
        let own = self.clone();
        let started = self.staffing.thread.clone().start(move || own.work());
        if started.is_err() {
            self.state.lock().refuse_start();
        }
        started.map(drop)
    }

    fn work(&self) {
        self.neighbours.note_scheduling();
        let mut state = self.state.lock();
        let seat = state.sit();
        while !state.stops {
            if state.asked > 0 {
                state.asked -= 1;
                MutexGuard::unlocked(&mut state, || self.lend(&seat));
            } else if let Some(next) = state.pop() {
                let level = next.0;
                self.begin(&mut state, &seat);
                let task = MutexGuard::unlocked(&mut state, || self.run(&seat, next, false));
                state.end_run(&seat);
                if let Some(task) = task {
                    state.push(level, task);
                }
            } else if self.ends_idle(&mut state) {
                break;
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
    pub(super) fn run(
        &self,
        seat: &Seat,
        (level, task): Waiting,
        is_borrowed: bool,
    ) -> Option<Arc<dyn Task>> {
        let is_timed = is_borrowed || matches!(self.lane, Lane::Slow(..));
        let began = is_timed.then(Instant::now);
        let has_more = caught(|| task.run()).unwrap_or(false);
        if seat.is_written_off() || is_borrowed && self.is_late(began) {
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

    /// Returns whether a run on a borrowed thread, which ends now, would have blocked a thread of this lane.
    fn is_late(&self, began: Option<Instant>) -> bool {
        began.is_some_and(|began| began.elapsed() >= self.staffing.blocked_after)
            && self.state.lock().count > 0
    }

    /// Returns whether a slow task, whose run ends now, is slow no more.
    fn is_in_time(&self, began: Option<Instant>) -> bool {
        match (&self.lane, began) {
            (Lane::Slow(_, in_time), Some(began)) => began.elapsed() < *in_time,
            _ => false,
        }
    }

    /// Waits for work, of this lane or a more urgent one; returns whether the thread is one too many, and has been idle for
    /// long.
    fn ends_idle(&self, state: &mut MutexGuard<'_, State>) -> bool {
        state.idle += 1;
        let is_wanted =
            self.neighbours.may_lend() && MutexGuard::unlocked(state, || self.is_wanted_above());
        let is_called = state.count > 0 || state.asked > 0 || state.stops;
        let waited = match is_wanted || is_called {
            true => None,
            false => Some(self.work.wait_for(state, self.staffing.idle_for)),
        };
        state.idle -= 1;
        state.asked += usize::from(is_wanted);
        let is_further = state.threads > self.staffing.threads;
        let has_none = state.count == 0 && state.asked == 0;
        waited.is_some_and(|it| it.timed_out()) && has_none && is_further
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
