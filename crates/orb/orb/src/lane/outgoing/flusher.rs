//! Sends one-way requests when their time has come: those that were buffered, and those that the transport keeps back
//! in a flood.

use super::connection::ClientConnection;
use punctual_exec::ThreadGroup;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Connections with requests that wait, and one thread for all of them, which comes with the first.
#[derive(Debug)]
pub(crate) struct Flusher {
    shared: Arc<Shared>,
    thread: ThreadGroup,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    due: Vec<(Instant, Weak<ClientConnection>)>,
    running: bool,
    over: bool,
}

impl Flusher {
    pub(crate) fn new() -> Self {
        Self {
            shared: Arc::default(),
            thread: ThreadGroup::new(1),
        }
    }

    /// Has the connection's requests sent at `due`, if they still wait then. `false` when nobody will.
    pub(crate) fn schedule(&self, due: Instant, connection: &Arc<ClientConnection>) -> bool {
        let mut state = self.shared.lock();
        if state.over {
            return false;
        }
        if !state.running {
            let shared = self.shared.clone();
            if let Err(error) = self.thread.spawn("punctual-flush", move || shared.run()) {
                tracing::warn!(
                    "no thread to send requests in time: {error}; they are sent at once"
                );
                return false;
            }
            state.running = true;
        }
        state.note(due, Arc::downgrade(connection));
        self.shared.changed.notify_one();
        true
    }

    /// Looks in that time whether a connection beside others is needed still.
    pub(in crate::lane) fn look_after(&self, time: Duration, connection: &Arc<ClientConnection>) {
        self.schedule(Instant::now() + time, connection);
    }

    /// Ends the thread.
    pub(crate) fn close(&self) {
        self.shared.lock().over = true;
        self.shared.changed.notify_one();
    }
}

impl State {
    /// One entry for each: what was queued anew since goes out with what was there before.
    fn note(&mut self, due: Instant, connection: Weak<ClientConnection>) {
        let mut entries = self.due.iter_mut();
        match entries.find(|(_, one)| Weak::ptr_eq(one, &connection)) {
            Some((earlier, _)) => *earlier = due.min(*earlier),
            None => self.due.push((due, connection)),
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let mut state = self.lock();
        while !state.over {
            let now = Instant::now();
            let (due, later): (Vec<_>, Vec<_>) =
                state.due.drain(..).partition(|(due, _)| *due <= now);
            state.due = later;
            if !due.is_empty() {
                drop(state);
                let looked_at = due.into_iter().filter_map(|(_, one)| {
                    let connection = one.upgrade()?;
                    let looks = [connection.flush_in_time(), connection.look_whether_needed()];
                    let again = looks.into_iter().flatten().min()?;
                    Some((Instant::now() + again, one))
                });
                let again: Vec<_> = looked_at.collect();
                state = self.lock();
                again
                    .into_iter()
                    .for_each(|(due, one)| state.note(due, one));
                continue;
            }
            let next = state.due.iter().map(|(due, _)| *due).min();
            state = match next {
                None => self
                    .changed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner),
                Some(next) => {
                    let waited = self
                        .changed
                        .wait_timeout(state, next.saturating_duration_since(now));
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        state.running = false;
    }
}
