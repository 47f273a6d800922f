//! Answers to the question whether an object exists.

use std::time::Duration;

use punctual::protocol::endpoints_of;
use punctual::{ObjectRef, Orb, SystemExceptionKind as Kind};
use punctual_ior::Ior;

/// Answer to the question whether an object exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The object's server replies that the object exists.
    Alive,
    /// The object's server reports that it does not exist.
    Dead,
    /// No server answers for the object, for this reason.
    Unreachable(String),
}

impl Answer {
    /// Returns true if it is permitted to ask an object, whose reference came from a peer, whether
    /// it exists. It is not if the object is reached by links within this machine, unless the ORB's
    /// configuration permits that for foreign references (`foreign_local_endpoints`).
    #[must_use]
    pub fn may_be_asked(object: &ObjectRef) -> bool {
        Self::may_ask(object.orb(), object.ior())
    }

    /// Returns true if the object of a decoded reference [may be asked](Self::may_be_asked).
    #[must_use]
    pub fn may_ask(orb: &Orb, object: &Ior) -> bool {
        let endpoints = endpoints_of(orb, object);
        let is_within = endpoints
            .iter()
            .any(|one| one.address.host_and_port().is_none());
        !is_within || orb.config().foreign_local_endpoints
    }

    /// Asks an object whether it exists (`_non_existent`), and waits at most this long. Blocks.
    #[must_use]
    pub fn of(object: &ObjectRef, within: Duration) -> Self {
        match object.with_timeout(within).non_existent() {
            Ok(false) => Answer::Alive,
            Ok(true) => Answer::Dead,
            Err(exception) if exception.kind() == Kind::ObjectNotExist => Answer::Dead,
            Err(exception) if is_of_the_way(exception.kind()) => {
                Answer::Unreachable(exception.to_string())
            }
            // Any other exception of its server's means that the object is there.
            Err(_) => Answer::Alive,
        }
    }
}

/// Returns true for exceptions that mean that no server has answered, as opposed to exceptions from
/// the server.
fn is_of_the_way(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Transient | Kind::CommFailure | Kind::Timeout | Kind::NoResponse | Kind::InvObjref
    )
}
