//! Answers to LocateRequests.

use super::Dispatcher;
use crate::adapter::Location;
use crate::messaging::{Head, Message};
use crate::server::adapter::ObjectAdapter;
use crate::server::conversation::Conversation;
use punctual_cdr::{Block, ByteOrder, CdrError, Coding, GiopVersion, Marshal};
use punctual_giop::{LocateReplyHeader, LocateStatus, MessageKind};
use std::panic::{AssertUnwindSafe, catch_unwind};

impl Dispatcher<'_> {
    /// Answers a LocateRequest (CORBA 3.3 part 2, §9.4.6).
    pub(super) fn locate_request(&self, message: &Message) -> Result<(), CdrError> {
        let version = message.header.version;
        let mut decoder = self.decoder(message);
        let head = self
            .conversation()
            .session
            .get_head(MessageKind::LocateRequest, &mut decoder)?;
        let Head::LocateRequest(header) = head else {
            return Err(CdrError::Invalid("the header is not a locate request's"));
        };
        let Some(_in_progress) = self.connection.begin() else {
            return Ok(());
        };
        let location = match (
            self.object_key(&header.target),
            self.connection.adapter.get(),
        ) {
            (Ok(key), Some(adapter)) if self.may_be_called(&key) => self.locate(&**adapter, &key),
            _ => Location::Unknown,
        };
        self.connection.send(&locate_reply(
            self.conversation(),
            header.request_id,
            version,
            &location,
        )?);
        Ok(())
    }

    /// Returns the location of an object. The adapter may call application code for it; if that
    /// panics, the object counts as unknown.
    fn locate(&self, adapter: &dyn ObjectAdapter, key: &[u8]) -> Location {
        let located = catch_unwind(AssertUnwindSafe(|| adapter.locate(key)));
        located.unwrap_or_else(|_| {
            tracing::error!(peer = %self.conversation().peer(), "the application panicked while locating an object");
            Location::Unknown
        })
    }
}

/// Encodes the answer to a LocateRequest.
fn locate_reply(
    connection: &Conversation,
    request_id: u32,
    version: GiopVersion,
    location: &Location,
) -> Result<Block, CdrError> {
    let coding = Coding::new(version, connection.broker().limits());
    let (session, kind) = (&connection.session, MessageKind::LocateReply);
    let mut out = session.begin(connection.link().lend(0), kind, ByteOrder::NATIVE, coding);
    let status = match location {
        Location::Here => LocateStatus::ObjectHere,
        Location::Unknown => LocateStatus::UnknownObject,
        Location::Forward(_) => LocateStatus::ObjectForward,
    };
    let head = Head::LocateReply(LocateReplyHeader { request_id, status });
    connection.session.put_head(&mut out, &head)?;
    if let Location::Forward(to) = location {
        to.marshal(&mut out)?;
    }
    let mut block = out.into_block();
    connection.session.finish(&mut block)?;
    Ok(block)
}
