//! Observers that are running.

use std::sync::atomic::{AtomicU64, Ordering};

/// Observers that are running: an upcall reads one word for all.
static RUNNING: AtomicU64 = AtomicU64::new(0);

/// Bit of the timeline. The bits above it are the number of the recording.
const TIMELINE: u64 = 1;

/// Observers of upcalls that are running: a recording of [`crate::measurement`], by its number, and a
/// [`crate::timeline`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observers(u64);

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
        self.0 & TIMELINE != 0
    }

    /// Returns the number of the recording that is running; 0 if none is.
    #[inline(always)]
    pub(crate) fn recording(self) -> u64 {
        self.0 / (2 * TIMELINE)
    }

    /// Observers of an upcall that is recorded, and not in a timeline.
    pub(crate) fn of_recording(number: u64) -> Self {
        Self(number * 2 * TIMELINE)
    }
}

/// Records that a timeline has started or ended.
pub(crate) fn set_timeline(is_running: bool) {
    match is_running {
        true => RUNNING.fetch_or(TIMELINE, Ordering::Relaxed),
        false => RUNNING.fetch_and(!TIMELINE, Ordering::Relaxed),
    };
}

/// Records that a recording has started, while none was running; or, with the number 0, that it has ended.
pub(crate) fn set_recording(number: u64) {
    match number {
        0 => RUNNING.fetch_and(TIMELINE, Ordering::Relaxed),
        _ => RUNNING.fetch_or(Observers::of_recording(number).0, Ordering::Relaxed),
    };
}
