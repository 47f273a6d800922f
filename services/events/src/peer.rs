//! Calls to the objects of clients: their time limit, and the question whether the objects exist.

use std::time::Duration;

use punctual::{Interface, SystemException, SystemExceptionKind as Kind};

/// Returns a reference to the same object, whose calls take no longer than the time.
#[must_use]
pub fn bounded<P: Interface>(peer: &P, time: Duration) -> P {
    P::from_object(peer.as_object().with_timeout(time))
}

/// Answer to the question whether a peer exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existence {
    /// It has answered.
    Exists,
    /// It did not answer in time, or could not be reached.
    Unknown,
    /// Its server knows no such object.
    Gone,
}

/// Asks a peer whether it exists. Blocks for the time limit of its reference.
pub fn existence(peer: &impl Interface) -> Existence {
    match peer.as_object().non_existent() {
        Ok(false) => Existence::Exists,
        Ok(true) => Existence::Gone,
        Err(exception) => match exception.kind() {
            // It answers, and knows nothing of this operation or refuses it to us.
            Kind::BadOperation | Kind::NoImplement | Kind::NoPermission => Existence::Exists,
            _ => Existence::Unknown,
        },
    }
}

/// Returns whether an exception of a call says that the peer does not exist any more.
#[must_use]
pub fn is_gone(exception: &SystemException) -> bool {
    matches!(exception.kind(), Kind::ObjectNotExist | Kind::InvObjref)
}
