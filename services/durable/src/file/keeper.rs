//! Thread that stores acknowledgements a little after they came, and drops expired events.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use punctual_exec::ThreadSpec;
use punctual_exec::thread::JoinHandle;

use super::core::{Core, Operation};
use super::log::Log;
use crate::contract::{DurableError, Moment, Name};

/// Logs of a store, by their names.
pub(super) type Logs = Arc<Mutex<BTreeMap<Name, Arc<Log>>>>;

/// Interval at which expired events are looked for.
const EXPIRY: Duration = Duration::from_secs(1);

/// Thread of a store, which ends when this is dropped.
pub(super) struct Keeper {
    signal: Arc<Signal>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Signal {
    state: Mutex<SignalState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct SignalState {
    is_unsettled: bool,
    is_ended: bool,
}

impl fmt::Debug for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.signal.fmt(f)
    }
}

impl Keeper {
    /// Starts the thread, which stores acknowledgements `delay` after the first one.
    pub(super) fn start(
        core: Arc<Core>,
        logs: Logs,
        delay: Duration,
    ) -> Result<Self, DurableError> {
        let signal = Arc::<Signal>::default();
        let seen = signal.clone();
        let thread = ThreadSpec::named("durable").start(move || {
            while seen.wait(delay) {
                tick(&core, &logs);
            }
        });
        let thread = thread.map_err(|error| DurableError::Invalid(error.to_string()))?;
        Ok(Self {
            signal,
            thread: Some(thread),
        })
    }

    /// Notes that there are acknowledgements to store.
    pub(super) fn note_unsettled(&self) {
        let mut state = self.signal.state.lock();
        if !std::mem::replace(&mut state.is_unsettled, true) {
            self.signal.changed.notify_all();
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.signal.state.lock().is_ended = true;
        self.signal.changed.notify_all();
        // A panic of the thread has been reported where it happened.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Signal {
    /// Waits until there is something to do. Returns false at the end.
    fn wait(&self, delay: Duration) -> bool {
        let mut state = self.state.lock();
        if !state.is_unsettled && !state.is_ended {
            self.changed.wait_for(&mut state, EXPIRY);
        }
        if state.is_unsettled && !state.is_ended {
            self.changed.wait_for(&mut state, delay);
        }
        state.is_unsettled = false;
        !state.is_ended
    }
}

/// Drops what has expired, and stores what is not stored yet.
fn tick(core: &Core, logs: &Logs) {
    let now = Moment::now();
    let mut logs: Vec<Arc<Log>> = logs.lock().values().cloned().collect();
    logs.retain(|log| {
        let mut state = log.state.lock();
        state.expire(now);
        state.is_unsettled()
    });
    settle(core, logs);
}

/// Stores all acknowledgements of logs. After an error they are stored with a later commit.
pub(super) fn settle(core: &Core, logs: Vec<Arc<Log>>) {
    if logs.is_empty() {
        return;
    }
    if let Err(error) = core.perform(Operation::Settle(logs)) {
        tracing::warn!("acknowledgements of events are not stored yet: {error}");
    }
}
