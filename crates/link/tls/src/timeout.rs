//! Time-outs of a socket, set again only when they change.

use punctual_sys::stream::{Direction, set_timeout};
use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Cached time-out of one direction.
///
/// Relaxed is enough: only the holder of the direction's lock touches it.
#[derive(Debug)]
pub(crate) struct CachedTimeout {
    direction: Direction,
    microseconds: AtomicU64,
}

/// Marker of an unknown time-out, which no valid number of microseconds equals.
const UNKNOWN: u64 = u64::MAX;

impl CachedTimeout {
    /// Makes a cache that knows nothing of the socket's time-out yet.
    pub(crate) const fn new(direction: Direction) -> Self {
        Self {
            direction,
            microseconds: AtomicU64::new(UNKNOWN),
        }
    }

    /// Sets the time-out; `None` waits for ever; at least a microsecond.
    pub(crate) fn set(&self, socket: impl AsFd, timeout: Option<Duration>) -> io::Result<()> {
        let most = u128::from(UNKNOWN - 1);
        let micros = |timeout: Duration| timeout.as_micros().clamp(1, most);
        let wanted = u64::try_from(timeout.map_or(0, micros)).unwrap_or(UNKNOWN);
        if self.microseconds.load(Ordering::Relaxed) != wanted {
            set_timeout(socket, self.direction, timeout)?;
            self.microseconds.store(wanted, Ordering::Relaxed);
        }
        Ok(())
    }
}
