//! Lane: the timers of one level, on a wheel, and the loop of the thread that has them expire.

use super::slots::Key;
use super::wheel::{Expired, Wheel};
use parking_lot::{Condvar, Mutex};
use punctual_sys::clock;
use std::time::{Duration, Instant};

/// Timers of one level.
pub(crate) struct Lane<T> {
    state: Mutex<State<T>>,
    /// Signals the thread that an earlier timer has been started, or that it is to end.
    changed: Condvar,
}

struct State<T> {
    wheel: Wheel<T>,
    /// Time at which the thread looks next; `None` if it waits for a timer.
    wakes_at: Option<u64>,
    stops: bool,
}

impl<T: Clone> Lane<T> {
    pub(crate) fn new(resolution: u64, now: u64) -> Self {
        Self {
            state: Mutex::new(State {
                wheel: Wheel::new(resolution, now),
                wakes_at: Some(0),
                stops: false,
            }),
            changed: Condvar::new(),
        }
    }

    /// Adds a timer that is started for a time.
    pub(crate) fn add(&self, value: T, at: u64) -> Key {
        let mut state = self.state.lock();
        let key = state.wheel.add(value);
        state.wheel.start(key, at);
        self.wake(&state);
        key
    }

    /// Starts a timer for a time; does nothing for one that was removed.
    pub(crate) fn start(&self, key: Key, at: u64) {
        let mut state = self.state.lock();
        state.wheel.start(key, at);
        self.wake(&state);
    }

    pub(crate) fn remove(&self, key: Key) {
        self.state.lock().wheel.remove(key);
    }

    /// Passes time, and appends the timers that are due.
    pub(crate) fn advance(&self, now: u64, expired: &mut Vec<Expired<T>>) {
        self.state.lock().wheel.advance(now, expired);
    }

    /// Returns a time at which a timer may be due.
    pub(crate) fn next(&self) -> Option<u64> {
        self.state.lock().wheel.next()
    }

    /// Ends the loop of the thread.
    pub(crate) fn stop(&self) {
        self.state.lock().stops = true;
        self.changed.notify_all();
    }

    /// Expires timers by `CLOCK_MONOTONIC`, until the lane is stopped.
    pub(crate) fn run(&self, expire: impl Fn(&Expired<T>)) {
        let mut expired = Vec::new();
        let mut state = self.state.lock();
        while !state.stops {
            let now = clock::nanos();
            state.wheel.advance(now, &mut expired);
            if expired.is_empty() {
                state.wakes_at = state.wheel.next();
                match state.wakes_at {
                    None => self.changed.wait(&mut state),
                    Some(next) => {
                        let left = Duration::from_nanos(next.saturating_sub(now));
                        match Instant::now().checked_add(left) {
                            Some(until) => {
                                self.changed.wait_until(&mut state, until);
                            }
                            None => self.changed.wait(&mut state),
                        }
                    }
                }
                continue;
            }
            // Meanwhile it looks by itself.
            state.wakes_at = Some(0);
            drop(state);
            expired.drain(..).for_each(|timer| expire(&timer));
            state = self.state.lock();
        }
    }

    /// Wakes the thread if it would sleep beyond the next timer.
    fn wake(&self, state: &State<T>) {
        let Some(next) = state.wheel.next() else {
            return;
        };
        if state.wakes_at.is_none_or(|wakes_at| next < wakes_at) {
            self.changed.notify_all();
        }
    }
}
