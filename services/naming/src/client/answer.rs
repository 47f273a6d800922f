//! Whether an object that is bound is there.

use std::time::Duration;

use punctual::{ObjectRef, SystemExceptionKind as Kind};

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
