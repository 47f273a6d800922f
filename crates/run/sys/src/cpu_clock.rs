//! CPU clock of the calling thread: the time for which it has run on a processor
//! (`CLOCK_THREAD_CPUTIME_ID`).
//!
//! The kernel alone can tell it: the vDSO's `clock_gettime` would only find that out, and enter it
//! then. So on x86-64 the system call is made here, which is the one reason for `unsafe`.

use std::cell::Cell;

/// Place to which the kernel writes the time. Who keeps one spares the instructions that prepare it.
#[derive(Debug, Default)]
pub struct CpuClock {
    /// `timespec`: seconds and nanoseconds.
    now: Cell<[u64; 2]>,
}

impl CpuClock {
    /// Makes a place.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            now: Cell::new([0; 2]),
        }
    }

    /// Returns the nanoseconds for which the calling thread has run on a processor. A system call.
    #[inline(always)]
    #[must_use]
    pub fn nanos(&self) -> u64 {
        self.read();
        let [seconds, nanos] = self.now.get();
        seconds.wrapping_mul(1_000_000_000).wrapping_add(nanos)
    }

    #[inline(always)]
    #[cfg(target_arch = "x86_64")]
    fn read(&self) {
        // SAFETY: the call writes a `timespec`, two 64-bit integers, to `now`, and nothing else; it
        // preserves all registers but the result's, `rcx` and `r11`. Should it fail, which this clock
        // never does, `now` stays as it is.
        unsafe {
            core::arch::asm!(
                "syscall",
                inlateout("rax") libc::SYS_clock_gettime => _,
                in("rdi") libc::CLOCK_THREAD_CPUTIME_ID,
                in("rsi") self.now.as_ptr(),
                lateout("rcx") _,
                lateout("r11") _,
                options(nostack, preserves_flags),
            );
        }
    }

    #[inline]
    #[cfg(not(target_arch = "x86_64"))]
    fn read(&self) {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        let parts = [now.tv_sec.cast_unsigned(), now.tv_nsec.cast_unsigned()];
        self.now.set(parts);
    }
}

/// Returns the nanoseconds for which the calling thread has run on a processor. A system call.
#[inline]
#[must_use]
pub fn nanos() -> u64 {
    CpuClock::new().nanos()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::time::{ClockId, clock_gettime};

    #[test]
    fn it_is_the_clock_that_the_library_reads() {
        let library = || {
            let now = clock_gettime(ClockId::ThreadCPUTime);
            now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
        };
        let kept = CpuClock::new();
        for _ in 0..1000 {
            let (before, at, later, after) = (library(), nanos(), kept.nanos(), library());
            assert!(
                before <= at && at <= later && later <= after,
                "{before} {at} {later} {after}"
            );
        }
    }
}
