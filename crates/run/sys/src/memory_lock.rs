//! Locking of the process's memory, so that no real-time thread waits for a page (`mlockall(2)`).

use rustix::mm::{MlockAllFlags, mlockall, munlockall};
use std::io;

/// Extent of the process memory that is locked into RAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Only memory that is mapped at the time of the call.
    Current,
    /// Memory mapped from now on, threads' stacks included, all of it at once.
    Future,
    /// Memory that is mapped now or in the future.
    All,
    /// Current and future memory, each page once it has been used: stacks take no more memory than
    /// they need.
    AllOnceUsed,
}

/// Locks the process's memory, so that none of it is swapped out. Replaces an earlier lock.
///
/// # Errors
/// `OutOfMemory` or `PermissionDenied` when the process may not lock that much (`RLIMIT_MEMLOCK`,
/// `CAP_IPC_LOCK`).
pub fn lock(extent: Extent) -> io::Result<()> {
    let flags = match extent {
        Extent::Current => MlockAllFlags::CURRENT,
        Extent::Future => MlockAllFlags::FUTURE,
        Extent::All => MlockAllFlags::CURRENT | MlockAllFlags::FUTURE,
        Extent::AllOnceUsed => {
            MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT
        }
    };
    Ok(mlockall(flags)?)
}

/// Unlocks all memory.
///
/// # Errors
/// Errors of `munlockall(2)`.
pub fn unlock() -> io::Result<()> {
    Ok(munlockall()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the amount of locked memory that the kernel reports, in KiB.
    fn locked() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmLck:"));
        let number = line.unwrap().trim().trim_end_matches(" kB");
        number.parse().unwrap()
    }

    #[test]
    fn memory_is_locked_until_it_is_unlocked() {
        match lock(Extent::AllOnceUsed) {
            Ok(()) => {}
            Err(error) => return eprintln!("skipped: this process may not lock memory ({error})"),
        }
        assert!(locked() > 0);
        let taken = std::hint::black_box(vec![1u8; 1 << 20]);
        lock(Extent::Current).unwrap();
        assert!(locked() > 1 << 10);
        drop(taken);
        unlock().unwrap();
        assert_eq!(locked(), 0);
    }
}
