//! Work that is shared among all processors.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// Collection that several threads add to.
#[derive(Debug, Default)]
pub(crate) struct Shared<T>(Mutex<T>);

impl<T> Shared<T> {
    pub(crate) fn new(value: T) -> Self {
        Shared(Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        // A thread that panicked ends the generator.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Default> Shared<T> {
    pub(crate) fn take(&self) -> T {
        std::mem::take(&mut *self.lock())
    }
}

/// Returns the result of `work` for each part, in the order of the parts.
pub(crate) fn map<T: Sync, R: Send>(parts: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = match parts.len() {
        0..FEW => 1,
        many => thread::available_parallelism()
            .map_or(1, NonZero::get)
            .min(many),
    };
    let next = AtomicUsize::new(0);
    let take = || {
        // Relaxed: the parts were there before the threads.
        let at = next.fetch_add(1, Ordering::Relaxed);
        Some((at, parts.get(at)?))
    };
    let worker = || -> Vec<(usize, R)> {
        let taken = std::iter::from_fn(take);
        taken.map(|(at, part)| (at, work(part))).collect()
    };
    let mut done = thread::scope(|scope| {
        let started = (1..threads).map(|_| thread::Builder::new().spawn_scoped(scope, worker));
        // Where no more threads are available, the existing ones do the work.
        let others: Vec<_> = started.filter_map(Result::ok).collect();
        let mut done = worker();
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done
    });
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Number of parts up to which a thread is not worth its cost.
const FEW: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_parts() {
        for count in [0, 1, FEW - 1, FEW, 1000] {
            let parts: Vec<usize> = (0..count).collect();
            let doubled = map(&parts, |part| part * 2);
            assert!(doubled.iter().copied().eq((0..count).map(|part| part * 2)));
        }
    }

    #[test]
    fn a_panic_in_a_part_is_the_callers() {
        let parts: Vec<usize> = (0..100).collect();
        let caught = std::panic::catch_unwind(|| map(&parts, |&part| assert_ne!(part, 70)));
        assert!(caught.is_err());
    }
}
