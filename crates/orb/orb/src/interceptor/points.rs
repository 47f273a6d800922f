//! Interception points, and at which of them each operation is valid according to the standard's
//! tables.

use super::error::not_valid_here;
use crate::exception::SystemException;

/// Status of a request (`reply_status`; CORBA 3.3 part 1, §16.3.11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReplyStatus {
    /// The request has returned results, or has been sent and its outcome is not known yet.
    Successful,
    /// The request has ended with a system exception.
    SystemException,
    /// The request has ended with a user exception.
    UserException,
    /// The call is forwarded to another object.
    LocationForward,
    /// The request is to be sent again.
    TransportRetry,
    /// The status of the request is not known.
    Unknown,
}

impl ReplyStatus {
    /// Returns the number that the standard gives the status.
    #[must_use]
    pub fn number(self) -> i16 {
        match self {
            Self::Successful => 0,
            Self::SystemException => 1,
            Self::UserException => 2,
            Self::LocationForward => 3,
            Self::TransportRetry => 4,
            Self::Unknown => 5,
        }
    }
}

/// Interception point of a request at its client. The values are the column numbers in the
/// standard's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClientPoint {
    SendRequest,
    SendPoll,
    ReceiveReply,
    ReceiveException,
    ReceiveOther,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerPoint {
    ReceiveRequestServiceContexts,
    ReceiveRequest,
    SendReply,
    SendException,
    SendOther,
}

/// Set of points at which an operation is valid: one bit for each column of the standard's tables,
/// the first column being the highest bit.
#[derive(Clone, Copy)]
pub(super) struct ValidAt(pub(super) u8);

impl ValidAt {
    /// Set of all ending interception points of a request.
    pub(super) const ENDS: Self = Self(0b00111);

    fn check(self, column: u8, what: &str) -> Result<(), SystemException> {
        match self.0 >> (4 - column) & 1 {
            1 => Ok(()),
            _ => Err(not_valid_here(what)),
        }
    }
}

impl ClientPoint {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::SendRequest => "send_request",
            Self::SendPoll => "send_poll",
            Self::ReceiveReply => "receive_reply",
            Self::ReceiveException => "receive_exception",
            Self::ReceiveOther => "receive_other",
        }
    }

    /// Checks that an operation is valid at the point.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14 if it is not.
    pub(super) fn check(self, valid: ValidAt, what: &str) -> Result<(), SystemException> {
        valid.check(self as u8, what)
    }
}

impl ServerPoint {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ReceiveRequestServiceContexts => "receive_request_service_contexts",
            Self::ReceiveRequest => "receive_request",
            Self::SendReply => "send_reply",
            Self::SendException => "send_exception",
            Self::SendOther => "send_other",
        }
    }

    /// Checks that an operation is valid at the point.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14 if it is not.
    pub(super) fn check(self, valid: ValidAt, what: &str) -> Result<(), SystemException> {
        valid.check(self as u8, what)
    }
}
