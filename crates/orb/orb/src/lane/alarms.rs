//! Timers that wake calls which are held back by the limit on calls in flight (`AtBound::Defer`)
//! when their time-out passes, even if nothing has arrived.
//!
//! A lane has one timer for all of them. The thread that reads the lane's replies also waits for
//! the timer.

use parking_lot::Mutex;
use punctual_exec::reactor::{Handler, ReadyEvent};
use punctual_sys::clock::nanos;
use punctual_sys::event::TimerFd;
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

/// Pending alarms of one lane, each of which wakes a task at a set time.
pub(super) struct Alarms {
    timer: TimerFd,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Wakers by due time, in nanoseconds of the exact clock, and by a number that distinguishes
    /// alarms due at the same time.
    set: BTreeMap<(u64, u64), Waker>,
    next: u64,
}

/// Pending alarm, which is cancelled when this value is dropped.
pub(crate) struct Alarm {
    alarms: Arc<Alarms>,
    key: (u64, u64),
}

impl Alarms {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            timer: TimerFd::new()?,
            state: Mutex::default(),
        })
    }

    /// Sets an alarm that wakes `waker` at `due`, in nanoseconds of the exact clock, or soon after
    /// it, never before.
    pub(super) fn set(self: &Arc<Self>, due: u64, waker: Waker) -> io::Result<Alarm> {
        let mut state = self.state.lock();
        state.next += 1;
        let key = (due, state.next);
        let is_first = state
            .set
            .first_key_value()
            .is_none_or(|(first, _)| key < *first);
        state.set.insert(key, waker);
        let alarm = Alarm {
            alarms: self.clone(),
            key,
        };
        match is_first.then(|| self.timer.set(from_now(due))) {
            Some(Err(error)) => {
                drop(state);
                Err(error)
            }
            _ => Ok(alarm),
        }
    }

    /// Wakes the tasks of all alarms that are due.
    fn ring(&self) {
        let due = {
            let mut state = self.state.lock();
            let later = state.set.split_off(&(nanos() + 1, 0));
            let due = std::mem::replace(&mut state.set, later);
            if let Some(((next, _), _)) = state.set.first_key_value()
                && let Err(error) = self.timer.set(from_now(*next))
            {
                tracing::error!("the timer for calls that are held back failed: {error}");
            }
            due
        };
        for waker in due.into_values() {
            waker.wake();
        }
    }
}

fn from_now(due: u64) -> Duration {
    Duration::from_nanos(due.saturating_sub(nanos()))
}

impl Handler for Alarms {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.timer.as_fd())
    }

    fn ready(self: Arc<Self>, _event: &mut ReadyEvent<'_>) {
        self.ring();
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        let waker = self.alarms.state.lock().set.remove(&self.key);
        // Dropping a waker may set another alarm, so the lock must not be held.
        drop(waker);
    }
}

impl fmt::Debug for Alarms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Alarms")
            .field("set", &self.state.lock().set.len())
            .finish_non_exhaustive()
    }
}
