//! Connections that the budget of memory may close.

use std::fmt::Debug;

/// Connection that may be closed to free memory for others.
pub(crate) trait Evictable: Send + Sync + Debug {
    /// Closes the connection, and frees its bytes unless a thread is about to do so, without
    /// waiting and without logging; the reason is text for people.
    fn evict(&self, reason: &str);

    /// Logs that the connection was closed to make room.
    fn log_eviction(&self, reason: &str);
}
