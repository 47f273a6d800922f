//! What comes to a caller that waits: its reply, or why there is none.

use crate::messaging::{InboxError, Message, OwnReply};
use std::sync::Arc;

/// Why a connection serves no more.
#[derive(Clone, Debug)]
pub(crate) struct Broken {
    /// The peer said CloseConnection: what it had not answered, it has not begun (§9.4.7).
    pub(crate) orderly: bool,
    /// For people.
    pub(crate) reason: Arc<str>,
}

impl Broken {
    /// Broken off for a reason of this side's, or of the network's.
    pub(crate) fn off(reason: impl Into<Arc<str>>) -> Self {
        Self {
            orderly: false,
            reason: reason.into(),
        }
    }

    /// By an error in receiving.
    pub(crate) fn of(error: &InboxError) -> Self {
        match error {
            InboxError::Link(error) => Self::off(error.cause.to_string()),
            error => Self::off(error.to_string()),
        }
    }
}

/// What comes to a caller.
#[derive(Debug)]
pub(crate) enum Delivered {
    Reply(Message),
    Broken(Broken),
    /// The request was buffered, and its end time has passed: it was not sent.
    Late,
}

/// Why a reply did not come.
#[derive(Debug)]
pub(crate) enum NoReply {
    TimedOut,
    /// The same, of a request that has not left.
    NotSent,
    Broken(Broken),
}

/// What waiting with a block at hand has come to.
#[derive(Debug)]
pub(crate) enum Waited {
    /// The block holds the reply, and nothing else.
    Own(OwnReply),
    /// A message by itself, or none.
    Otherwise(Result<Message, NoReply>),
}
