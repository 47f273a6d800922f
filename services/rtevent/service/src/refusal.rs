//! Reasons for which an operation is refused, and their exceptions.

use crate::rtec_event_channel_admin::{AlreadyConnected, TypeError};
use punctual::stub::DispatchError;
use punctual::{CompletionStatus, SystemException, SystemExceptionKind as Kind};
use punctual_rtevent::{ConnectError, PushError};
use std::fmt;
use thiserror::Error;

/// Reason for which an operation of the service is refused.
#[derive(Clone, Error)]

pub(crate) enum Refusal {
    /// The proxy has a peer already, and may not change it.
    #[error("the proxy is connected already")]
    AlreadyConnected,
    /// The proxy was disconnected, or never connected.
    #[error("the proxy is not connected: obtain another one")]
    NotConnected,
    /// The peer's reference is nil.
    #[error("the consumer is nil")]
    Nil,
    /// The channel refuses the connection.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The channel refuses the events.
    #[error(transparent)]
    Push(#[from] PushError),
    /// A limit of the service is reached.
    #[error("there are {limit} {what} already: raise `{setting}`, or disconnect some")]
    Full {
        /// Subject of the limit.
        what: &'static str,
        /// Setting of the limit.
        setting: &'static str,
        /// Limit.
        limit: usize,
    },
    /// The peer has no right to use the channel.
    #[error("the peer may not use the channel: `allow` names those that may")]
    NotPermitted,
    /// The service does not let clients destroy its channel.
    #[error("clients may not destroy the channel: `can-destroy` lets them")]
    NotDestroyed,
    /// The service has not been activated, or ends.
    #[error("the service is not active: {0}")]
    Inactive(String),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Converts refusals to exceptions, for operations without a matching user exception.
impl From<Refusal> for SystemException {
    fn from(refusal: Refusal) -> Self {
        let kind = match &refusal {
            Refusal::Nil => Kind::BadParam,
            Refusal::AlreadyConnected | Refusal::NotConnected => Kind::BadInvOrder,
            Refusal::Connect(ConnectError::Destroyed | ConnectError::Disconnected)
            | Refusal::Push(PushError::Disconnected) => Kind::ObjectNotExist,
            Refusal::Connect(ConnectError::Filter(_)) => Kind::BadParam,
            Refusal::Push(PushError::TooLarge { .. }) => Kind::ImpLimit,
            Refusal::Connect(_) | Refusal::Full { .. } => Kind::NoResources,
            Refusal::NotPermitted | Refusal::NotDestroyed => Kind::NoPermission,
            Refusal::Inactive(_) => Kind::Transient,
            Refusal::Push(_) => Kind::Internal,
        };
        SystemException::new(kind, 0, CompletionStatus::No).with_detail(refusal.to_string())
    }
}

impl From<Refusal> for DispatchError {
    fn from(refusal: Refusal) -> Self {
        Self::System(refusal.into())
    }
}

/// User exception of a refusal to connect, if there is one.
pub(crate) enum Raised {
    AlreadyConnected(AlreadyConnected),
    Type(TypeError),
}

impl Refusal {
    /// Returns the user exception that operations for connecting raise for the refusal.
    pub(crate) const fn raised(&self) -> Option<Raised> {
        match self {
            Self::AlreadyConnected => Some(Raised::AlreadyConnected(AlreadyConnected)),
            Self::Connect(ConnectError::Filter(_)) => Some(Raised::Type(TypeError)),
            _ => None,
        }
    }
}
