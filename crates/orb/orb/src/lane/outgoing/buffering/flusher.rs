//! Threads that send one-way requests when they are due: those that were buffered, and those that the transport holds
//! back in a flood.
//!
//! One thread at a time is the *leader*: it waits until a connection is due and then checks it. Before it sends
//! buffered requests, which a slow server may delay, it gives up the lead, and another thread leads if more connections
//! are due. So a stalled server does not delay the requests to others, as long as fewer than [`MOST`] servers have
//! stalled at a time.

use crate::lane::outgoing::connection::ClientConnection;
use punctual_exec::{ThreadGroup, ThreadSpec};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Maximum number of threads that flush the buffers of one lane.
const MOST: usize = 8;

/// Connections with requests to be sent later, and the threads that send them. The first thread is started for the
/// first connection; another one is started when a connection is due and no thread is free.
#[derive(Debug)]
pub(crate) struct Flusher {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Condition variable on which the leading flusher thread waits.
    changed: Condvar,
    /// Condition variable on which an idle flusher thread waits to become the leader.
    vacant: Condvar,
    threads: ThreadGroup,
    spec: ThreadSpec,
}

#[derive(Debug, Default)]
struct State {
    due: Vec<(Instant, Weak<ClientConnection>)>,
    /// True if a thread is the leader, or has been started to become it.
    is_led: bool,
    /// True if an idle thread waits to become the leader.
    has_reserve: bool,
    over: bool,
}

impl Flusher {
    pub(crate) fn new(spec: ThreadSpec) -> Self {
        Self {
            shared: Arc::new(Shared {
                state: Mutex::default(),
                changed: Condvar::new(),
                vacant: Condvar::new(),
                threads: ThreadGroup::new(MOST),
                spec: spec.with_name("punctual-flush"),
            }),
        }
    }

    /// Schedules the sending of the connection's requests at `due`, if they are still queued then.
    /// Returns `false` if no thread is available.
    pub(crate) fn schedule(&self, due: Instant, connection: &Arc<ClientConnection>) -> bool {
        let mut state = self.shared.lock();
        if state.over {
            return false;
        }
        state.note(due, Arc::downgrade(connection));
        if state.is_led {
            self.shared.changed.notify_one();
            return true;
        }
        self.shared.appoint(state)
    }

    /// Schedules a check, after `time`, whether a connection beside the first one is still needed.
    pub(in crate::lane) fn look_after(&self, time: Duration, connection: &Arc<ClientConnection>) {
        self.schedule(Instant::now() + time, connection);
    }

    /// Ends the threads that flush the lane's buffers.
    pub(crate) fn close(&self) {
        self.shared.lock().over = true;
        self.shared.changed.notify_one();
        self.shared.vacant.notify_one();
    }
}

impl State {
    /// Adds a connection, unless it is already scheduled: later requests are sent with the earlier
    /// ones.
    fn note(&mut self, due: Instant, connection: Weak<ClientConnection>) {
        let mut entries = self.due.iter_mut();
        match entries.find(|(_, one)| Weak::ptr_eq(one, &connection)) {
            Some((earlier, _)) => *earlier = due.min(*earlier),
            None => self.due.push((due, connection)),
        }
    }

    /// Returns the index and the due time of the entry that is due first.
    fn first(&self) -> Option<(usize, Instant)> {
        let entries = self.due.iter().enumerate();
        entries
            .map(|(place, (due, _))| (place, *due))
            .min_by_key(|(_, due)| *due)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a thread the leader if there is none; returns `false` if no thread is available.
    fn appoint(self: &Arc<Self>, mut state: MutexGuard<'_, State>) -> bool {
        if state.has_reserve {
            self.vacant.notify_one();
            return true;
        }
        let shared = self.clone();
        let started = self.threads.spawn(&self.spec, move || shared.run());
        state.is_led = started.is_ok();
        // A subscriber to the log may send one-ways itself, so the lock must be released.
        drop(state);
        let Err(error) = started else {
            return true;
        };
        if !self.threads.is_empty() {
            // Threads that are sending will lead when they have sent.
            return true;
        }
        tracing::warn!("no thread to send requests in time: {error}; they are sent at once");
        false
    }

    /// Body of a flusher thread: leads at first, and again whenever no other thread does.
    fn run(self: &Arc<Self>) {
        let mut state = self.lock();
        loop {
            state = self.lead(state);
            while state.is_led && !state.over {
                if state.has_reserve {
                    return;
                }
                state.has_reserve = true;
                let waited = self.vacant.wait(state);
                state = waited.unwrap_or_else(PoisonError::into_inner);
                state.has_reserve = false;
            }
            if state.over {
                return;
            }
            state.is_led = true;
        }
    }

    /// Runs the leader's work until the thread gives up the lead.
    fn lead<'s>(self: &'s Arc<Self>, mut state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        while !state.over {
            let now = Instant::now();
            state = match state.first() {
                None => self
                    .changed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner),
                Some((place, due)) if due <= now => {
                    let (_, connection) = state.due.swap_remove(place);
                    drop(state);
                    let leads = self.look_at(&connection);
                    let state = self.lock();
                    if !leads {
                        return state;
                    }
                    state
                }
                Some((_, due)) => {
                    let waited = self
                        .changed
                        .wait_timeout(state, due.saturating_duration_since(now));
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        state
    }

    /// Checks a connection and sends what is due; returns whether the thread still leads.
    fn look_at(self: &Arc<Self>, one: &Weak<ClientConnection>) -> bool {
        let Some(connection) = one.upgrade() else {
            return true;
        };
        let mut leads = true;
        let flushed = connection.flush_in_time(|| {
            leads = false;
            self.step_down();
        });
        let looks = [flushed, connection.look_whether_needed()];
        if let Some(again) = looks.into_iter().flatten().min() {
            self.lock().note(Instant::now() + again, one.clone());
            self.changed.notify_one();
        }
        leads
    }

    fn step_down(self: &Arc<Self>) {
        let mut state = self.lock();
        state.is_led = false;
        if !state.due.is_empty() {
            self.appoint(state);
        }
    }
}
