//! Failures of calls to clients, and what they say of the client.

use punctual::{CompletionStatus, SystemException, SystemExceptionKind as Kind};
use punctual_events::peer::is_gone;

use crate::cos_event_comm;
use crate::cos_notify_comm as comm;

/// Failure of a call to a client.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It raised `Disconnected`.
    Disconnected,
    /// It does not exist any more.
    Gone,
    /// It has not received the call.
    NotReached(SystemException),
    /// It may have received the call, and has answered with an exception or not at all.
    Failed(SystemException),
}

impl Failure {
    /// Returns whether the call was not made for what its events are together: one of them cannot be read, or they are too
    /// many. Fewer at a time may pass.
    pub(crate) fn is_of_contents(&self) -> bool {
        let exception = match self {
            Self::Disconnected | Self::Gone => return false,
            Self::NotReached(exception) | Self::Failed(exception) => exception,
        };
        let is_of_contents = is_unreadable(exception) || exception.kind() == Kind::ImpLimit;
        exception.completed() == CompletionStatus::No && is_of_contents
    }

    /// Returns whether it is not known what has become of the call, as no reply has come.
    pub(crate) fn is_unanswered(&self) -> bool {
        let exception = match self {
            Self::Disconnected | Self::Gone => return false,
            Self::NotReached(exception) | Self::Failed(exception) => exception,
        };
        matches!(
            exception.kind(),
            Kind::CommFailure | Kind::Timeout | Kind::NoResponse | Kind::Transient
        )
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Disconnected => f.write_str("it raised Disconnected"),
            Self::Gone => f.write_str("it does not exist"),
            Self::NotReached(exception) | Self::Failed(exception) => exception.fmt(f),
        }
    }
}

impl From<SystemException> for Failure {
    fn from(exception: SystemException) -> Self {
        if is_gone(&exception) {
            return Self::Gone;
        }
        match exception.completed() {
            CompletionStatus::No if !is_final(&exception) => Self::NotReached(exception),
            _ => Self::Failed(exception),
        }
    }
}

/// Returns whether an exception would answer the same call each time, as the client or this ORB cannot read its
/// arguments or the client has no such operation. Calls that wait behind it must not wait for ever.
fn is_final(exception: &SystemException) -> bool {
    let has_no_operation = matches!(exception.kind(), Kind::BadOperation | Kind::NoImplement);
    has_no_operation || is_unreadable(exception)
}

/// Returns whether an exception says that the client or this ORB cannot read the arguments.
fn is_unreadable(exception: &SystemException) -> bool {
    matches!(
        exception.kind(),
        Kind::Marshal
            | Kind::BadParam
            | Kind::BadTypecode
            | Kind::DataConversion
            | Kind::CodesetIncompatible
            // It is for wide text, or the client would be gone.
            | Kind::InvObjref
    )
}

macro_rules! failures {
    ($($error:path;)*) => {
        $(
            impl From<$error> for Failure {
                fn from(error: $error) -> Self {
                    use $error as Error;
                    match error {
                        Error::Disconnected(_) => Self::Disconnected,
                        Error::System(exception) => exception.into(),
                    }
                }
            }
        )*
    };
}

failures! {
    cos_event_comm::PushConsumerPushError;
    comm::StructuredPushConsumerPushStructuredEventError;
    comm::SequencePushConsumerPushStructuredEventsError;
    cos_event_comm::PullSupplierTryPullError;
    comm::StructuredPullSupplierTryPullStructuredEventError;
    comm::SequencePullSupplierTryPullStructuredEventsError;
}
