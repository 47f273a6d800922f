//! What is logged of a connection once its locks are released: a subscriber to what is logged may call by this very
//! connection, and would wait for itself.

use super::connection::ClientConnection;
use crate::budget::Evicted;
use crate::lane::outgoing::sending::Sender;
use crate::messaging::Inbox;
use punctual_exec::lane_lock::LaneGuard;
use std::fmt::Display;
use std::ops::{Deref, DerefMut};

/// The sending lock. Requests that are lost under it are logged when it has been released.
#[derive(Debug)]
pub(super) struct Sending<'c> {
    // Dropped in this order.
    sender: LaneGuard<'c, Sender>,
    lost: Lost<'c>,
}

/// Requests that were buffered and will not be sent.
#[derive(Debug)]
struct Lost<'c> {
    connection: &'c ClientConnection,
    /// How many, and why the last of them were lost.
    requests: Option<Box<(usize, String)>>,
}

impl<'c> Sending<'c> {
    pub(super) fn new(connection: &'c ClientConnection, sender: LaneGuard<'c, Sender>) -> Self {
        let requests = None;
        Self {
            sender,
            lost: Lost {
                connection,
                requests,
            },
        }
    }

    /// So many more are lost.
    #[cold]
    pub(super) fn has_lost(&mut self, count: usize, error: &dyn Display) {
        let before = self.lost.requests.as_ref().map_or(0, |lost| lost.0);
        self.lost.requests = Some(Box::new((before + count, error.to_string())));
    }
}

impl Deref for Sending<'_> {
    type Target = Sender;

    fn deref(&self) -> &Sender {
        &self.sender
    }
}

impl DerefMut for Sending<'_> {
    fn deref_mut(&mut self) -> &mut Sender {
        &mut self.sender
    }
}

impl Drop for Lost<'_> {
    fn drop(&mut self) {
        if let Some(lost) = self.requests.take() {
            let ((count, error), peer) = (*lost, self.connection.peer());
            tracing::warn!(%peer, count, "buffered one-way requests are lost: {error}");
        }
        self.connection.log_lost();
    }
}

/// What is to be logged of messages that were read. Dropped when the reading lock has been released.
#[derive(Debug)]
pub(crate) struct Remarks<'c> {
    connection: &'c ClientConnection,
    /// How many replies came that nobody waits for, and the id of the last.
    unclaimed: Option<(u64, u32)>,
    /// How the peer broke the protocol.
    refused: Option<String>,
    /// Other connections that went for this one's sake.
    evicted: Vec<Evicted>,
}

impl<'c> Remarks<'c> {
    /// None yet.
    pub(crate) fn of(connection: &'c ClientConnection) -> Self {
        Self {
            connection,
            unclaimed: None,
            refused: None,
            evicted: Vec::new(),
        }
    }

    /// What there is to be logged of what the inbox has taken. Before it is let go.
    #[inline]
    pub(crate) fn take_from(&mut self, inbox: &mut Inbox) {
        self.evicted = inbox.take_evicted();
    }

    /// A reply came that nobody waits for.
    #[cold]
    pub(super) fn is_unclaimed(&mut self, id: u32) {
        let before = self.unclaimed.map_or(0, |(count, _)| count);
        self.unclaimed = Some((before + 1, id));
    }

    /// The peer broke the protocol.
    pub(super) fn is_refused(&mut self, reason: &str) {
        self.refused = Some(reason.to_owned());
    }
}

impl Drop for Remarks<'_> {
    fn drop(&mut self) {
        if let Some((count, id)) = self.unclaimed {
            tracing::debug!(peer = %self.connection.peer(), id, count, "a reply came that nobody waits for");
        }
        if let Some(reason) = &self.refused {
            tracing::warn!(peer = %self.connection.peer(), "{reason}; the connection is closed");
        }
        self.connection.log_lost();
    }
}
