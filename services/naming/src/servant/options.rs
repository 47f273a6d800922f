//! Options of serving.

use std::time::Duration;

/// Options with which a naming service is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServeOptions {
    /// True if names that lead through contexts of other servers are resolved there; otherwise the
    /// client is asked to continue there itself, by CannotProceed. If true, every peer that may
    /// bind a context can make the server call any address. Default: true.
    pub federated: bool,
    /// Time limit of a call to another server. Default: 5 s.
    pub federated_timeout: Duration,
    /// Interval at which the members of groups are asked whether they exist; with `None` they are
    /// never asked. Only if `federated` is true, as this makes the server call other addresses,
    /// too. Default: 10 s.
    pub group_check: Option<Duration>,
    /// Time after which a dead member is removed; with `None` it never is. Default: 60 s.
    pub group_remove: Option<Duration>,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            federated: true,
            federated_timeout: Duration::from_secs(5),
            group_check: Some(Duration::from_secs(10)),
            group_remove: Some(Duration::from_secs(60)),
        }
    }
}
