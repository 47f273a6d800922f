//! Reasons for which an operation is refused, and their exceptions.

use punctual::{SystemException, SystemExceptionKind as Kind};
use punctual_events::NotMade;
use punctual_host::store::StoreError;
use thiserror::Error;

use crate::ds_log_admin as idl;

/// Reason for which an operation is refused that has no exception of its own for it.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A record is larger than the service takes.
    #[error(
        "the record has {bytes} bytes, and the service takes {limit}: raise `record-bytes`, or write less"
    )]
    RecordTooLarge {
        /// Bytes of the record.
        bytes: usize,
        /// Largest number of bytes.
        limit: usize,
    },
    /// A record has more attributes than the service takes.
    #[error("the record has more than {0} attributes: raise `record-attributes`, or write fewer")]
    TooManyAttributes(usize),
    /// The attributes of a record do not fit into the log.
    #[error("the log has no room for the attributes: delete records, or raise its maximum size")]
    NoRoom,
    /// The maximum number of logs exists already.
    #[error("there are {0} logs already: raise `most-logs`, or destroy some")]
    TooManyLogs(usize),
    /// A constraint takes too much work.
    #[error("the constraint takes more than {0} steps: raise `query-steps`, or narrow it")]
    TooMuchWork(u32),
    /// The peer has no right to change logs.
    #[error("the peer may neither change logs nor write to them")]
    NotPermitted,
    /// The log, or the iterator, does not exist any more.
    #[error("the {0} has been destroyed")]
    Destroyed(&'static str),
    /// The machine or the ORB lacks something.
    #[error("{0}")]
    NoResources(String),
    /// The channel of a notify log has refused it.
    #[error("{0}")]
    Channel(punctual_notification::Refusal),
    /// A record has no form that can be stored.
    #[error("the record has no form that can be stored: {0}")]
    NotStorable(String),
    /// The change could not be stored, or a record could not be read.
    #[error("the store has failed: {0}")]
    Storage(String),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl From<NotMade> for Refusal {
    fn from(error: NotMade) -> Self {
        Self::NoResources(error.0)
    }
}

impl From<punctual_notification::Refusal> for Refusal {
    fn from(refusal: punctual_notification::Refusal) -> Self {
        Self::Channel(refusal)
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotStorable(reason) => Self::NotStorable(reason),
            error => Self::Storage(error.to_string()),
        }
    }
}

impl From<Refusal> for SystemException {
    fn from(refusal: Refusal) -> Self {
        let kind = match &refusal {
            Refusal::Channel(refusal) => return refusal.clone().into(),
            Refusal::RecordTooLarge { .. }
            | Refusal::TooManyAttributes(_)
            | Refusal::TooMuchWork(_) => Kind::ImpLimit,
            Refusal::NoRoom | Refusal::TooManyLogs(_) | Refusal::NoResources(_) => {
                Kind::NoResources
            }
            Refusal::NotPermitted => Kind::NoPermission,
            Refusal::Destroyed(_) => Kind::ObjectNotExist,
            Refusal::NotStorable(_) => Kind::DataConversion,
            Refusal::Storage(_) => Kind::PersistStore,
        };
        kind.because(refusal.to_string())
    }
}

/// Reason for which records are not written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NotWritten {
    /// The log is full; so many of the records were written.
    Full(usize),
    OffDuty,
    Locked,
    /// The store has failed.
    Disabled,
    Refused(Refusal),
}

/// Reason for which a constraint is not evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BadQuery {
    Grammar,
    Constraint,
    Refused(Refusal),
}

impl From<Refusal> for NotWritten {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Refusal> for BadQuery {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// Converts reasons to the errors of operations that raise them.
macro_rules! raised {
    (NotWritten: $($error:ident),*) => {$(
        impl From<NotWritten> for idl::$error {
            fn from(reason: NotWritten) -> Self {
                match reason {
                    NotWritten::Full(written) => idl::LogFull {
                        n_records_written: i16::try_from(written).unwrap_or(i16::MAX),
                    }
                    .into(),
                    NotWritten::OffDuty => idl::LogOffDuty.into(),
                    NotWritten::Locked => idl::LogLocked.into(),
                    NotWritten::Disabled => idl::LogDisabled.into(),
                    NotWritten::Refused(refusal) => SystemException::from(refusal).into(),
                }
            }
        }
    )*};
    (BadQuery: $($error:ident),*) => {$(
        impl From<BadQuery> for idl::$error {
            fn from(reason: BadQuery) -> Self {
                match reason {
                    BadQuery::Grammar => idl::InvalidGrammar.into(),
                    BadQuery::Constraint => idl::InvalidConstraint.into(),
                    BadQuery::Refused(refusal) => SystemException::from(refusal).into(),
                }
            }
        }
    )*};
}

raised!(NotWritten: LogWriteRecordsError, LogWriteRecordlistError);
raised!(BadQuery: LogQueryError, LogMatchError, LogDeleteRecordsError, LogSetRecordsAttributeError);
