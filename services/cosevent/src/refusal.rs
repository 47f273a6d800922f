//! Reasons for which an operation is refused, and their exceptions.

use punctual::{SystemException, SystemExceptionKind as Kind};
use punctual_events::{ConnectionError, NotMade};
use punctual_host::store::StoreError;
use thiserror::Error;

/// Reason for which an operation of the event service is refused.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The proxy is connected already.
    #[error("the proxy is connected already: obtain another one")]
    AlreadyConnected,
    /// The proxy is not connected, or not any more.
    #[error("the proxy is not connected: obtain one, and connect it")]
    Disconnected,
    /// The object of a typed proxy is called before the proxy is connected.
    #[error(
        "the proxy is not connected yet: call its `connect_push_supplier` or `connect_pull_consumer` first"
    )]
    NotConnected,
    /// The peer's reference is nil, where the proxy has to call it.
    #[error("the {0} is nil, and the channel could not call it: connect an object")]
    Nil(&'static str),
    /// An event is larger than the service takes.
    #[error(
        "the event has {bytes} bytes, and the service takes {limit}: raise `event-bytes`, or send less"
    )]
    EventTooLarge {
        /// Bytes of the event with its type.
        bytes: usize,
        /// Largest number of bytes.
        limit: usize,
    },
    /// The maximum number of objects of some kind exists already.
    #[error("there are {limit} {what} already: raise `{option}`, or remove some")]
    Full {
        /// Subject of the limit.
        what: &'static str,
        /// Setting of the limit.
        option: &'static str,
        /// Limit.
        limit: usize,
    },
    /// Too many calls of `pull`, or of an operation of a typed proxy's object, wait at one proxy.
    #[error(
        "{0} calls of the operation wait at the proxy already: raise `waiting-pulls`, or call `try_pull` or `try_…`"
    )]
    TooManyPulls(usize),
    /// The peer has no right to create channels or to supply events.
    #[error("the peer may neither create channels nor supply events")]
    NotPermitted,
    /// Calls of an interface cannot be events of the channel.
    #[error("the interface `{id}` is not supported: {reason}")]
    Unsupported {
        /// Repository id of the interface.
        id: String,
        /// Reason for which its calls cannot be events.
        reason: String,
    },
    /// A name of a channel is not allowed.
    #[error("{0}")]
    BadName(String),
    /// Another channel has the name.
    #[error("there is a channel `{0}` already")]
    NameTaken(String),
    /// The channel has been destroyed.
    #[error("the channel has been destroyed")]
    Destroyed,
    /// Connections that were kept are not served yet, of which the proxy may be one.
    #[error("the connection is not served yet, or has ended: call again later")]
    NotServedYet,
    /// The service is being shut down.
    #[error("the event service is being shut down: connect again later")]
    Ending,
    /// The gate of the channel has refused an event.
    #[error("{0}")]
    Gate(SystemException),
    /// The machine or the ORB lacks something.
    #[error("{0}")]
    NoResources(String),
    /// The change could not be stored.
    #[error("it could not be stored: {0}")]
    Storage(String),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl From<ConnectionError> for Refusal {
    fn from(error: ConnectionError) -> Self {
        match error {
            ConnectionError::AlreadyConnected => Self::AlreadyConnected,
            ConnectionError::Disconnected => Self::Disconnected,
        }
    }
}

impl From<NotMade> for Refusal {
    fn from(error: NotMade) -> Self {
        Self::NoResources(error.0)
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::Storage(error.to_string())
    }
}

/// Converts refusals to exceptions, for operations without a matching user exception.
impl From<Refusal> for SystemException {
    fn from(refusal: Refusal) -> Self {
        let kind = match &refusal {
            Refusal::Gate(exception) => return exception.clone(),
            Refusal::AlreadyConnected | Refusal::NotConnected => Kind::BadInvOrder,
            Refusal::Nil(_)
            | Refusal::BadName(_)
            | Refusal::NameTaken(_)
            | Refusal::Unsupported { .. } => Kind::BadParam,
            Refusal::Disconnected | Refusal::Destroyed => Kind::ObjectNotExist,
            Refusal::EventTooLarge { .. } => Kind::ImpLimit,
            Refusal::Full { .. } | Refusal::NoResources(_) => Kind::NoResources,
            Refusal::TooManyPulls(_) | Refusal::NotServedYet | Refusal::Ending => Kind::Transient,
            Refusal::NotPermitted => Kind::NoPermission,
            Refusal::Storage(_) => Kind::PersistStore,
        };
        kind.because(refusal.to_string())
    }
}
