//! Whether an object that is bound is there.

use std::time::Duration;

use punctual::protocol::endpoints_of;
use punctual::{ObjectRef, Orb, SystemExceptionKind as Kind};
use punctual_ior::Ior;

/// What comes of asking an object whether it exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Its server answers for it.
    Alive,
    /// Its server says that it does not exist.
    Dead,
    /// Nobody answers, and why.
    Unreachable(String),
}

impl Answer {
    /// Whether an object may be asked that somebody else's reference leads to: not if it is reached by links within this
    /// machine, unless the ORB's configuration lets references of others lead to those (`foreign_local_endpoints`).
    #[must_use]
    pub fn may_be_asked(object: &ObjectRef) -> bool {
        Self::may_ask(object.orb(), object.ior())
    }

    /// The same, of a reference as it was read.
    #[must_use]
    pub fn may_ask(orb: &Orb, object: &Ior) -> bool {
        let endpoints = endpoints_of(orb, object);
        let is_within = endpoints
            .iter()
            .any(|one| one.address.host_and_port().is_none());
        !is_within || orb.config().foreign_local_endpoints
    }

    /// Asks an object (`_non_existent`), for so long at most. Blocks.
    #[must_use]
    pub fn of(object: &ObjectRef, within: Duration) -> Self {
        match object.with_timeout(within).non_existent() {
            Ok(false) => Answer::Alive,
            Ok(true) => Answer::Dead,
            Err(exception) if exception.kind() == Kind::ObjectNotExist => Answer::Dead,
            Err(exception) if is_from_afar(exception.kind()) => {
                Answer::Unreachable(exception.to_string())
            }
            // Whatever else its server says of it: it is there.
            Err(_) => Answer::Alive,
        }
    }
}

fn is_from_afar(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Transient | Kind::CommFailure | Kind::Timeout | Kind::NoResponse | Kind::InvObjref
    )
}
