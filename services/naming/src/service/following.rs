//! Thread that follows the group service.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use punctual_exec::thread::{SpawnError, ThreadSpec};

/// Time between two questions to the group service what has changed.
pub(super) const INTERVAL: Duration = Duration::from_millis(250);

/// Thread that follows the group service, which ends when this is dropped.
#[derive(Debug, Default)]
pub(super) struct Following(Arc<End>);

#[derive(Debug, Default)]
struct End {
    has_come: Mutex<bool>,
    changed: Condvar,
}

impl Following {
    /// Starts the thread, which calls `follow` at intervals until that returns false.
    pub(super) fn begin(
        &self,
        mut follow: impl FnMut() -> bool + Send + 'static,
    ) -> Result<(), SpawnError> {
        let end = self.0.clone();
        // The thread ends by itself after the service was dropped, perhaps by that thread.
        let run = move || {
            while follow() && !end.wait() {}
        };
        ThreadSpec::named("naming-follows").start(run).map(drop)
    }
}

impl End {
    /// Waits for the interval, or for the end; returns true in the latter case.
    fn wait(&self) -> bool {
        let mut has_come = self.has_come.lock();
        if !*has_come {
            self.changed.wait_for(&mut has_come, INTERVAL);
        }
        *has_come
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        *self.0.has_come.lock() = true;
        self.0.changed.notify_all();
    }
}
