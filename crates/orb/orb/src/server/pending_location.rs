//! Answers to LocateRequests that are given after the adapter has returned, by any thread: an Implementation Repository answers
//! when the object's server runs.
//!
//! A pending answer is one of the connection's pending replies, with their limits, and its LocateRequest is in progress until then.

use super::call::EarlyReplySender;
use super::conversation::Conversation;
use super::pending::{Awaited, PendingReplySender, RECORD};
use super::pending_reply::refused;
use super::reply::exception_body;
use crate::adapter::{DispatchError, Location};
use crate::exception::SystemException;
use crate::messaging::Head;
use punctual_cdr::{Block, ByteOrder, CdrError, Coding, GiopVersion, Marshal};
use punctual_giop::{LocateReplyHeader, LocateStatus, MessageKind};
use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

/// LocateRequest, while an object adapter answers it.
pub struct LocateRequest<'c> {
    pub(super) connection: &'c dyn EarlyReplySender,
    pub(super) request_id: u32,
    pub(super) version: GiopVersion,
    /// Length of the object key, which the adapter may keep.
    pub(super) key: usize,
    /// Set when the answer has been deferred.
    pub(super) is_deferred: Cell<bool>,
}

impl LocateRequest<'_> {
    /// Defers the answer: it is then given through the returned value, from any thread. Allocates. The object key counts as received
    /// (`budgets.received`) until then.
    ///
    /// # Errors
    /// TRANSIENT if too many requests of the connection or of the ORB are pending
    /// (`limits.pending_replies_per_connection`, `limits.pending_replies`).
    pub fn answer_later(&self) -> Result<PendingLocation, DispatchError> {
        let connection = self.connection.answers_later();
        let connection = connection.ok_or_else(super::pending_reply::gone)?;
        let octets = RECORD + self.key;
        let added = connection
            .pending()
            .add(&*connection, (self.request_id, octets), true);
        let awaited = added.map_err(refused)?;
        self.is_deferred.set(true);
        // The message's own count is still held, so this one succeeds whether the connection is closing or not.
        connection.conversation().begin_request();
        Ok(PendingLocation {
            request_id: self.request_id,
            version: self.version,
            octets,
            awaited,
            is_answered: false,
            connection,
        })
    }
}

/// LocateRequest that will be answered later. If dropped unanswered, the object counts as here, so that the client sends its request.
pub struct PendingLocation {
    connection: Arc<dyn PendingReplySender>,
    request_id: u32,
    version: GiopVersion,
    octets: usize,
    awaited: Arc<Awaited>,
    is_answered: bool,
}

impl PendingLocation {
    /// Answers. Of a client that has gone, or has cancelled its LocateRequest, nothing is sent. If the peer does not accept its
    /// replies, blocks for at most `timeouts.reply`.
    pub fn answer(mut self, location: &Location) {
        self.send(&LocateAnswer::Location(location));
        self.is_answered = true;
    }

    /// Answers with an exception (LOC_SYSTEM_EXCEPTION), of which the client gets the kind, the minor code and the completion status. Before GIOP
    /// 1.2 no LocateReply has one: the object counts as here, and the adapter raises the exception for the request that follows. Otherwise as
    /// [`answer`](Self::answer).
    pub fn raise(mut self, exception: &SystemException) {
        self.send(&LocateAnswer::Exception(exception));
        self.is_answered = true;
    }

    /// Returns whether the client waits for the answer: false if it has cancelled its LocateRequest, or its connection has ended.
    #[must_use]
    pub fn is_awaited(&self) -> bool {
        self.awaited.is_awaited()
    }

    fn send(&self, answer: &LocateAnswer<'_>) {
        if !self.awaited.is_awaited() {
            return;
        }
        let conversation = self.connection.conversation();
        match locate_reply(conversation, self.request_id, self.version, answer) {
            Ok(reply) => self.connection.send(&reply),
            Err(error) => tracing::error!("a LocateReply cannot be encoded: {error}"),
        }
    }
}

impl Drop for PendingLocation {
    fn drop(&mut self) {
        if !self.is_answered {
            self.send(&LocateAnswer::Location(&Location::Here));
        }
        let request = (self.request_id, self.octets);
        let pending = self.connection.pending();
        pending.remove(&*self.connection, request, &self.awaited);
        self.connection.ends_request();
    }
}

/// Answer to a LocateRequest.
pub(super) enum LocateAnswer<'a> {
    Location(&'a Location),
    Exception(&'a SystemException),
}

impl LocateAnswer<'_> {
    fn status(&self, version: GiopVersion) -> LocateStatus {
        match self {
            Self::Location(Location::Here) => LocateStatus::ObjectHere,
            Self::Location(Location::Unknown) => LocateStatus::UnknownObject,
            Self::Location(Location::Forward(_)) => LocateStatus::ObjectForward,
            Self::Exception(_) => {
                let status = LocateStatus::SystemException;
                let known = LocateStatus::from_number(status.number(), version);
                known.unwrap_or(LocateStatus::ObjectHere)
            }
        }
    }
}

/// Encodes the answer to a LocateRequest (CORBA 3.3 part 2, §9.4.6).
pub(super) fn locate_reply(
    connection: &Conversation,
    request_id: u32,
    version: GiopVersion,
    answer: &LocateAnswer<'_>,
) -> Result<Block, CdrError> {
    let coding = Coding::new(version, connection.broker().limits());
    let (session, kind) = (&connection.session, MessageKind::LocateReply);
    let mut out = session.begin(connection.link().lend(0), kind, ByteOrder::NATIVE, coding);
    let status = answer.status(version);
    let head = Head::LocateReply(LocateReplyHeader { request_id, status });
    connection.session.put_head(&mut out, &head)?;
    match answer {
        LocateAnswer::Location(Location::Forward(to)) => to.marshal(&mut out)?,
        LocateAnswer::Exception(exception) if status == LocateStatus::SystemException => {
            exception_body(exception).encode(&mut out)?;
        }
        LocateAnswer::Location(Location::Here | Location::Unknown) | LocateAnswer::Exception(_) => {
        }
    }
    let mut block = out.into_block();
    connection.session.finish(&mut block)?;
    Ok(block)
}

impl fmt::Debug for LocateRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocateRequest")
            .field("request_id", &self.request_id)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for PendingLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingLocation")
            .field("is_awaited", &self.is_awaited())
            .finish_non_exhaustive()
    }
}
