//! Sends one-way requests when their time has come: those that were buffered, and those that the transport keeps back
//! in a flood.
//!
//! One thread at a time *leads*: it waits until a connection is due, and looks after it. Before it sends what was
//! buffered, which takes as long as the server lets it, it steps down, and another leads where more is due: a server
//! that has stalled delays no other's requests. So it is for up to [`MOST`] less one that have stalled at a time; with
//! more, requests to others wait until the first of these is given up.

use crate::lane::outgoing::connection::ClientConnection;
use punctual_exec::{ThreadGroup, ThreadSpec};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// How many threads there may be.
const MOST: usize = 8;

/// Connections with requests that wait, and the threads for all of them. The first comes with the first connection,
/// another when one is due while no other thread is free.
#[derive(Debug)]
pub(crate) struct Flusher {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// What the leader waits for.
    changed: Condvar,
    /// What a thread in reserve waits for.
    vacant: Condvar,
    threads: ThreadGroup,
    spec: ThreadSpec,
}

#[derive(Debug, Default)]
struct State {
    due: Vec<(Instant, Weak<ClientConnection>)>,
    /// Whether a thread leads, or was started to.
    is_led: bool,
    /// Whether a thread waits that may lead.
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

    /// Has the connection's requests sent at `due`, if they still wait then. `false` when nobody will.
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

    /// Looks in that time whether a connection beside others is needed still.
    pub(in crate::lane) fn look_after(&self, time: Duration, connection: &Arc<ClientConnection>) {
        self.schedule(Instant::now() + time, connection);
    }

    /// Ends the threads.
    pub(crate) fn close(&self) {
        self.shared.lock().over = true;
        self.shared.changed.notify_one();
        self.shared.vacant.notify_one();
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

    /// The place of the entry that is due first, and when it is.
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

    /// Has a thread lead, as none does. `false` when there is none.
    fn appoint(self: &Arc<Self>, mut state: MutexGuard<'_, State>) -> bool {
        if state.has_reserve {
            self.vacant.notify_one();
            return true;
        }
        let shared = self.clone();
        let started = self.threads.spawn(&self.spec, move || shared.run());
        state.is_led = started.is_ok();
        // A subscriber to what is logged may send one-ways itself.
        drop(state);
        let Err(error) = started else {
            return true;
        };
        if !self.threads.is_empty() {
            // Those that are sending lead when they have sent.
            return true;
        }
        tracing::warn!("no thread to send requests in time: {error}; they are sent at once");
        false
    }

    /// Leads at first, and again whenever no other thread does.
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

    /// Until it has stepped down.
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

    /// Whether the thread leads afterwards.
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
