//! Lease of a supplier without an object, which cannot be asked whether it exists.

use parking_lot::Mutex;
use punctual::stub::PeerConnection;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Lease of a supplier. It ends when the supplier's connection has closed and no push has come for the lease's time.
pub(crate) struct Lease {
    time: Duration,
    /// A push has come since the last look.
    is_used: AtomicBool,
    state: Mutex<State>,
}

struct State {
    connection: PeerConnection,
    /// Time of the last look that found a push, or of the connection.
    used: Instant,
}

impl Lease {
    /// Makes the lease of a supplier that has just connected.
    pub(crate) fn new(connection: PeerConnection, time: Duration) -> Self {
        Self {
            time,
            is_used: AtomicBool::new(false),
            state: Mutex::new(State {
                connection,
                used: Instant::now(),
            }),
        }
    }

    /// Notes a push. `connection` returns the one over which it came; called for the first push after a look.
    #[inline]
    pub(crate) fn renew(&self, connection: impl FnOnce() -> PeerConnection) {
        if !self.is_used.load(Ordering::Relaxed) {
            self.is_used.store(true, Ordering::Relaxed);
            self.state.lock().connection = connection();
        }
    }

    /// Returns whether the lease still holds.
    pub(crate) fn holds(&self) -> bool {
        let mut state = self.state.lock();
        if self.is_used.swap(false, Ordering::Relaxed) {
            state.used = Instant::now();
        }
        state.connection.exists() || state.used.elapsed() < self.time
    }
}
