//! A crew: threads of one purpose, counted, named, bounded, and waited for.

use crate::Deadline;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Threads that serve one purpose.
#[derive(Clone, Debug)]
pub struct Crew {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    limit: usize,
    count: Mutex<usize>,
    changed: Condvar,
}

/// Why a crew took on no thread.
#[derive(Debug)]
pub enum SpawnError {
    /// It has as many as it may have.
    Full {
        /// How many that is.
        limit: usize,
    },
    /// The operating system gave none.
    Os(io::Error),
}

impl std::fmt::Display for SpawnError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Full { limit } => write!(f, "all {limit} threads are in use"),
            Self::Os(error) => write!(f, "the operating system gave no thread: {error}"),
        }
    }
}

impl std::error::Error for SpawnError {}

impl Crew {
    /// A crew of at most `limit` threads.
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

    /// Starts a thread. `name` shows in the operating system's listings, cut to 15 octets.
    ///
    /// # Errors
    /// [`SpawnError::Full`] at the limit, [`SpawnError::Os`] when there is no thread to be had.
    pub fn spawn(
        &self,
        name: &str,
        work: impl FnOnce() + Send + 'static,
    ) -> Result<(), SpawnError> {
        {
            let mut count = self.lock();
            if *count >= self.shared.limit {
                return Err(SpawnError::Full {
                    limit: self.shared.limit,
                });
            }
            *count += 1;
        }
        let leave = Leave(self.clone());
        let started = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                let _leave = leave;
                work();
            });
        // On failure the closure is dropped, and with it the place it had taken.
        started.map(drop).map_err(SpawnError::Os)
    }

    /// How many threads are at work.
    #[must_use]
    pub fn len(&self) -> usize {
        *self.lock()
    }

    /// Whether no thread is at work.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Waits until at most `rest` threads are at work; false when the deadline passed first.
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

/// Gives a thread's place back, also when its work panicked.
struct Leave(Crew);

impl Drop for Leave {
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
    fn a_full_crew_refuses_and_takes_on_again_when_one_left() {
        let crew = Crew::new(1);
        let (release, wait) = mpsc::channel::<()>();
        crew.spawn("one", move || assert!(wait.recv().is_err()))
            .unwrap();
        assert!(matches!(
            crew.spawn("two", || {}),
            Err(SpawnError::Full { limit: 1 })
        ));
        assert!(!crew.wait_until_at_most(0, Deadline::after(Duration::from_millis(5))));
        drop(release);
        assert!(crew.wait_until_at_most(0, Deadline::NEVER));
        crew.spawn("three", || {}).unwrap();
        assert!(crew.wait_until_at_most(0, Deadline::NEVER));
    }

    #[test]
    fn a_panic_gives_the_place_back() {
        let crew = Crew::new(1);
        crew.spawn("panics", || panic!("on purpose")).unwrap();
        assert!(crew.wait_until_at_most(0, Deadline::after(Duration::from_secs(10))));
        assert!(crew.is_empty());
    }
}
