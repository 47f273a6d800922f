//! Fast path of a deferred call: as far as its request is sent, and from its reply on.
//!
//! As for calls with interceptors ([`super::intercepted`]), it repeats the beginning of the path of
//! synchronous calls, so that these do not pay for it. It serves the paths that [`Path::defers`] says:
//! without interceptors, and without policies by which requests are buffered or calls in flight limited.
//!
//! [`Path::defers`]: super::super::path::Path

use super::super::complete;
use super::super::failure::{Failed, out_of_place, too_many_calls};
use super::super::invocation::{Attempted, SentDeferred};
use super::super::outcome::{Body, Reply, ReplyOutcome, Results};
use super::super::recent::{Key, Recent};
use super::super::remote::Callee;
use super::super::send;
use super::super::write::{self, Arguments};
use crate::lane::{AwaitedReply, ClientConnection, Waited};
use crate::messaging::{Message, OwnReply};
use crate::operation::NamedOperation;
use crate::probe::{self, Point};
use crate::timeline::{self, Stage};
use punctual_cdr::{Block, Coding, Decoder};
use punctual_exec::Deadline;
use punctual_giop::ReplyStatus;

/// Result of an attempt to send the request of a deferred call on the fast path.
pub(in super::super) enum Deferral {
    /// The request has been sent.
    Sent(SentDeferred, AwaitedReply),
    /// The request could not be sent; the slow path goes on from there.
    Attempted(Box<Attempted>),
    /// The fast path is not applicable to the call.
    No,
}

/// Sends the request of a deferred call, if the conditions of the last successful call through this
/// reference still hold.
#[inline(never)]
pub(in super::super) fn send(
    callee: &Callee<'_>,
    operation: &NamedOperation<'_>,
    arguments: &Arguments<'_>,
) -> Deferral {
    let Some(mut recent) = Recent::take(Key::new(callee, true), callee) else {
        return Deferral::No;
    };
    let (last, block) = recent.parts();
    let (path, connection) = (&last.path, &last.connection);
    if !path.defers {
        recent.keep_emptied();
        return Deferral::No;
    }
    probe::begins!(Point::ClientReference);
    let deadline = Deadline::after_optional(callee.timeout_under(&path.effective));
    if connection.announced.must_tell_code_sets() || !connection.is_usable(deadline) {
        return Deferral::No;
    }
    probe::begins!(Point::ClientMessagingSend);
    let Some(head) = path.heads.head(operation, (connection, path.endpoint())) else {
        recent.keep_emptied();
        return Deferral::No;
    };
    let mut sent = || {
        let pending = connection.register();
        let pending = pending.ok_or_else(|| Failed::Finally(too_many_calls()))?;
        let by = (callee, &**connection);
        write::by_head(by, (head, pending.id()), arguments, path.lends, None, block)?;
        if timeline::is_recording() {
            connection.record_stage(Stage::Sending, pending.id());
        }
        let out_of_band = path.effective.out_of_band;
        let by = (&**callee.lane, connection);
        send::send_deferred_plainly(by, block, out_of_band, deadline)?;
        Ok(pending)
    };
    let deferral = match sent() {
        Ok(pending) => {
            if timeline::is_recording() {
                connection.record_stage(Stage::Sent, pending.id());
            }
            let contexts = match head.template.has_contexts() {
                true => head.contexts(),
                false => Vec::new(),
            };
            let sent = SentDeferred {
                path: path.clone(),
                contexts,
                deadline,
            };
            Deferral::Sent(sent, pending.put_away(connection))
        }
        Err(failed) => Deferral::Attempted(Box::new(Attempted {
            outcome: Err(failed),
            deadline,
            contexts: None,
            interrupted: None,
        })),
    };
    if matches!(deferral, Deferral::Sent(..)) || connection.may_be_used() {
        recent.keep_emptied();
    }
    deferral
}

/// Waits for the reply to a request that [`send`] has sent, as a synchronous call does, and passes its
/// results or its user exception to `results`. Returns any other outcome. Receives into the block of the
/// thread's recent paths, which it borrows meanwhile.
///
/// # Errors
/// The failure, if no reply has come, or the reply cannot be read.
#[inline(never)]
pub(in super::super) fn wait(
    (callee, connection): (&Callee<'_>, &ClientConnection),
    (reply, deadline): (AwaitedReply, Deadline),
    results: &mut Results<'_>,
) -> Result<Option<ReplyOutcome>, Failed> {
    let mut recent = Recent::any();
    let mut own = Block::default();
    let block = match &mut recent {
        Some(recent) => recent.parts().1,
        None => &mut own,
    };
    if block.capacity() == 0 {
        *block = connection.lend();
    }
    probe::begins!(Point::ClientTransportReceive);
    let waited = reply.with(|connection, pending| {
        let waited =
            complete::wait_with::<{ complete::DEFERRED }>(connection, block, pending, deadline);
        match waited {
            Waited::Own(own) => {
                if timeline::is_recording() {
                    connection.record_stage(Stage::Received, pending.id());
                }
                Ok(Arrived::Own(own))
            }
            Waited::Otherwise(waited) => {
                match complete::record_received(waited, connection, pending) {
                    Ok(message) => Ok(Arrived::Message(message)),
                    Err(why) => Err(complete::without_reply(connection, pending, why, deadline)),
                }
            }
        }
    });
    let outcome = match waited.unwrap_or_else(|| Err(Failed::Finally(out_of_place()))) {
        Ok(Arrived::Own(own)) => {
            let body = match own.status {
                ReplyStatus::UserException => Body::UserException,
                _ => Body::Results,
            };
            probe::begins!(Point::ClientDemarshal);
            results(body, &mut decoder(callee, connection, block, &own));
            Ok(None)
        }
        Ok(Arrived::Message(message)) => {
            Reply::read(message, connection, *callee).map(|outcome| outcome.give(*callee, results))
        }
        Err(failed) => Err(failed),
    };
    probe::begins!(Point::ClientMessagingReceive);
    if let Some(recent) = recent {
        recent.keep_emptied();
    }
    outcome
}

/// Reply that has arrived.
enum Arrived {
    /// The block contains the reply and nothing else.
    Own(OwnReply),
    /// The reply is in another block.
    Message(Message),
}

fn decoder<'r>(
    callee: &'r Callee<'r>,
    connection: &'r ClientConnection,
    block: &'r Block,
    reply: &OwnReply,
) -> Decoder<'r> {
    let octets = block.get(reply.origin..).unwrap_or_default();
    let coding = Coding {
        environment: Some(callee.environment_of(connection.origin())),
        ..write::coding(callee, connection)
    };
    Decoder::at(octets, reply.body, reply.order, coding)
}
