//! The short way of a call: through a reference whose last call has succeeded, by the same connection and
//! under the same policies, with a head that is written already. Takes no lock but the one under which
//! messages leave, and allocates nothing.
//!
//! Whatever is not as usual goes the long way ([`super::invocation`]), from its beginning or, if the
//! request has been sent, on from there.

use super::failure::{Failed, no_reply, not_sent, timed_out, too_large, too_many_calls};
use super::heads::RequestHead;
use super::invocation::{Arguments, Operation};
use super::mux::{ClientConnection, PendingReply};
use super::reply::{Body, Reply, ReplyOutcome, Results};
use super::wait::{NoReply, Waited};
use crate::exception::{CompletionStatus, SystemException, cdr_exception};
use crate::messaging::{Message, OwnReply};
use crate::reference::ObjectRef;
use crate::server;
use punctual_cdr::{Block, CdrError, Coding, Decoder};
use punctual_exec::Deadline;
use punctual_giop::ReplyStatus;

/// What became of a call.
pub(super) enum Quick {
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

/// Makes a call, if everything is as it was for the last one.
pub(super) fn attempt(
    object: &ObjectRef,
    operation: &Operation,
    arguments: &Arguments<'_>,
    results: &mut Results<'_>,
) -> Quick {
    let path = object.path_at_hand(operation.two_way);
    let Some(path) = path
        .as_ref()
        .filter(|path| path.is_quick(operation.two_way) && path.effective.holds(object.orb()))
    else {
        return Quick::No;
    };
    let Some(connection) = path.connection() else {
        return Quick::No;
    };
    let deadline = Deadline::after_maybe(object.timeout_under(&path.effective));
    if connection.must_tell_code_sets() || !connection.is_usable(deadline) {
        return Quick::No;
    }
    let Some(head) = path.heads.head(operation, &connection, path.endpoint()) else {
        return Quick::No;
    };
    let call = QuickCall {
        object,
        connection: &connection,
        head,
        deadline,
        lends: path.lends,
    };
    match call.make(operation.two_way, arguments, results) {
        Ok(()) => Quick::Done,
        Err(attempted) => Quick::Attempted(attempted),
    }
}

struct QuickCall<'q> {
    object: &'q ObjectRef,
    connection: &'q ClientConnection,
    head: &'q RequestHead,
    deadline: Deadline,
    lends: bool,
}

impl QuickCall<'_> {
    #[inline]
    fn make(
        &self,
        two_way: bool,
        arguments: &Arguments<'_>,
        results: &mut Results<'_>,
    ) -> Result<(), Box<Attempted>> {
        let connection = self.connection;
        let Some(pending) = connection.register() else {
            return Err(self.finally(too_many_calls()));
        };
        let mut block = match self.marshal(pending.id(), arguments) {
            Ok(request) => request,
            Err(error) => return Err(self.finally(cdr_exception(error, CompletionStatus::No))),
        };
        let limit = connection.limits.message;
        if block.full_len() > limit {
            return Err(self.finally(too_large(block.full_len(), limit)));
        }
        if let Err(error) = connection.send_plainly(&mut block, self.deadline) {
            return Err(self.failed(not_sent(connection.peer(), &error)));
        }
        if !two_way {
            return Ok(());
        }
        let bound = server::about_to_block();
        let deadline = connection.bounded(self.deadline, bound);
        // The request's memory serves for its reply.
        match connection.wait_with(&mut block, &pending, deadline) {
            Waited::Own(reply) => {
                let body = match reply.status {
                    ReplyStatus::UserException => Body::UserException,
                    _ => Body::Results,
                };
                // Nobody waits for the place while the results are read.
                drop(pending);
                results(body, &mut self.decoder(&block, &reply));
                Ok(())
            }
            Waited::Otherwise(waited) => self.read(waited, &pending, results),
        }
    }

    #[inline]
    fn marshal(&self, request_id: u32, arguments: &Arguments<'_>) -> Result<Block, CdrError> {
        let connection = self.connection;
        let mut out = self
            .head
            .begin(connection.lend(), request_id, self.coding());
        if self.lends {
            out.set_lender(connection.link.lender());
        }
        arguments(&mut out)?;
        let mut block = self.head.end(out);
        connection.session.finish(&mut block)?;
        Ok(block)
    }

    #[inline]
    fn decoder<'r>(&'r self, block: &'r Block, reply: &OwnReply) -> Decoder<'r> {
        let octets = block.get(reply.origin..).unwrap_or_default();
        Decoder::at(octets, reply.body, reply.order, self.coding())
    }

    #[inline]
    fn coding(&self) -> Coding<'_> {
        let orb = self.object.orb();
        Coding {
            version: self.connection.version,
            code_sets: self.connection.code_sets,
            limits: orb.limits(),
            environment: Some(orb),
        }
    }

    /// A reply that came by another caller, together with others, in pieces; or none.
    #[cold]
    fn read(
        &self,
        waited: Result<Message, NoReply>,
        pending: &PendingReply<'_>,
        results: &mut Results<'_>,
    ) -> Result<(), Box<Attempted>> {
        let (connection, orb) = (self.connection, self.object.orb());
        let message = match waited {
            Ok(message) => message,
            Err(NoReply::TimedOut) => {
                super::request::cancel(connection, pending.id());
                return Err(self.finally(timed_out(connection.peer(), self.deadline)));
            }
            Err(NoReply::Broken(broken)) => {
                return Err(self.failed(no_reply(connection.peer(), &broken)));
            }
        };
        match Reply::read(message, &*connection.session, connection.code_sets, orb) {
            Ok(ReplyOutcome::Results(reply)) => results(Body::Results, &mut reply.decoder(orb)),
            Ok(ReplyOutcome::UserException(reply)) => {
                results(Body::UserException, &mut reply.decoder(orb));
            }
            Ok(other) => return Err(self.attempted(Ok(Some(other)))),
            Err(exception) => return Err(self.finally(exception.in_context(connection.peer()))),
        }
        Ok(())
    }

    #[cold]
    fn finally(&self, exception: SystemException) -> Box<Attempted> {
        self.failed(Failed::Finally(exception))
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
