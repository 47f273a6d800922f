//! Errors of event stores.

use std::fmt;

use punctual_host::store::StoreError;
use thiserror::Error;

use super::name::Name;

/// Reason why a store of events has not done what it was asked for.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DurableError {
    /// The log has its maximum number of events or bytes, and refuses more. A store in a file has stored nothing;
    /// JetStream may have stored the first events, if they did not fit into one batch or had a repeat among them.
    #[error(
        "log {log} is full: its quota of {quota} is reached, and readers have yet to acknowledge"
    )]
    Full {
        /// Name of the log.
        log: Name,
        /// Limit that is reached.
        quota: Limit,
    },
    /// An event is longer than the store takes. Nothing was stored.
    #[error("the event has {bytes} bytes, and log {log} takes at most {most}")]
    TooLong {
        /// Name of the log.
        log: Name,
        /// Length of the event, in bytes.
        bytes: u64,
        /// Length of the longest event that the store takes, in bytes.
        most: u64,
    },
    /// The reader is open already, in this process or, where the store knows, in another one.
    #[error("reader {reader} of log {log} is in use")]
    ReaderInUse {
        /// Name of the log.
        log: Name,
        /// Name of the reader.
        reader: Name,
    },
    /// The log or the reader was removed while it was in use.
    #[error("{0} was removed")]
    Removed(String),
    /// The store cannot be reached, or has no majority of its servers. Nothing of the call was stored, or it
    /// may be repeated with the same ids.
    #[error("the store of events is away: {0}")]
    Away(String),
    /// The store has not said in time if the events are stored. They may be, all or some; appending
    /// them again with the same ids stores none twice.
    #[error("it is unknown if the events are stored: {0}")]
    Unknown(String),
    /// The settings, or the state that the store has, do not permit the call.
    #[error("{0}")]
    Invalid(String),
    /// The embedded store cannot be opened, read or written. Nothing was stored.
    #[error("the store of events: {0}")]
    Store(#[from] StoreError),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for DurableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Limit of a quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Limit of the number of events.
    Events(u64),
    /// Limit of the events' bytes.
    Bytes(u64),
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Events(events) => write!(f, "{events} events"),
            Limit::Bytes(bytes) => write!(f, "{bytes} bytes"),
        }
    }
}
