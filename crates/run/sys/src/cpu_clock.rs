//! CPU clock of the calling thread: the time for which it has run on a processor
//! (`CLOCK_THREAD_CPUTIME_ID`).
//!
//! The kernel alone can tell it: the vDSO's `clock_gettime` would only find that out, and enter it
//! then. So on x86-64 the system call is made here, which is the one reason for `unsafe`.

/// Returns the nanoseconds for which the calling thread has run on a processor. A system call.
#[inline(always)]
#[must_use]
#[cfg(target_arch = "x86_64")]
pub fn nanos() -> u64 {
    let mut now = [0_u64; 2];
    // SAFETY: the call writes a `timespec`, two 64-bit integers, to `now`, and nothing else; it
    // preserves all registers but the result's, `rcx` and `r11`. Should it fail, which this clock
    // never does, `now` stays 0.
    unsafe {
        core::arch::asm!(
            "syscall",
            inlateout("rax") libc::SYS_clock_gettime => _,
            in("rdi") libc::CLOCK_THREAD_CPUTIME_ID,
            in("rsi") now.as_mut_ptr(),
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack, preserves_flags),
        );
    }
    let [seconds, nanos] = now;
    seconds.wrapping_mul(1_000_000_000).wrapping_add(nanos)
}

/// Returns the nanoseconds for which the calling thread has run on a processor. A system call.
#[inline]
#[must_use]
#[cfg(not(target_arch = "x86_64"))]
pub fn nanos() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
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
        for _ in 0..1000 {
            let (before, at, after) = (library(), nanos(), library());
            assert!(before <= at && at <= after, "{before} {at} {after}");
        }
    }
}
