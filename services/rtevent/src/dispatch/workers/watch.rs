//! Loop of the thread that watches for runs that block.

use super::Shared;
use super::state::State;
use parking_lot::MutexGuard;
use std::sync::Arc;
use std::time::Instant;

impl Shared {
    pub(super) fn keep_watch(self: &Arc<Self>) {
        let mut state = self.state.lock();
        while !state.stops {
            if !state.is_pressed(&self.staffing) {
                self.watched.wait(&mut state);
                continue;
            }
            let runs = state.runs();
            self.wait_for_ends(&mut state);
            if state.stops {
                break;
            }
            let blocked = state.write_off(&runs, self.staffing.most_blocked);
            let wanted = self.wanted(&state, blocked);
            drop(state);
            for _ in 0..wanted {
                // Refused by the machine, it is tried again after the same time.
                if self.start_worker().is_err() {
                    break;
                }
            }
            state = self.state.lock();
        }
    }

    /// Waits as long as a run may last that does not block.
    fn wait_for_ends(&self, state: &mut MutexGuard<'_, State>) {
        let until = Instant::now().checked_add(self.staffing.blocked_after);
        state.is_watched = true;
        while !state.stops {
            match until {
                Some(until) if self.watched.wait_until(state, until).timed_out() => break,
                Some(_) => {}
                None => self.watched.wait(state),
            }
        }
        state.is_watched = false;
    }

    /// Returns the number of threads to start for those written off: twice as many while tasks wait, so that many
    /// consumers that block at once are soon found.
    fn wanted(&self, state: &State, blocked: usize) -> usize {
        let least = self.staffing.threads.saturating_sub(state.threads);
        let room = self.staffing.most_threads.saturating_sub(state.threads);
        (2 * blocked).min(state.count).min(room).max(least)
    }
}
