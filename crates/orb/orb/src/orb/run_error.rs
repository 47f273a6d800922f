//! Errors of running an ORB until a signal.

use punctual_exec::SpawnError;
use std::fmt;
use std::time::Duration;

/// Reason why [`Orb::run_until`](crate::Orb::run_until) did not shut down the ORB in an orderly
/// way.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// Calls were still in progress when their time was over.
    #[error(
        "calls were still in progress after {0:?}: their clients get COMM_FAILURE, and cannot know whether they were done; \
         give them more time, or end servants' work sooner"
    )]
    StillInProgress(Duration),
    /// The thread that waits for signals cannot be started.
    #[error("no thread can wait for signals: {0}")]
    NoThread(SpawnError),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
