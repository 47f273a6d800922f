//! Discipline of the time of day: what the daemon that steers the kernel's clock has told it (`adjtimex(2)`).
//!
//! The structure is the C library's, which rustix lacks; that is the one reason for `unsafe`.

use std::io;
use std::time::Duration;

/// State of the kernel's clock, as a daemon for PTP or NTP keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Discipline {
    /// A daemon keeps the clock synchronised (`STA_UNSYNC` is clear).
    pub is_synchronised: bool,
    /// Seconds that TAI is ahead of UTC; 0 if no daemon has told the kernel, and `CLOCK_TAI` is `CLOCK_REALTIME`.
    pub tai_offset: i32,
    /// Offset that the kernel still corrects, in nanoseconds.
    pub offset: i64,
    /// Estimated error of the clock.
    pub estimated_error: Duration,
    /// Largest error of the clock.
    pub maximum_error: Duration,
}

impl Discipline {
    /// Returns the state now. One system call; changes nothing.
    ///
    /// # Errors
    /// Those of the operating system: a container may refuse the call.
    pub fn now() -> io::Result<Self> {
        // SAFETY: the structure has numbers alone, for which zeros are valid.
        let mut state: libc::timex = unsafe { std::mem::zeroed() };
        // SAFETY: the call writes to the structure behind the pointer, which lives through it, and changes nothing as
        // `modes` is 0.
        let done = unsafe { libc::adjtimex(&raw mut state) };
        if done < 0 {
            return Err(io::Error::last_os_error());
        }
        let in_nanos = state.status & libc::STA_NANO != 0;
        let micros = |value: i64| Duration::from_micros(value.try_into().unwrap_or(0));
        Ok(Self {
            is_synchronised: state.status & libc::STA_UNSYNC == 0,
            tai_offset: state.tai,
            offset: wide(state.offset).saturating_mul(if in_nanos { 1 } else { 1_000 }),
            estimated_error: micros(wide(state.esterror)),
            maximum_error: micros(wide(state.maxerror)),
        })
    }

    /// Returns whether `CLOCK_TAI` holds: the clock is synchronised, and the kernel knows the offset of TAI.
    #[must_use]
    pub const fn has_tai(&self) -> bool {
        self.is_synchronised && self.tai_offset != 0
    }
}

/// Widens a number of the structure, which has 32 bits on some machines.
fn wide(value: impl Into<i64>) -> i64 {
    value.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_tells_an_offset_of_tai_that_can_be_or_refuses() {
        match Discipline::now() {
            // 37 s since 2017, and 0 without a daemon.
            Ok(discipline) => assert!((0..100).contains(&discipline.tai_offset), "{discipline:?}"),
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::PermissionDenied),
        }
    }

    #[test]
    fn tai_holds_on_a_clock_that_is_synchronised_and_has_its_offset() {
        let state = |is_synchronised, tai_offset| Discipline {
            is_synchronised,
            tai_offset,
            offset: 0,
            estimated_error: Duration::ZERO,
            maximum_error: Duration::ZERO,
        };
        assert!(state(true, 37).has_tai());
        assert!(!state(true, 0).has_tai() && !state(false, 37).has_tai());
    }
}
