//! Calls to the objects of clients: their time limit, and the question whether the objects exist.

use std::time::Duration;

use punctual::{Interface, SystemException, SystemExceptionKind as Kind, minor};

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

/// Returns whether an exception of a call says that the peer does not exist any more. One for wide text, for which the
/// peer's reference has no code set, says nothing of the peer: other calls reach it.
#[must_use]
pub fn is_gone(exception: &SystemException) -> bool {
    match exception.kind() {
        Kind::ObjectNotExist => true,
        Kind::InvObjref => !is_of_wide_text(exception),
        _ => false,
    }
}

/// Returns whether a call was not made as its arguments have wide text, and the reference no code set for it.
fn is_of_wide_text(exception: &SystemException) -> bool {
    [minor::WIDE_NOT_SUPPORTED, minor::NO_CODE_SETS].contains(&exception.minor())
}

#[cfg(test)]
mod tests {
    use punctual::CompletionStatus;

    use super::*;

    #[test]
    fn wide_text_without_a_code_set_is_not_the_end_of_a_peer() {
        let gone = |kind, minor| is_gone(&SystemException::new(kind, minor, CompletionStatus::No));
        assert!(gone(Kind::ObjectNotExist, minor::NO_CODE_SETS));
        assert!(gone(Kind::InvObjref, 0));
        assert!(!gone(Kind::InvObjref, minor::NO_CODE_SETS));
        assert!(!gone(Kind::InvObjref, minor::WIDE_NOT_SUPPORTED));
        assert!(!gone(Kind::Transient, 0));
    }
}
