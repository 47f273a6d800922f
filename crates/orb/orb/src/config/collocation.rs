//! Calls of objects in this process without a request: `collocation` and `collocation_scope`.

use super::error::{ConfigError, bad_value};
use crate::policy::Collocation;

/// ORBs whose objects count as objects of this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CollocationScope {
    /// Every ORB of the process that has this scope, too.
    #[default]
    Process,
    /// The ORB itself.
    Orb,
}

pub(super) const WAYS: &str = "thru_poa, direct or none";

pub(super) const SCOPES: &str = "process or orb";

pub(super) fn parse_way(key: &str, text: &str) -> Result<Collocation, ConfigError> {
    match text {
        "thru_poa" => Ok(Collocation::ThruPoa),
        "direct" => Ok(Collocation::Direct),
        "none" => Ok(Collocation::None),
        _ => Err(bad_value(key, text, WAYS)),
    }
}

pub(super) fn parse_scope(key: &str, text: &str) -> Result<CollocationScope, ConfigError> {
    match text {
        "process" => Ok(CollocationScope::Process),
        "orb" => Ok(CollocationScope::Orb),
        _ => Err(bad_value(key, text, SCOPES)),
    }
}
