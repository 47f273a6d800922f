//! Those who wait for a server: clients, whose requests are kept until they are forwarded, and administrators.

use punctual::asynchronous::PendingReply;
use punctual::poa::{DispatchError, Location, PendingLocation};
use punctual::{ObjectRef, Orb, Response, SystemException};

use super::outcome::{Failure, Outcome, Place};
use crate::implementation_repository::{AdministrationActivateServerError, CannotActivate};

/// Client or administrator that waits for a server to run. It occupies no thread.
#[derive(Debug)]
pub(crate) enum Waiter {
    /// Client whose request for an object of the server has come here.
    Client { pending: PendingReply, key: Vec<u8> },
    /// Client that asks where an object of the server is (LocateRequest).
    Locating {
        pending: PendingLocation,
        key: Vec<u8>,
    },
    /// Administrator who has called `activate_server`.
    Administrator(Response<(), AdministrationActivateServerError>),
    /// Nothing: the server is to run for its own sake.
    Nothing,
}

impl Waiter {
    /// Answers. One that has gone meanwhile is not an error.
    pub(crate) fn answer(self, orb: &Orb, outcome: Outcome) {
        let _has_gone = match self {
            Self::Client { pending, key } => {
                let answer = match outcome.map(|place| forward(orb, &place, &key)) {
                    Ok(Ok(object)) => DispatchError::forward(&object),
                    Ok(Err(exception)) => exception.into(),
                    Err(failure) => refused(&failure).into(),
                };
                pending.answer(|_| Err(answer))
            }
            Self::Locating { pending, key } => {
                let object = outcome
                    .map_err(|failure| refused(&failure))
                    .and_then(|place| forward(orb, &place, &key));
                match object {
                    Ok(object) => {
                        pending.answer(&Location::Forward(Box::new(object.ior().clone())));
                    }
                    // A client of a GIOP version without exceptions here sends its request, which is refused as well.
                    Err(exception) => pending.raise(&exception),
                }
                Ok(())
            }
            Self::Administrator(response) => match outcome {
                Ok(_) => response.reply(()),
                Err(Failure { reason, .. }) => response.raise(CannotActivate { reason }),
            },
            Self::Nothing => Ok(()),
        };
    }
}

fn refused(failure: &Failure) -> SystemException {
    let exception = failure.exception();
    tracing::info!("a client is refused: {exception}");
    exception
}

/// Returns the reference of an object of a server by its key: at the endpoints of the server's own object, whose profiles
/// have all that clients need, such as code sets; or else at the place that the server has given as text.
fn forward(orb: &Orb, place: &Place, key: &[u8]) -> Result<ObjectRef, SystemException> {
    match &place.object {
        Some(object) => object.with_object_key(key, ""),
        None => orb.string_to_object(&format!("{}{}", place.partial, escaped(key))),
    }
}

/// Returns an object key as a `corbaloc:` has it.
fn escaped(key: &[u8]) -> String {
    let mut text = String::with_capacity(key.len());
    for octet in key {
        match octet {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => text.push(char::from(*octet)),
            octet => text.push_str(&format!("%{octet:02x}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_is_text_is_completed_by_the_key() {
        let orb = Orb::builder().build().unwrap();
        let key = b"\x14\x01\x0f\0NUP/%pump\xff";
        let place = Place {
            partial: "corbaloc:iiop:1.2@h:7/".to_owned(),
            object: None,
        };
        let object = forward(&orb, &place, key).unwrap();
        assert_eq!(object.object_key().unwrap(), key);
        let place = Place {
            partial: "corbaloc:iiop:1.2@h:7".to_owned(),
            object: Some(orb.string_to_object("corbaloc::h:8/server").unwrap()),
        };
        let object = forward(&orb, &place, key).unwrap();
        assert_eq!(object.object_key().unwrap(), key);
    }
}
