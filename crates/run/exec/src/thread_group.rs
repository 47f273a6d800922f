//! Thread group: threads of one purpose, counted, named, bounded, and waited for.

use crate::Deadline;
use crate::thread::{SpawnError, ThreadSpec};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Group of threads that serve one purpose and are counted together.
#[derive(Clone, Debug)]
pub struct ThreadGroup {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    limit: usize,
    count: Mutex<usize>,
    changed: Condvar,
}

impl ThreadGroup {
    /// Makes a group of at most `limit` threads.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        let shared = Shared {
            limit,
            count: Mutex::new(0),
            changed: Condvar::new(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Starts a thread of the group.
    ///
    /// # Errors
    /// [`SpawnError::Full`] at the limit, else those of [`ThreadSpec::start`].
    pub fn spawn(
        &self,
        spec: impl Into<ThreadSpec>,
        work: impl FnOnce() + Send + 'static,
    ) -> Result<(), SpawnError> {
        let counted = self.count_in()?;
        let started = spec.into().start(move || {
            let _counted = counted;
            work();
        });
        // On failure the closure was dropped, which uncounts the thread.
        started.map(drop)
    }

    /// Counts one more thread until the returned guard is dropped.
    fn count_in(&self) -> Result<Counted, SpawnError> {
        let mut count = self.lock();
        if *count >= self.shared.limit {
            return Err(SpawnError::Full {
                limit: self.shared.limit,
            });
        }
        *count += 1;
        Ok(Counted(self.clone()))
    }

    /// Returns the number of running threads in the group.
    #[must_use]
    pub fn len(&self) -> usize {
        *self.lock()
    }

    /// Returns whether no thread of the group is running.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Waits until at most `rest` threads run; returns `false` if the deadline passed first.
    #[must_use]
    pub fn wait_until_at_most(&self, rest: usize, deadline: Deadline) -> bool {
        let mut count = self.lock();
        while *count > rest {
            count = match deadline.remaining() {
                None => self
                    .shared
                    .changed
                    .wait(count)
                    .unwrap_or_else(PoisonError::into_inner),
                Some(left) if left.is_zero() => return false,
                Some(left) => {
                    let waited = self.shared.changed.wait_timeout(count, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, usize> {
        self.shared
            .count
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Guard of a counted thread, which also uncounts it when its work panics.
struct Counted(ThreadGroup);

impl Drop for Counted {
    fn drop(&mut self) {
        *self.0.lock() -= 1;
        self.0.shared.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::time::Duration;

    #[test]
    fn a_full_group_refuses_and_starts_again_when_a_thread_has_ended() {
        let group = ThreadGroup::new(1);
        let (release, wait) = mpsc::channel::<()>();
        group
            .spawn("one", move || assert!(wait.recv().is_err()))
            .unwrap();
        assert!(matches!(
            group.spawn("two", || {}),
            Err(SpawnError::Full { limit: 1 })
        ));
        assert!(!group.wait_until_at_most(0, Deadline::after(Duration::from_millis(5))));
        drop(release);
        assert!(group.wait_until_at_most(0, Deadline::NEVER));
        group.spawn("three", || {}).unwrap();
        assert!(group.wait_until_at_most(0, Deadline::NEVER));
    }

    #[test]
    fn a_thread_that_panics_is_counted_out() {
        let group = ThreadGroup::new(1);
        group.spawn("panics", || panic!("on purpose")).unwrap();
        assert!(group.wait_until_at_most(0, Deadline::after(Duration::from_secs(10))));
        assert!(group.is_empty());
    }
}
