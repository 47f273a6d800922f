//! Threads that a lane borrows from less urgent ones when none of its own is left (Real-time CORBA 1.2, §5.10:
//! allow_borrowing).
//!
//! A lane that is short of threads asks the next less urgent lane that has an idle one. That thread runs the tasks that wait
//! there, at that lane's priority, until it has threads for all of them. A thread that is about to be idle looks for such
//! lanes first, so that a task does not wait beside it. No thread has two lanes' locks at a time.

use super::Shared;
use super::state::{Seat, State, Waiting};
use parking_lot::MutexGuard;

impl Shared {
    /// Returns whether tasks wait for which only another lane may have a thread.
    pub(super) fn has_to_ask(&self, state: &State) -> bool {
        self.neighbours.may_borrow() && state.needs_loan(&self.staffing)
    }

    /// Asks less urgent lanes for an idle thread.
    #[cold]
    pub(super) fn ask_for_thread(&self) {
        let _ = self.neighbours.below().any(|lane| lane.is_asked());
    }

    /// Returns whether a more urgent lane is short of threads.
    pub(super) fn is_wanted_above(&self) -> bool {
        self.neighbours.may_lend() && self.neighbours.above().any(|lane| lane.needs_loan())
    }

    /// Runs tasks of more urgent lanes that are short of threads, until none is, or the thread has been written off.
    pub(super) fn lend(&self, seat: &Seat) {
        for lane in self.neighbours.above() {
            if lane.needs_loan() {
                self.neighbours
                    .scheduled_as(&lane.neighbours, || self.run_tasks_of(&lane, seat));
            }
        }
    }

    /// Notes that a thread begins a run; the lane may be short of threads now, which those learn who can change it.
    pub(super) fn begin(&self, state: &mut MutexGuard<'_, State>, seat: &Seat) {
        state.begin_run(seat);
        if state.needs_watch(&self.staffing) {
            self.watched.notify_one();
        }
        if self.has_to_ask(state) {
            MutexGuard::unlocked(state, || self.ask_for_thread());
        }
    }

    fn run_tasks_of(&self, lane: &Self, seat: &Seat) {
        while !seat.is_written_off()
            && let Some(next) = lane.waiting_for_loan()
        {
            let level = next.0;
            self.begin(&mut self.state.lock(), seat);
            lane.neighbours.count_borrowed();
            if let Some(task) = lane.run(seat, next, true) {
                lane.schedule(level, task);
            }
            self.state.lock().end_run(seat);
        }
    }

    /// Sends an idle thread to more urgent lanes; returns `false` if there is none.
    fn is_asked(&self) -> bool {
        let mut state = self.state.lock();
        let may_lend = state.may_lend() && self.neighbours.may_lend();
        state.asked += usize::from(may_lend);
        drop(state);
        if may_lend {
            self.work.notify_one();
        }
        may_lend
    }

    fn needs_loan(&self) -> bool {
        self.state.lock().needs_loan(&self.staffing)
    }

    /// Takes a task for which this lane has no thread.
    fn waiting_for_loan(&self) -> Option<Waiting> {
        let mut state = self.state.lock();
        state
            .needs_loan(&self.staffing)
            .then(|| state.pop())
            .flatten()
    }
}
