//! Reasons for which an operation is refused, and their exceptions.

use punctual::{CompletionStatus, SystemException, SystemExceptionKind as Kind};
use punctual_durable::DurableError;
use punctual_events::{ConnectionError, NotMade};
use punctual_host::store::StoreError;
use thiserror::Error;

/// Reason for which an operation of the notification service is refused.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The proxy is connected already.
    #[error("the proxy is connected already: obtain another one")]
    AlreadyConnected,
    /// The proxy is not connected, or not any more.
    #[error("the proxy is not connected: obtain one, and connect it")]
    Disconnected,
    /// The peer's reference is nil, where the proxy has to call it.
    #[error("the {0} is nil, and the channel could not call it: connect an object")]
    Nil(&'static str),
    /// An event is larger than the service takes.
    #[error(
        "the event has {bytes} bytes, and the service takes {limit}: raise `event-bytes`, or send less"
    )]
    EventTooLarge {
        /// Bytes of the event with its types.
        bytes: usize,
        /// Largest number of bytes.
        limit: usize,
    },
    /// The channel holds as many events as its MaxQueueLength says, and is to reject others.
    #[error("the channel holds {0} events already, its MaxQueueLength: send it again later")]
    ChannelFull(usize),
    /// There are as many of something as there may be.
    #[error("there are {limit} {what} already: raise `{option}`, or remove some")]
    Full {
        /// Subject of the limit.
        what: &'static str,
        /// Setting of the limit.
        option: &'static str,
        /// Limit.
        limit: usize,
    },
    /// The channel has as many clients as the administrative property with this name says.
    #[error(
        "the channel has as many clients as its {0} says already: disconnect some, or raise it"
    )]
    TooManyClients(String),
    /// A number of events to pull is not positive.
    #[error("max_number is {0}: pull at least one event")]
    BadNumber(i32),
    /// Too many calls of `pull` wait at one proxy.
    #[error(
        "{0} calls of `pull` wait at the proxy already: raise `waiting-pulls`, or call `try_pull`"
    )]
    TooManyPulls(usize),
    /// The peer has no right to create channels or to supply events.
    #[error("the peer may neither create channels nor supply events")]
    NotPermitted,
    /// The filter is an object of another server, and the service asks none of these.
    #[error(
        "the filter is not of this service: create it with the channel's default_filter_factory, or start the service with \
         `foreign-filters` set to `allow`"
    )]
    FilterElsewhere,
    /// The object is a mapping filter where a filter is attached, or the other way round.
    #[error("the object is a filter of the other kind: attach a Filter, and set a MappingFilter")]
    OtherKind,
    /// The filter is an object of another server, which a push cannot wait for that is to be stored.
    #[error(
        "the channel has persistent events, or those of a log, and asks no filters of other servers about its suppliers' events: attach the filter \
         to consumers, or create one with the channel's default_filter_factory"
    )]
    FilterBeforeLog,
    /// As many events of a supplier wait for foreign filters as may.
    #[error("{0} events of the supplier wait for foreign filters already: send it again later")]
    TooManyUnfiltered(usize),
    /// The default administrator stays as long as its channel.
    #[error("the default administrator ends with its channel: destroy that")]
    DefaultAdmin,
    /// An object has been destroyed, or what it belongs to.
    #[error("the {0} has been destroyed")]
    Destroyed(&'static str),
    /// The service is being shut down.
    #[error("the notification service is being shut down: connect again later")]
    Ending,
    /// A change cannot be made durable, and is not made.
    #[error("the change cannot be stored, and is not made: {0}")]
    Storage(String),
    /// It is not known whether a change is durable.
    #[error("it is not known whether the change is stored: {0}")]
    StorageUnknown(String),
    /// The channel's log has its maximum of events or bytes.
    #[error(
        "the event is not taken: {0}. Raise `log-events` or `log-bytes`, or disconnect consumers that are away"
    )]
    LogFull(String),
    /// An event is longer than the store of events takes.
    #[error("the event is not taken: {0}")]
    TooLongForLog(String),
    /// An event has no form that can be stored.
    #[error("the event is not taken: it has no form that can be stored: {0}")]
    NotStorable(String),
    /// The store of events cannot be reached.
    #[error("the event is not taken: {0}. Send it again later")]
    LogAway(String),
    /// An event cannot be stored, or it is not known whether it is.
    #[error("the event is not known to be stored: {0}. Send it again, with the same EventId")]
    Unlogged(String),
    /// The channel is a part of another service.
    #[error("the channel is a part of another service: destroy its object there")]
    Embedded,
    /// The gate of the channel has refused events.
    #[error("{0}")]
    Gate(SystemException),
    /// The machine or the ORB lacks something.
    #[error("{0}")]
    NoResources(String),
}

impl Refusal {
    /// Returns whether events that are refused for this are refused each time.
    pub(crate) fn is_final(&self) -> bool {
        match self {
            Self::TooLongForLog(_)
            | Self::EventTooLarge { .. }
            | Self::NotStorable(_)
            | Self::Destroyed(_) => true,
            Self::Gate(exception) => {
                !matches!(exception.kind(), Kind::PersistStore | Kind::Transient)
            }
            _ => false,
        }
    }

    /// Returns whether events are refused as what is to take them is full, and may be taken later.
    pub(crate) const fn is_full(&self) -> bool {
        matches!(
            self,
            Self::ChannelFull(_) | Self::LogFull(_) | Self::TooManyUnfiltered(_)
        )
    }

    pub(crate) const fn too_many_types(limit: usize) -> Self {
        Self::Full {
            what: "event types of the client",
            option: "most-types",
            limit,
        }
    }
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
        match error {
            StoreError::Unknown(_) => Self::StorageUnknown(error.to_string()),
            _ => Self::Storage(error.to_string()),
        }
    }
}

impl From<DurableError> for Refusal {
    fn from(error: DurableError) -> Self {
        match error {
            DurableError::Full { .. } => Self::LogFull(error.to_string()),
            DurableError::TooLong { .. } => Self::TooLongForLog(error.to_string()),
            DurableError::Away(_) => Self::LogAway(error.to_string()),
            DurableError::Store(StoreError::NotStorable(reason)) => Self::NotStorable(reason),
            _ => Self::Unlogged(error.to_string()),
        }
    }
}

/// Converts refusals to exceptions, for operations without a matching user exception.
impl From<Refusal> for SystemException {
    fn from(refusal: Refusal) -> Self {
        let kind = match &refusal {
            Refusal::Gate(exception) => return exception.clone(),
            Refusal::AlreadyConnected | Refusal::DefaultAdmin | Refusal::Embedded => {
                Kind::BadInvOrder
            }
            Refusal::Nil(_) | Refusal::BadNumber(_) | Refusal::OtherKind => Kind::BadParam,
            Refusal::Disconnected | Refusal::Destroyed(_) => Kind::ObjectNotExist,
            Refusal::EventTooLarge { .. }
            | Refusal::ChannelFull(_)
            | Refusal::TooManyClients(_)
            | Refusal::LogFull(_)
            | Refusal::TooLongForLog(_)
            | Refusal::TooManyUnfiltered(_)
            | Refusal::Full { .. } => Kind::ImpLimit,
            Refusal::NotStorable(_) => Kind::DataConversion,
            Refusal::Storage(_) => Kind::PersistStore,
            Refusal::StorageUnknown(_) | Refusal::Unlogged(_) => {
                let unknown = SystemException::new(Kind::PersistStore, 0, CompletionStatus::Maybe);
                return unknown.with_detail(refusal.to_string());
            }
            Refusal::NoResources(_) => Kind::NoResources,
            Refusal::TooManyPulls(_) | Refusal::Ending | Refusal::LogAway(_) => Kind::Transient,
            Refusal::NotPermitted => Kind::NoPermission,
            Refusal::FilterElsewhere | Refusal::FilterBeforeLog => Kind::NoImplement,
        };
        kind.because(refusal.to_string())
    }
}
