//! Timer thread of all connections of a link.
//!
//! It runs while there are connections. A connection with data in flight schedules its next check;
//! an acknowledgement that comes in time changes nothing here, so that a busy connection wakes the
//! thread once a time-out, not once a message.

use punctual_exec::{Deadline, ThreadSpec};
use std::fmt::Debug;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Connection, as far as the timer thread uses it.
pub(super) trait Timed: Send + Sync + Debug {
    /// Advances the connection's time; returns when to check it again, `None` once it is over.
    fn tick(&self) -> Option<Duration>;

    /// Returns whether the connection was closed and still delivers written data to its peer.
    fn is_delivering(&self) -> bool;
}

#[derive(Debug)]
pub(super) struct Driver {
    begin: Instant,
    state: Mutex<State>,
    changed: Condvar,
    /// Signalled when a closed connection has delivered all its data, or is over.
    delivered: Condvar,
}

#[derive(Debug, Default)]
struct State {
    connections: Vec<Weak<dyn Timed>>,
    next: Option<Duration>,
    running: bool,
    /// Number of connections that have delivered all their data.
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

    /// Returns the current time, counted from the start of the driver, as all its connections use
    /// it.
    pub(super) fn now(&self) -> Duration {
        self.begin.elapsed()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers `connection` for timer checks.
    ///
    /// # Errors
    /// When no thread can be started.
    pub(super) fn register(self: &Arc<Self>, connection: &Arc<dyn Timed>) -> io::Result<()> {
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

    /// Lets the timer thread check the connections at `time` at the latest.
    pub(super) fn wake_by(&self, time: Duration) {
        let mut state = self.lock();
        if state.next.is_none_or(|next| time < next) {
            state.next = Some(time);
            drop(state);
            self.changed.notify_one();
        }
    }

    /// Waits until the data written to closed connections has arrived, or is given up; at most
    /// until `deadline`.
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
                    // Changes since the connections were checked must not be missed.
                    state.settled == seen
                });
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Records that a closed connection has delivered all its data, or is over.
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

    /// Removes a connection that is over and needs no timers any more.
    fn forget(&self, connection: &Arc<dyn Timed>) {
        let gone = Arc::downgrade(connection);
        let mut guard = self.lock();
        guard.connections.retain(|known| !known.ptr_eq(&gone));
        drop(guard);
        self.delivered();
    }

    /// Waits until a check is due, and returns all connections; `None` when there are no more.
    fn due(&self) -> Option<Vec<Arc<dyn Timed>>> {
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
                // Every living connection has a next time; so none is alive.
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
