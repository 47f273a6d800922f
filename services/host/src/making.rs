//! Bound of the long answers that are made at a time.
//!
//! A short request may have a service make a long answer. As many threads as there are connections
//! could do so at once, each with its memory, and none would be faster for it: the others wait.

use parking_lot::{Condvar, Mutex};
use std::cell::Cell;
use std::marker::PhantomData;

/// Number of answers that are made at a time, for each processor.
const FOR_EACH_PROCESSOR: usize = 2;

thread_local! {
    static MAKES: Cell<bool> = const { Cell::new(false) };
}

/// Limit on the number of threads that compute long answers at the same time.
#[derive(Debug)]
pub struct Makers {
    free: Mutex<usize>,
    freed: Condvar,
}

/// Permit to compute a long answer, which is returned when it is dropped.
#[derive(Debug)]
pub struct Making<'m> {
    of: Option<&'m Makers>,
    /// Marker that keeps the permit on the thread that obtained it.
    _here: PhantomData<*const ()>,
}

impl Default for Makers {
    /// Makes the bound for the processors of this process: two for each.
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self::new(FOR_EACH_PROCESSOR * processors)
    }
}

impl Makers {
    /// Makes a bound of so many threads, and one at least.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self {
            free: Mutex::new(most.max(1)),
            freed: Condvar::new(),
        }
    }

    /// Waits until the calling thread may make an answer. A thread that makes one already does not
    /// wait.
    pub fn make(&self) -> Making<'_> {
        let is_outermost = !MAKES.get();
        if is_outermost {
            let mut free = self.free.lock();
            while *free == 0 {
                self.freed.wait(&mut free);
            }
            *free -= 1;
            MAKES.set(true);
        }
        Making {
            of: is_outermost.then_some(self),
            _here: PhantomData,
        }
    }
}

impl Drop for Making<'_> {
    fn drop(&mut self) {
        if let Some(makers) = self.of {
            MAKES.set(false);
            *makers.free.lock() += 1;
            makers.freed.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn no_more_threads_make_answers_at_a_time_than_may() {
        let makers = Makers::new(2);
        let (now, most) = (AtomicU32::new(0), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    let _making = makers.make();
                    let _part = makers.make();
                    most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    std::thread::yield_now();
                    now.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        assert!((1..=2).contains(&most.into_inner()));
        assert_eq!(*makers.free.lock(), 2);
    }
}
