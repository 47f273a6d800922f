//! Fast path of a call, for a reference whose last call has succeeded: it uses that call's
//! connection and policies, and a prepared request header. It goes through the stages of every call
//! ([`super::invocation`]), but makes no decisions. Its only lock is the connection's sending lock,
//! and it does not allocate.
//!
//! In an ORB with client interceptors, calls go through the same stages in a copy of the path
//! ([`intercepted`]), so that other calls do not pay for them; so do deferred calls ([`deferred`]), calls to object groups and
//! calls with a long argument ([`apart`]).
//!
//! Any other call takes the slow path, from the start or, if the request has already been sent,
//! from that stage on.

mod apart;
mod deferred;
mod intercepted;

pub(super) use deferred::{Deferral, send as send_deferred, wait as wait_deferred};

use super::complete;
use super::failure::{Failed, too_many_calls};
use super::heads::RequestHead;
use super::invocation::{Attempted, Outcome, Short};
use super::outcome::{Body, Reply, Results};
use super::recent::{Key, Recent};
use super::remote::Callee;
use super::send;
use super::write::{self, Arguments};
use crate::interceptor::Interceptors;
use crate::lane::{ClientConnection, NoReply, PendingReply, Waited};
use crate::messaging::{Message, OwnReply};
use crate::operation::NamedOperation;
use crate::policy::Effective;
use crate::probe::{self, Point};
use crate::timeline::{self, Stage};
use punctual_cdr::{Block, Coding, Decoder};
use punctual_exec::Deadline;
use punctual_giop::ReplyStatus;
use std::sync::Arc;

/// Makes a call by the fast path, if the conditions of the last successful call through this
/// reference still hold.
pub(super) fn attempt(
    callee: &Callee<'_>,
    operation: &NamedOperation<'_>,
    arguments: &Arguments<'_>,
    results: &mut Results<'_>,
) -> Short {
    let key = Key::new(callee, operation.two_way);
    let Some(mut recent) = Recent::take(key, callee) else {
        return Short::No;
    };
    let last = recent.last();
    if last.path.is_apart || !operation.memory.is_empty() {
        return aside(recent, callee, operation, arguments, results);
    }
    if last.connection.is_busy() && operation.two_way {
        let elsewhere = last.connection.elsewhere(callee.lane, last.path.endpoint());
        if let Some(connection) = elsewhere {
            recent.go_by(connection);
        }
    }
    let (last, block) = recent.parts();
    let (path, connection) = (&*last.path, &last.connection);
    probe::begins!(Point::ClientReference);
    let deadline = Deadline::after_optional(callee.timeout_under(&path.effective));
    if connection.announced.must_tell_code_sets() || !connection.is_usable(deadline) {
        return Short::No;
    }
    probe::begins!(Point::ClientMessagingSend);
    let to = (&**connection, path.endpoint());
    let Some(head) = path.heads.head(operation, to) else {
        recent.keep();
        return Short::No;
    };
    let call = ShortCall {
        callee,
        connection,
        head,
        deadline,
        // A buffered request leaves when the caller may already have refilled its buffers.
        lends: path.lends && (operation.two_way || path.effective.buffering.is_none()),
        effective: &path.effective,
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
        Err(attempted) => {
            // Whatever came instead of results, the path remains valid. If the connection has
            // broken, the thread clears its cache.
            if connection.may_be_used() {
                block.reuse();
                recent.keep();
            }
            Short::Attempted(attempted)
        }
    }
}

/// Makes a call with interceptors, to an object group, or with a long argument.
#[inline(never)]
fn aside(
    recent: Recent,
    callee: &Callee<'_>,
    operation: &NamedOperation<'_>,
    arguments: &Arguments<'_>,
    results: &mut Results<'_>,
) -> Short {
    if Interceptors::ARE_BUILT_IN && recent.last().path.is_intercepted {
        intercepted::attempt(recent, callee, operation, arguments, results)
    } else {
        apart::attempt(recent, callee, operation, arguments, results)
    }
}

struct ShortCall<'q> {
    callee: &'q Callee<'q>,
    connection: &'q Arc<ClientConnection>,
    head: &'q RequestHead,
    deadline: Deadline,
    lends: bool,
    effective: &'q Effective,
}

impl ShortCall<'_> {
    /// Records the current stage of the call in the timeline, if one is being recorded. A second copy of the call for
    /// recordings would spare two of its three branches, but what both share is not inlined then, which costs more.
    #[inline(always)]
    fn record_stage(&self, stage: Stage, request: u32) {
        if timeline::is_recording() {
            self.connection.record_stage(stage, request);
        }
    }

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
        self.record_stage(Stage::Sending, pending.id());
        if let Err(failed) =
            send::send_plainly(connection, block, self.effective.out_of_band, self.deadline)
        {
            return Err(self.failed(failed));
        }
        self.record_stage(Stage::Sent, pending.id());
        probe::begins!(Point::ClientTransportReceive);
        // The request's block is reused for its reply.
        match complete::wait_with::<{ complete::PLAIN }>(connection, block, &pending, self.deadline)
        {
            Waited::Own(reply) => {
                self.record_stage(Stage::Received, pending.id());
                let body = match reply.status {
                    ReplyStatus::UserException => Body::UserException,
                    _ => Body::Results,
                };
                // The reply slot is released while the results are read.
                pending.end();
                probe::begins!(Point::ClientDemarshal);
                results(body, &mut self.decoder(block, &reply));
                // The block is kept for the next call.
                probe::begins!(Point::ClientMessagingReceive);
                Ok(())
            }
            Waited::Otherwise(waited) => self.read(waited, &pending, results),
        }
    }

    /// Sends a one-way. It has no reply and needs no slot in the reply table, so its request id is
    /// 0.
    #[inline]
    fn make_one_way(
        &self,
        block: &mut Block,
        arguments: &Arguments<'_>,
    ) -> Result<(), Box<Attempted>> {
        self.write(block, 0, arguments)?;
        let by = (&**self.callee.lane, self.connection);
        let sent = match &self.effective.buffering {
            None => {
                let out_of_band = self.effective.out_of_band;
                send::send_one_way_plainly(by, block, out_of_band, self.deadline)
            }
            Some(terms) => send::buffer_plainly(by, block, terms, self.deadline),
        };
        sent.map_err(|failed| self.failed(failed))
    }

    // Writes the request. Inlined in both kinds of call, as it is a good part of their cost.
    #[inline(always)]
    fn write(
        &self,
        block: &mut Block,
        request_id: u32,
        arguments: &Arguments<'_>,
    ) -> Result<(), Box<Attempted>> {
        let by = (self.callee, &**self.connection);
        let head = (self.head, request_id);
        match write::by_head(by, head, arguments, self.lends, None, block) {
            Ok(()) => Ok(()),
            Err(failed) => Err(self.failed(failed)),
        }
    }

    #[inline]
    fn decoder<'r>(&'r self, block: &'r Block, reply: &OwnReply) -> Decoder<'r> {
        let octets = block.get(reply.origin..).unwrap_or_default();
        let coding = Coding {
            environment: Some(self.callee.environment_of(self.connection.origin())),
            ..write::coding(self.callee, self.connection)
        };
        Decoder::at(octets, reply.body, reply.order, coding)
    }

    /// Reads a reply that did not arrive as a single message in the request's buffer: another
    /// caller's thread received it, or it came with other messages or in fragments. Ends the call
    /// if there is no reply.
    #[cold]
    fn read(
        &self,
        waited: Result<Message, NoReply>,
        pending: &PendingReply<'_>,
        results: &mut Results<'_>,
    ) -> Result<(), Box<Attempted>> {
        let connection = self.connection;
        let received = complete::record_received(waited, connection, pending);
        let message = received.map_err(|why| {
            let failed = complete::without_reply(connection, pending, why, self.deadline);
            self.failed(failed)
        })?;
        probe::begins!(Point::ClientMessagingReceive);
        let outcome = Reply::read(message, connection, *self.callee);
        match outcome
            .map_err(|failed| self.failed(failed))?
            .give(*self.callee, results)
        {
            None => Ok(()),
            Some(other) => Err(self.attempted(Ok(Some(other)))),
        }
    }

    #[cold]
    fn failed(&self, failed: Failed) -> Box<Attempted> {
        self.attempted(Err(failed))
    }

    fn attempted(&self, outcome: Outcome) -> Box<Attempted> {
        Box::new(Attempted {
            outcome,
            deadline: self.deadline,
            contexts: None,
            interrupted: None,
        })
    }
}
