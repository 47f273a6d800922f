//! Limits and times of a repository.

use std::time::Duration;

/// Limits of the servers that a repository knows, and the times that it gives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum number of servers.
    pub servers: usize,
    /// Maximum number of activators.
    pub activators: usize,
    /// Maximum number of clients that wait for one server.
    pub waiting: usize,
    /// Time within which a started server has to register.
    pub start: Duration,
    /// Time for which another process of a server waits for the end of one that has said that it ends, or answers no longer.
    pub end: Duration,
    /// Time within which a server has to answer whether it lives. One that does not is taken for slow, not for dead.
    pub ping: Duration,
    /// Time that a server has to live after it has registered, or its start counts as failed.
    pub settle: Duration,
    /// Pause after the first failed start; each further one doubles it.
    pub first_pause: Duration,
    /// Longest pause after failed starts.
    pub longest_pause: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            servers: 10_000,
            activators: 1_000,
            waiting: 10_000,
            start: Duration::from_secs(60),
            end: Duration::from_secs(30),
            ping: Duration::from_secs(10),
            settle: Duration::from_secs(1),
            first_pause: Duration::from_millis(500),
            longest_pause: Duration::from_secs(60),
        }
    }
}
