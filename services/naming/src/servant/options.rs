//! Options of serving.

use std::time::Duration;

/// Options of serving a naming service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServeOptions {
    /// Whether names that lead through contexts of other servers are resolved there; else the client is told to go on
    /// there by itself, by CannotProceed. Whoever may bind a context can have the server call any address then.
    /// Default: true.
    pub federated: bool,
    /// How long a call to another server may take. Default: 5 s.
    pub federated_timeout: Duration,
    /// How often the members of groups are asked whether they exist; none are without it. Only where `federated` is
    /// true, as the server is led to other addresses by it, too. Default: 10 s.
    pub group_check: Option<Duration>,
    /// How long a member is dead before it is removed; none is without it. Default: 60 s.
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
