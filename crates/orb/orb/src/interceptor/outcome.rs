//! Outcome of a request, as interceptors see and change it.

use super::points::{ClientPoint, ReplyStatus, ServerPoint};
use crate::exception::{CompletionStatus, SystemException};
use punctual_ior::Ior;

/// Outcome of a request, as interceptors see it.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// The operation returned its results.
    Reply,
    /// A user exception, with its repository id; empty if the id is not known.
    User(String),
    System(SystemException),
    /// Forward of the call to the given reference.
    Forward(Box<Ior>),
    /// The request is to be sent again.
    Retry,
    /// The request has been sent and its reply is not known yet, or it was a one-way.
    Sent,
}

impl Outcome {
    pub(crate) fn status(&self) -> ReplyStatus {
        match self {
            Self::Reply | Self::Sent => ReplyStatus::Successful,
            Self::User(_) => ReplyStatus::UserException,
            Self::System(_) => ReplyStatus::SystemException,
            Self::Forward(_) => ReplyStatus::LocationForward,
            Self::Retry => ReplyStatus::TransportRetry,
        }
    }

    pub(super) fn client_point(&self) -> ClientPoint {
        match self {
            Self::Reply => ClientPoint::ReceiveReply,
            Self::User(_) | Self::System(_) => ClientPoint::ReceiveException,
            Self::Forward(_) | Self::Retry | Self::Sent => ClientPoint::ReceiveOther,
        }
    }

    pub(super) fn server_point(&self) -> ServerPoint {
        match self {
            Self::Reply => ServerPoint::SendReply,
            Self::User(_) | Self::System(_) => ServerPoint::SendException,
            Self::Forward(_) | Self::Retry | Self::Sent => ServerPoint::SendOther,
        }
    }

    /// Returns the completion status of an exception raised in place of this outcome (CORBA 3.3
    /// part 1, §16.3.5 and §16.3.8): COMPLETED_YES after results, and the status of the replaced
    /// exception after an exception.
    pub(super) fn completion(&self) -> CompletionStatus {
        match self {
            Self::Reply | Self::User(_) => CompletionStatus::Yes,
            Self::System(exception) => exception.completed(),
            Self::Forward(_) | Self::Retry => CompletionStatus::No,
            Self::Sent => CompletionStatus::Maybe,
        }
    }
}
