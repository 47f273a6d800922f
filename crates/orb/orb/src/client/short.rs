//! The short way of a call: through a reference whose last call has succeeded, by the same connection and
//! under the same policies, with a head that is written already. The stages are those of every call
//! ([`super::invocation`]) with everything decided beforehand; it takes no lock but the one under which messages
//! leave, and allocates nothing.
//!
//! Whatever is not as usual goes the long way, from its beginning or, if the request has been sent, on from
//! there.

use super::complete;
use super::failure::{Failed, too_many_calls};
use super::heads::RequestHead;
use super::outcome::{Body, Reply, ReplyOutcome, Results};
use super::recent::{Key, Recent};
use super::remote::Callee;
use super::send;
use super::write::{self, Arguments};
use crate::lane::{ClientConnection, NoReply, PendingReply, Waited};
use crate::messaging::{Message, OwnReply};
use crate::operation::NamedOperation;
use crate::policy::Buffering;
use crate::probe::{self, Point};
use crate::request_context::RequestContext;
use punctual_cdr::{Block, Decoder};
use punctual_exec::Deadline;
use punctual_giop::ReplyStatus;
use std::sync::Arc;

/// What became of a call.
pub(super) enum Short {
    /// Its results or its user exception have been read; or it was a one-way, and sent.
    Done,
    /// Something else, from which the long way goes on.
    Attempted(Box<Attempted>),
    /// Nothing: the long way is to be gone.
    No,
}

/// What an attempt has come to, and until when the call may take.
pub(super) struct Attempted {
    pub(super) outcome: Result<Option<ReplyOutcome>, Failed>,
    pub(super) deadline: Deadline,
}

/// Makes a call, if everything is as it was for the last one through this reference.
pub(super) fn attempt(
    callee: Callee<'_>,
    operation: &NamedOperation<'_>,
    arguments: &Arguments<'_>,
    results: &mut Results<'_>,
) -> Short {
    let key = Key::new(callee.object.version(), operation.two_way);
    let Some(mut recent) = Recent::take(key, callee) else {
        return Short::No;
    };
    let (way, block) = recent.parts();
    let (path, connection) = (&*way.path, &way.connection);
    probe::begins!(Point::ClientReference);
    let deadline = Deadline::after_maybe(callee.timeout_under(&path.effective));
    if connection.must_tell_code_sets() || !connection.is_usable(deadline) {
        return Short::No;
    }
    probe::begins!(Point::ClientMessagingSend);
    let contexts = connection.request_contexts(callee.broker());
    let to = (&**connection, path.endpoint());
    let Some(head) = path.heads.head(operation, to, contexts) else {
        recent.keep();
        return Short::No;
    };
    let call = ShortCall {
        callee,
        connection,
        head,
        contexts,
        deadline,
        // What waits for others leaves when the caller may have filled its buffers anew.
        lends: path.lends && (operation.two_way || path.effective.buffering.is_none()),
        buffering: &path.effective.buffering,
    };
    let made = if operation.two_way {
        call.make(block, arguments, results)
    } else {
        call.make_one_way(block, arguments)
    };
    match made {
        Ok(()) => {
            block.reuse();
            recent.keep();
            Short::Done
        }
        Err(attempted) => Short::Attempted(attempted),
    }
}

struct ShortCall<'q> {
    callee: Callee<'q>,
    connection: &'q Arc<ClientConnection>,
    head: &'q RequestHead,
    /// What it carries in its slots.
    contexts: &'q [Arc<dyn RequestContext>],
    deadline: Deadline,
    lends: bool,
    buffering: &'q Option<Buffering>,
}

impl ShortCall<'_> {
    #[inline]
    fn make(
        &self,
        block: &mut Block,
        arguments: &Arguments<'_>,
        results: &mut Results<'_>,
    ) -> Result<(), Box<Attempted>> {
        let connection = self.connection;
        let Some(pending) = connection.register() else {
            return Err(self.failed(Failed::Finally(too_many_calls())));
        };
        self.write(block, pending.id(), arguments)?;
        if let Err(failed) = send::send_plainly(connection, block, self.deadline) {
            return Err(self.failed(failed));
        }
        probe::begins!(Point::ClientTransportReceive);
        // The request's memory serves for its reply.
        match complete::wait_with(connection, block, &pending, self.deadline) {
            Waited::Own(reply) => {
                let body = match reply.status {
                    ReplyStatus::UserException => Body::UserException,
                    _ => Body::Results,
                };
                // Nobody waits for the place while the results are read.
                drop(pending);
                probe::begins!(Point::ClientDemarshal);
                results(body, &mut self.decoder(block, &reply));
                // The call's memory is kept for the next one.
                probe::begins!(Point::ClientMessagingReceive);
                Ok(())
            }
            Waited::Otherwise(waited) => self.read(waited, &pending, results),
        }
    }

    /// Nobody answers a one-way, so that it needs no place in the reply table: its id is 0.
    #[inline]
    fn make_one_way(
        &self,
        block: &mut Block,
        arguments: &Arguments<'_>,
    ) -> Result<(), Box<Attempted>> {
        self.write(block, 0, arguments)?;
        let sent = match self.buffering {
            None => send::send_plainly(self.connection, block, self.deadline),
            Some(when) => {
                let by = (&**self.callee.lane, self.connection);
                send::buffer_plainly(by, block, *when, self.deadline)
            }
        };
        sent.map_err(|failed| self.failed(failed))
    }

    // In both kinds of call, of which it is a good part.
    #[inline(always)]
    fn write(
        &self,
        block: &mut Block,
        request_id: u32,
        arguments: &Arguments<'_>,
    ) -> Result<(), Box<Attempted>> {
        let by = (self.callee, &**self.connection);
        let head = (self.head, self.contexts, request_id);
        match write::by_head(by, head, arguments, self.lends, block) {
            Ok(()) => Ok(()),
            Err(failed) => Err(self.failed(failed)),
        }
    }

    #[inline]
    fn decoder<'r>(&'r self, block: &'r Block, reply: &OwnReply) -> Decoder<'r> {
        let octets = block.get(reply.origin..).unwrap_or_default();
        let coding = write::coding(self.callee, self.connection);
        Decoder::at(octets, reply.body, reply.order, coding)
    }

    /// A reply that came by another caller, together with others, in pieces; or none.
    #[cold]
    fn read(
        &self,
        waited: Result<Message, NoReply>,
        pending: &PendingReply<'_>,
        results: &mut Results<'_>,
    ) -> Result<(), Box<Attempted>> {
        let connection = self.connection;
        let message = waited.map_err(|why| {
            let failed = complete::without_reply(connection, pending, why, self.deadline);
            self.failed(failed)
        })?;
        probe::begins!(Point::ClientMessagingReceive);
        let (session, code_sets) = (&*connection.session, connection.code_sets);
        match Reply::read(message, session, code_sets, self.callee) {
            Ok(ReplyOutcome::Results(reply)) => {
                probe::begins!(Point::ClientDemarshal);
                results(Body::Results, &mut reply.decoder(self.callee));
            }
            Ok(ReplyOutcome::UserException(reply)) => {
                results(Body::UserException, &mut reply.decoder(self.callee));
            }
            Ok(other) => return Err(self.attempted(Ok(Some(other)))),
            Err(exception) => {
                let exception = exception.in_context(connection.peer());
                return Err(self.failed(Failed::Finally(exception)));
            }
        }
        Ok(())
    }

    #[cold]
    fn failed(&self, failed: Failed) -> Box<Attempted> {
        self.attempted(Err(failed))
    }

    fn attempted(&self, outcome: Result<Option<ReplyOutcome>, Failed>) -> Box<Attempted> {
        let deadline = self.deadline;
        Box::new(Attempted { outcome, deadline })
    }
}
