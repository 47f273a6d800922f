//! The thread that lets time pass for all connections of a link.
//!
//! It runs while there are connections. One that has sent something says when it wants to be looked
//! at; an acknowledgement that comes in time changes nothing here, so that a busy connection wakes
//! the thread once a time-out, not once a message.

use super::connection::Shared;
use punctual_exec::{Deadline, ThreadSpec};
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

#[derive(Debug)]
pub(super) struct Driver {
    begin: Instant,
    state: Mutex<State>,
    changed: Condvar,
    /// Some connection that was closed has delivered all, or is over.
    delivered: Condvar,
}

#[derive(Debug, Default)]
struct State {
    connections: Vec<Weak<Shared>>,
    next: Option<Duration>,
    running: bool,
    /// How often a connection has delivered all.
    settled: u64,
}

impl Driver {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            begin: Instant::now(),
            state: Mutex::default(),
            changed: Condvar::new(),
            delivered: Condvar::new(),
        })
    }

    /// Time as the link's connections count it.
    pub(super) fn now(&self) -> Duration {
        self.begin.elapsed()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks after `connection` from now on.
    ///
    /// # Errors
    /// When there is no thread to be had.
    pub(super) fn register(self: &Arc<Self>, connection: &Arc<Shared>) -> io::Result<()> {
        let mut state = self.lock();
        state.connections.push(Arc::downgrade(connection));
        if !state.running {
            let driver = self.clone();
            ThreadSpec::named("punctual-timers").start(move || driver.run())?;
            state.running = true;
        }
        drop(state);
        self.wake_by(Duration::ZERO);
        Ok(())
    }

    /// Some connection wants to be looked at by `time`.
    pub(super) fn wake_by(&self, time: Duration) {
        let mut state = self.lock();
        if state.next.is_none_or(|next| time < next) {
            state.next = Some(time);
            drop(state);
            self.changed.notify_one();
        }
    }

    /// Waits until what was written to connections that are closed has arrived, or is given up; at
    /// most until `deadline`.
    pub(super) fn settle(&self, deadline: Deadline) {
        let mut state = self.lock();
        loop {
            let known = state.connections.clone();
            let seen = state.settled;
            drop(state);
            let living = known.iter().filter_map(Weak::upgrade);
            let delivering = living.filter(|known| known.is_delivering()).count();
            let left = deadline.remaining().unwrap_or(Duration::MAX);
            if delivering == 0 || left.is_zero() {
                return;
            }
            let waited = self
                .delivered
                .wait_timeout_while(self.lock(), left, |state| {
                    // What happened since the connections were looked at counts.
                    state.settled == seen
                });
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// A connection that was closed has delivered all, or is over.
    pub(super) fn delivered(&self) {
        self.lock().settled += 1;
        self.delivered.notify_all();
    }

    fn run(&self) {
        while let Some(connections) = self.due() {
            for connection in connections {
                match connection.tick() {
                    Some(next) => self.wake_by(next),
                    None => self.forget(&connection),
                }
            }
        }
    }

    /// A connection is over; whoever holds it needs no timers any more.
    fn forget(&self, connection: &Arc<Shared>) {
        let gone = Arc::downgrade(connection);
        let mut guard = self.lock();
        guard.connections.retain(|known| !known.ptr_eq(&gone));
        drop(guard);
        self.delivered();
    }

    /// Waits until a connection is to be looked at, and returns all; `None` when there are no more.
    fn due(&self) -> Option<Vec<Arc<Shared>>> {
        let mut state = self.lock();
        loop {
            let now = self.now();
            match state.next {
                Some(next) if next > now => {
                    let waited = self.changed.wait_timeout(state, next - now);
                    state = waited.unwrap_or_else(PoisonError::into_inner).0;
                    continue;
                }
                Some(_) => {}
                // Every living connection has a next time; without one there is none.
                None => {
                    state.connections.retain(|known| known.strong_count() > 0);
                    if state.connections.is_empty() {
                        state.running = false;
                        return None;
                    }
                }
            }
            state.next = None;
            state.connections.retain(|known| known.strong_count() > 0);
            return Some(state.connections.iter().filter_map(Weak::upgrade).collect());
        }
    }
}
