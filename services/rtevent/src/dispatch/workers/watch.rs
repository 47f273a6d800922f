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
            if state.needs_thread(&self.staffing) {
                self.grow(&mut state);
            } else if state.is_refused || state.is_pressed(&self.staffing) {
                self.replace_blocked(&mut state);
            } else {
                self.watched.wait(&mut state);
            }
        }
    }

    /// Starts a further thread.
    fn grow(self: &Arc<Self>, state: &mut MutexGuard<'_, State>) {
        let started = MutexGuard::unlocked(state, || self.start_worker());
        if started.is_err() {
            state.is_refused = true;
            if self.has_to_ask(state) {
                MutexGuard::unlocked(state, || self.ask_for_thread());
            }
        }
    }

    /// Waits as long as a run may last that does not block, writes threads off whose runs have lasted longer, and starts
    /// others.
    fn replace_blocked(self: &Arc<Self>, state: &mut MutexGuard<'_, State>) {
        let runs = match state.is_pressed(&self.staffing) {
            true => state.runs(),
            false => Vec::new(),
        };
        self.wait_for_ends(state);
        state.is_refused = false;
        if state.stops {
            return;
        }
        let blocked = state.write_off(&runs, self.staffing.most_blocked);
        let wanted = self.wanted(state, blocked);
        MutexGuard::unlocked(state, || {
            for _ in 0..wanted {
                // Refused by the machine, it is tried again after the same time.
                if self.start_worker().is_err() {
                    break;
                }
            }
        });
    }

    /// Waits as long as a run may last that does not block; threads that are needed meanwhile start.
    fn wait_for_ends(self: &Arc<Self>, state: &mut MutexGuard<'_, State>) {
        let until = Instant::now().checked_add(self.staffing.blocked_after);
        state.is_watched = true;
        while !state.stops {
            if state.needs_thread(&self.staffing) {
                self.grow(state);
                continue;
            }
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
