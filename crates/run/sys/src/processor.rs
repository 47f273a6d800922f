//! Processors: which there are for this process, and pinning to one.

use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use std::io;

/// The processors this process may run on, in ascending order.
///
/// # Errors
/// What `sched_getaffinity(2)` says.
pub fn allowed() -> io::Result<Vec<usize>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU)
        .filter(|&cpu| set.is_set(cpu))
        .collect())
}

/// Whether the calling thread may run on more than one processor. One system call.
#[must_use]
pub fn is_spare() -> bool {
    sched_getaffinity(None).is_ok_and(|set| set.count() > 1)
}

/// The processor that the calling thread runs on; it may run on another the next moment. Does not enter
/// the kernel where the machine can tell without.
#[must_use]
pub fn current() -> usize {
    sched_getcpu()
}

/// Pins the calling thread, and every thread it starts from now on, to one processor.
///
/// # Errors
/// `EINVAL` when the processor is not one of [`allowed`].
pub fn pin_to(cpu: usize) -> io::Result<()> {
    if cpu >= CpuSet::MAX_CPU {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut set = CpuSet::new();
    set.set(cpu);
    Ok(sched_setaffinity(None, &set)?)
}

/// Whether the calling thread is scheduled ahead of every ordinary one (`SCHED_FIFO`, `SCHED_RR`,
/// `SCHED_DEADLINE`). Reads a file: not for a warm path.
///
/// # Errors
/// Where `/proc` is not to be had, or says something else (`proc(5)`).
pub fn is_real_time() -> io::Result<bool> {
    /// Where the policy stands behind the program's name, from 0.
    const POLICY: usize = 38;
    const FIFO: &str = "1";
    const ROUND_ROBIN: &str = "2";
    const DEADLINE: &str = "6";
    let line = std::fs::read_to_string("/proc/thread-self/stat")?;
    // The name stands in brackets, and may hold brackets and blanks of its own.
    let policy = line
        .rsplit_once(')')
        .and_then(|(_, rest)| rest.split_ascii_whitespace().nth(POLICY));
    match policy {
        None => Err(io::ErrorKind::InvalidData.into()),
        Some(policy) => Ok([FIFO, ROUND_ROBIN, DEADLINE].contains(&policy)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_real_time_when_the_system_says_so() {
        assert!(!is_real_time().unwrap());
        let me = rustix::thread::gettid().as_raw_nonzero().to_string();
        let made = std::process::Command::new("chrt")
            .args(["--fifo", "--pid", "1", &me])
            .output();
        match made {
            Ok(made) if made.status.success() => assert!(is_real_time().unwrap()),
            _ => eprintln!("skipped: no chrt, or no right to use it"),
        }
    }

    #[test]
    fn a_pinned_thread_is_allowed_its_processor_only() {
        std::thread::spawn(|| {
            let first = allowed().unwrap()[0];
            pin_to(first).unwrap();
            assert_eq!(allowed().unwrap(), [first]);
            assert_eq!(current(), first);
            assert!(!is_spare());
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_processor_out_of_range_is_refused() {
        assert!(pin_to(usize::MAX).is_err());
    }
}
