//! Time-outs that cost a system call only when they change.

use punctual_sys::stream::{Direction, set_timeout};
use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A socket's time-out, set again only when it changes.
///
/// Relaxed is enough: only the one thread that sends, or that receives, touches it, and whoever
/// hands that right on synchronises.
#[derive(Debug)]
pub(crate) struct CachedTimeout {
    direction: Direction,
    microseconds: AtomicU64,
}

impl CachedTimeout {
    pub(crate) fn new(direction: Direction) -> Self {
        Self {
            direction,
            microseconds: AtomicU64::new(0),
        }
    }

    pub(crate) fn set(&self, socket: impl AsFd, timeout: Option<Duration>) -> io::Result<()> {
        // 0 is the kernel's word for none, so the shortest time-out is one microsecond.
        let wanted = timeout.map_or(0, |timeout| {
            u64::try_from(timeout.as_micros())
                .unwrap_or(u64::MAX)
                .max(1)
        });
        if self.microseconds.load(Ordering::Relaxed) != wanted {
            set_timeout(socket, self.direction, timeout)?;
            self.microseconds.store(wanted, Ordering::Relaxed);
        }
        Ok(())
    }
}
