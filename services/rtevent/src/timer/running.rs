//! Timers of one owner, which run until it ends.

use super::lane::Lane;
use super::slots::Key;
use parking_lot::Mutex;
use std::sync::Arc;

/// Timers of one owner, in lanes of their levels.
pub(crate) struct Running<T> {
    state: Mutex<State<T>>,
}

struct State<T> {
    timers: Vec<(Arc<Lane<T>>, Key)>,
    has_ended: bool,
}

impl<T: Clone> Running<T> {
    pub(crate) fn new() -> Self {
        let state = State {
            timers: Vec::new(),
            has_ended: false,
        };
        Self {
            state: Mutex::new(state),
        }
    }

    /// Starts a further timer for a time, unless the owner has ended.
    pub(crate) fn add(&self, lane: &Arc<Lane<T>>, value: T, at: u64) {
        let mut state = self.state.lock();
        if !state.has_ended {
            let key = lane.add(value, at);
            state.timers.push((lane.clone(), key));
        }
    }

    /// Starts a timer again.
    pub(crate) fn start(&self, timer: usize, at: u64) {
        let state = self.state.lock();
        if let Some((lane, key)) = state.timers.get(timer) {
            lane.start(*key, at);
        }
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.state.lock().has_ended
    }

    /// Removes all timers; there will be no others.
    pub(crate) fn end(&self) {
        let timers = {
            let mut state = self.state.lock();
            state.has_ended = true;
            std::mem::take(&mut state.timers)
        };
        for (lane, key) in timers {
            lane.remove(key);
        }
    }
}
