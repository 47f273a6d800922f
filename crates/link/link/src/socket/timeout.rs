//! Socket time-outs that cost a system call only when they change.

use punctual_sys::stream::{Direction, set_timeout};
use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Cached time-out of a socket, set again only when it changes.
///
/// Relaxed is enough: only the one thread that sends, or that receives, touches it, and threads
/// that pass that right on synchronise.
#[derive(Debug)]
pub(crate) struct CachedTimeout {
    direction: Direction,
    /// Time-out in nanoseconds, `u64::MAX` for none, as in [`Deadline::timeout_nanos`].
    nanoseconds: AtomicU64,
}

impl CachedTimeout {
    pub(crate) fn new(direction: Direction) -> Self {
        Self {
            direction,
            nanoseconds: AtomicU64::new(u64::MAX),
        }
    }

    /// Returns whether the socket is already set to the given time-out.
    #[inline]
    pub(crate) fn is(&self, timeout: u64) -> bool {
        self.nanoseconds.load(Ordering::Relaxed) == timeout
    }

    pub(crate) fn set(&self, socket: impl AsFd, timeout: Option<Duration>) -> io::Result<()> {
        let wanted = timeout.map_or(u64::MAX, |timeout| {
            u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX)
        });
        if !self.is(wanted) {
            set_timeout(socket, self.direction, timeout)?;
            self.nanoseconds.store(wanted, Ordering::Relaxed);
        }
        Ok(())
    }
}
