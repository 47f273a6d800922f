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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_thread_is_allowed_its_processor_only() {
        std::thread::spawn(|| {
            let first = allowed().unwrap()[0];
            pin_to(first).unwrap();
            assert_eq!(allowed().unwrap(), [first]);
            assert_eq!(current(), first);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_processor_out_of_range_is_refused() {
        assert!(pin_to(usize::MAX).is_err());
    }
}
