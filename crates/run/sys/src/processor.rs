//! Processors available to this process, and pinning to one.

use crate::scheduling;
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use std::fmt;
use std::io;

/// Set of processors that a thread may run on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Processors(CpuSet);

impl Processors {
    /// Makes a set of processors by their numbers.
    ///
    /// # Errors
    /// `InvalidInput` for a number that no processor can have, and for an empty list.
    pub fn of(numbers: &[usize]) -> io::Result<Self> {
        let mut set = CpuSet::new();
        for &number in numbers {
            if number >= CpuSet::MAX_CPU {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            set.set(number);
        }
        if numbers.is_empty() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Ok(Self(set))
    }

    /// Returns the processors that the calling thread may run on.
    ///
    /// # Errors
    /// Errors of `sched_getaffinity(2)`.
    pub fn own() -> io::Result<Self> {
        Ok(Self(sched_getaffinity(None)?))
    }

    /// Returns the numbers of the processors in the set, in ascending order.
    pub fn numbers(&self) -> impl Iterator<Item = usize> + '_ {
        (0..CpuSet::MAX_CPU).filter(|&number| self.0.is_set(number))
    }

    /// Restricts the calling thread, and every thread that it starts from now on, to the processors
    /// of the set.
    ///
    /// # Errors
    /// `InvalidInput` when it may run on none of them.
    pub fn pin_own(&self) -> io::Result<()> {
        Ok(sched_setaffinity(None, &self.0)?)
    }
}

impl fmt::Debug for Processors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.numbers()).finish()
    }
}

/// Returns the processors that this process may run on, in ascending order.
///
/// # Errors
/// Errors of `sched_getaffinity(2)`.
pub fn allowed() -> io::Result<Vec<usize>> {
    Ok(Processors::own()?.numbers().collect())
}

/// Returns the number of processors that the machine has running, including those that this process
/// may not use. Where the kernel does not say, returns the number that it may use.
#[must_use]
pub fn online() -> usize {
    let listed = std::fs::read_to_string("/sys/devices/system/cpu/online");
    let counted = listed.ok().and_then(|list| count(list.trim()));
    counted.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, Into::into))
}

/// Counts the numbers in a list such as `0-3,5`; returns `None` for a malformed list.
#[must_use]
pub fn count(list: &str) -> Option<usize> {
    let mut ranges = list.split(',').map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        last.checked_sub(first)?.checked_add(1)
    });
    ranges.try_fold(0_usize, |sum, range: Option<usize>| sum.checked_add(range?))
}

/// Returns the number of processors that the process's main thread may run on, even if other
/// threads are pinned elsewhere. 1 where the kernel does not say. One system call.
#[must_use]
pub fn of_process() -> u32 {
    sched_getaffinity(Some(rustix::process::getpid())).map_or(1, |set| set.count())
}

/// Returns the number of processors that the calling thread may run on; 1 where the kernel does not
/// say. One system call.
#[must_use]
pub fn own_count() -> u32 {
    sched_getaffinity(None).map_or(1, |set| set.count())
}

/// Returns the processor that the calling thread runs on; it may run on another the next moment.
/// Enters the kernel only where the machine requires it.
#[must_use]
pub fn current() -> usize {
    sched_getcpu()
}

/// Pins the calling thread, and every thread it starts from now on, to one processor.
///
/// # Errors
/// `EINVAL` when the processor is not one of [`allowed`].
pub fn pin_to(cpu: usize) -> io::Result<()> {
    Processors::of(&[cpu])?.pin_own()
}

/// Returns whether the calling thread is scheduled ahead of every ordinary one (`SCHED_FIFO`,
/// `SCHED_RR`, `SCHED_DEADLINE`).
///
/// # Errors
/// Errors of `sched_getscheduler(2)`.
pub fn is_real_time() -> io::Result<bool> {
    Ok(scheduling::own()?.is_real_time())
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
            assert_eq!(own_count(), 1);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_list_of_processors_is_counted_and_what_is_none_is_not() {
        assert_eq!(count("0"), Some(1));
        assert_eq!(count("0-3,5,8-9"), Some(7));
        assert_eq!(count("3-1"), None);
        assert_eq!(count(""), None);
        assert_eq!(count("0-18446744073709551614,0-5"), None);
        assert!(online() >= allowed().unwrap().len());
    }

    #[test]
    fn a_processor_out_of_range_is_refused_and_so_is_none_at_all() {
        assert!(pin_to(usize::MAX).is_err());
        assert!(Processors::of(&[]).is_err());
    }

    #[test]
    fn a_set_holds_the_processors_it_was_made_of() {
        let set = Processors::of(&[5, 2, 5]).unwrap();
        assert_eq!(set.numbers().collect::<Vec<_>>(), [2, 5]);
        assert_eq!(format!("{set:?}"), "{2, 5}");
        assert_eq!(
            Processors::own().unwrap().numbers().collect::<Vec<_>>(),
            allowed().unwrap()
        );
    }
}
