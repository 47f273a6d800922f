//! Observers that are running.

use std::sync::atomic::{AtomicU8, Ordering};

/// Bits of the observers that are running: an upcall reads one word for all.
static RUNNING: AtomicU8 = AtomicU8::new(0);

/// Observer of upcalls, by its bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Observer {
    /// [`crate::measurement`].
    Measurement = 1,
    /// [`crate::timeline`].
    Timeline = 2,
}

/// Observers of upcalls that are running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observers(u8);

impl Observers {
    /// Returns those that are running now. For object adapters.
    // Relaxed: an upcall in progress is observed or not.
    #[inline(always)]
    #[must_use]
    pub fn running() -> Self {
        Self(RUNNING.load(Ordering::Relaxed))
    }

    /// Returns whether upcalls are being measured, or recorded in a timeline.
    #[inline(always)]
    #[must_use]
    pub fn has_any(self) -> bool {
        self.0 != 0
    }

    /// Returns whether a timeline is being recorded.
    #[inline(always)]
    #[must_use]
    pub fn has_timeline(self) -> bool {
        self.0 & Observer::Timeline as u8 != 0
    }
}

/// Records that an observer has started or ended.
pub(crate) fn set_running(observer: Observer, is_running: bool) {
    let bit = observer as u8;
    match is_running {
        true => RUNNING.fetch_or(bit, Ordering::Relaxed),
        false => RUNNING.fetch_and(!bit, Ordering::Relaxed),
    };
}
