//! The right of one process among several to serve, one at a time.

use std::fmt::Debug;

use crate::NotReady;

/// Right to serve, which a process waits for and may lose to another one.
pub trait Turn: Debug + Send + Sync {
    /// Waits until this process has the right. Returns false if `is_ending` returns true meanwhile, which is asked several
    /// times a second.
    ///
    /// # Errors
    /// The reason for which it cannot have it.
    fn wait(&self, is_ending: &mut dyn FnMut() -> bool) -> Result<bool, NotReady>;

    /// Returns the reason for which this process has lost the right, if it has.
    fn loss(&self) -> Option<String>;
}
