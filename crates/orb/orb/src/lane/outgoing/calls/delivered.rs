//! Delivery to a waiting caller: its reply, or the reason why there is none.

use crate::messaging::{InboxError, Message, OwnReply};
use std::sync::Arc;

/// Reason why a connection no longer works.
#[derive(Clone, Debug)]
pub(crate) struct Broken {
    /// True if the peer sent CloseConnection: it has not begun to serve the requests that it had
    /// not answered (§9.4.7).
    pub(crate) orderly: bool,
    /// Description of the failure, for the log and for exceptions.
    pub(crate) reason: Arc<str>,
}

impl Broken {
    /// Makes the reason for a connection that this side or the network has broken off.
    pub(crate) fn off(reason: impl Into<Arc<str>>) -> Self {
        Self {
            orderly: false,
            reason: reason.into(),
        }
    }

    /// Makes the reason for a connection's failure from an error in receiving.
    pub(crate) fn of(error: &InboxError) -> Self {
        match error {
            InboxError::Link(error) => Self::off(error.cause.to_string()),
            error => Self::off(error.to_string()),
        }
    }
}

/// Delivery to a waiting caller: the reply or the reason why there is none.
#[derive(Debug)]
pub(crate) enum Delivered {
    Reply(Message),
    Broken(Broken),
    /// The end time of the buffered request has passed: it was not sent.
    Late,
}

/// Reason why a caller received no reply.
#[derive(Debug)]
pub(crate) enum NoReply {
    TimedOut,
    /// The end time passed before the request was sent.
    NotSent,
    Broken(Broken),
}

/// Result of waiting for a reply with a block to receive it in.
#[derive(Debug)]
pub(crate) enum Waited {
    /// The given block contains the reply and nothing else.
    Own(OwnReply),
    /// A message in another block, or the reason why there is none.
    Otherwise(Result<Message, NoReply>),
}
