//! Answers to LocateRequests.

use super::conversation::Conversation;
use crate::adapter::Location;
use crate::messaging::Head;
use punctual_cdr::{Block, ByteOrder, CdrError, Coding, GiopVersion, Marshal};
use punctual_giop::{LocateReplyHeader, LocateStatus, MessageKind};

/// The answer to a LocateRequest (CORBA 3.3 part 2, §9.4.6).
pub(super) fn locate_reply(
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
