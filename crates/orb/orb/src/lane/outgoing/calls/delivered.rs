//! Delivery to a waiting caller: its reply, or why there is none.

use crate::messaging::{InboxError, Message, OwnReply};
use std::sync::Arc;

/// Reason why a connection serves no more.
#[derive(Clone, Debug)]
pub(crate) struct Broken {
    /// The peer said CloseConnection: it has not begun what it had not answered (§9.4.7).
    pub(crate) orderly: bool,
    /// For people.
    pub(crate) reason: Arc<str>,
}

impl Broken {
    /// Makes the reason of a connection that was broken off by this side or the network.
    pub(crate) fn off(reason: impl Into<Arc<str>>) -> Self {
        Self {
            orderly: false,
            reason: reason.into(),
        }
    }

    /// Makes the reason of an error in receiving.
    pub(crate) fn of(error: &InboxError) -> Self {
        match error {
            InboxError::Link(error) => Self::off(error.cause.to_string()),
            error => Self::off(error.to_string()),
        }
    }
}

/// Delivery to a caller.
#[derive(Debug)]
pub(crate) enum Delivered {
    Reply(Message),
    Broken(Broken),
    /// The request was buffered and its end time has passed: it was not sent.
    Late,
}

/// Reason why a reply did not come.
#[derive(Debug)]
pub(crate) enum NoReply {
    TimedOut,
    /// The end time passed before the request left.
    NotSent,
    Broken(Broken),
}

/// Result of waiting with a block at hand.
#[derive(Debug)]
pub(crate) enum Waited {
    /// The block holds the reply, and nothing else.
    Own(OwnReply),
    /// A message by itself, or none.
    Otherwise(Result<Message, NoReply>),
}
