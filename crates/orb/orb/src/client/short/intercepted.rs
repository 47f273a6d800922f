//! Fast path of a call in an ORB with client interceptors, which are called as on the slow path
//! ([`super::super::intercepted`]).
//!
//! It is a function of its own and repeats the beginning of the other one: parts that both share would
//! no longer be inlined in calls without interceptors, which took 30 to 50 instructions more. What
//! interceptors may ask for is not collected before they ask. A call whose interceptors do nothing
//! does not allocate.

use super::super::complete;
use super::super::failure::{Failed, too_many_calls};
use super::super::heads::RequestHead;
use super::super::intercepted::{contexts_of_own, outcome_of, reply_contexts, sync_scope, types};
use super::super::interception::Interception;
use super::super::invocation::{Attempted, Interrupted, Short};
use super::super::outcome::{Body, Reply, ReplyOutcome, Results};
use super::super::path::Path;
use super::super::recent::Recent;
use super::super::remote::Callee;
use super::super::send;
use super::super::write::{self, Arguments};
use crate::interceptor::{At, CallDestination, CallFacts, ClientPass, Outcome, ReadBody};
use crate::lane::{ClientConnection, Waited};
use crate::messaging::{Message, OwnReply};
use crate::operation::NamedOperation;
use crate::probe::{self, Point};
use crate::timeline::{self, Stage};
use punctual_cdr::{Block, Coding, Decoder};
use punctual_exec::Deadline;
use punctual_giop::ReplyStatus;
use std::sync::Arc;

/// Makes a call as [`super::attempt`] does, and calls the interceptors of the ORB at its points.
#[inline(never)]
pub(super) fn attempt(
    mut recent: Recent,
    callee: &Callee<'_>,
    operation: &NamedOperation<'_>,
    arguments: &Arguments<'_>,
    results: &mut Results<'_>,
) -> Short {
    let last = recent.last();
    if last.connection.is_busy() && operation.two_way {
        let elsewhere = last.connection.elsewhere(callee.lane, last.path.endpoint());
        if let Some(connection) = elsewhere {
            recent.go_by(connection);
        }
    }
    let (last, block) = recent.parts();
    let (path, connection) = (&*last.path, &last.connection);
    let deadline = Deadline::after_optional(callee.timeout_under(&path.effective));
    if connection.announced.must_tell_code_sets() || !connection.is_usable(deadline) {
        return Short::No;
    }
    let Some(head) = path.heads.head(operation, (connection, path.endpoint())) else {
        recent.keep_emptied();
        return Short::No;
    };
    let call = WatchedCall {
        callee,
        operation,
        arguments,
        connection,
        path,
        head,
        deadline,
    };
    let made = call.make(block, results);
    let keeps = made.is_ok() || connection.may_be_used();
    if keeps {
        recent.keep_emptied();
    }
    match made {
        Ok(()) => Short::Done,
        Err(attempted) => Short::Attempted(attempted),
    }
}

struct WatchedCall<'q> {
    callee: &'q Callee<'q>,
    operation: &'q NamedOperation<'q>,
    arguments: &'q Arguments<'q>,
    connection: &'q Arc<ClientConnection>,
    path: &'q Path,
    head: &'q RequestHead,
    deadline: Deadline,
}

/// Reason why a call does not end on the fast path.
enum Left {
    /// Its attempt has another result than a reply with results or a user exception.
    Attempted(super::super::invocation::Outcome),
    /// Interceptors have raised an exception, or forwarded the call.
    Interrupted(Outcome),
}

impl From<Failed> for Box<Left> {
    fn from(failed: Failed) -> Self {
        Self::new(Left::Attempted(Err(failed)))
    }
}

impl WatchedCall<'_> {
    fn make(&self, block: &mut Block, results: &mut Results<'_>) -> Result<(), Box<Attempted>> {
        let broker = self.callee.broker();
        let slots = broker.interceptors.slots().unwrap_or_default();
        let mut pass = ClientPass::new(broker.number(), slots);
        if self.head.template.has_contexts() {
            pass.request_contexts = self.head.contexts();
        }
        let at = self.at(pass.request_id());
        let made = match (pass.start_request(&at), self.operation.two_way) {
            (Some(outcome), _) => Err(Box::new(Left::Interrupted(outcome))),
            (None, true) => self.exchange((&mut pass, &at), block, results),
            (None, false) => self.send_one_way((&mut pass, &at), block),
        };
        made.map_err(|left| self.left(pass, *left))
    }

    fn exchange(
        &self,
        (pass, at): (&mut ClientPass, &At<'_>),
        block: &mut Block,
        results: &mut Results<'_>,
    ) -> Result<(), Box<Left>> {
        let connection = self.connection;
        let pending = connection.register();
        let pending = pending.ok_or_else(|| Failed::Finally(too_many_calls()))?;
        self.write(pass, block, pending.id())?;
        if timeline::is_recording() {
            connection.record_stage(Stage::Sending, pending.id());
        }
        let out_of_band = self.path.effective.out_of_band;
        send::send_plainly(connection, block, out_of_band, self.deadline)?;
        if timeline::is_recording() {
            connection.record_stage(Stage::Sent, pending.id());
        }
        probe::begins!(Point::ClientTransportReceive);
        // The request's block is reused for its reply.
        match complete::wait_with::<{ complete::INTERCEPTED }>(
            connection,
            block,
            &pending,
            self.deadline,
        ) {
            Waited::Own(reply) => {
                if timeline::is_recording() {
                    connection.record_stage(Stage::Received, pending.id());
                }
                drop(pending);
                self.give((pass, at), block, reply, results)
            }
            Waited::Otherwise(waited) => {
                let received = complete::record_received(waited, connection, &pending);
                let message = received.map_err(|why| {
                    complete::without_reply(connection, &pending, why, self.deadline)
                })?;
                drop(pending);
                self.give_message((pass, at), message, results)
            }
        }
    }

    /// Passes a reply that has arrived in the request's block to the interceptors, then to the caller.
    fn give(
        &self,
        (pass, at): (&mut ClientPass, &At<'_>),
        block: &Block,
        reply: OwnReply,
        results: &mut Results<'_>,
    ) -> Result<(), Box<Left>> {
        if self.connection.wire.session.may_have_contexts(&reply) {
            pass.reply_contexts = contexts_of_own(self.connection, block);
        }
        let (kind, outcome) = match reply.status {
            ReplyStatus::UserException => {
                let id = self.decoder(block, reply).get_string().map(Into::into);
                (Body::UserException, Outcome::User(id.unwrap_or_default()))
            }
            _ => (Body::Results, Outcome::Reply),
        };
        let body = |look: &mut dyn FnMut(&mut Decoder<'_>)| look(&mut self.decoder(block, reply));
        ended(pass.end(at, outcome, Some(&body as &ReadBody<'_>)))?;
        probe::begins!(Point::ClientDemarshal);
        results(kind, &mut self.decoder(block, reply));
        probe::begins!(Point::ClientMessagingReceive);
        Ok(())
    }

    fn decoder<'r>(&'r self, block: &'r Block, reply: OwnReply) -> Decoder<'r> {
        let octets = block.get(reply.origin..).unwrap_or_default();
        let coding = Coding {
            environment: Some(self.callee.environment_of(self.connection.origin())),
            ..write::coding(self.callee, self.connection)
        };
        Decoder::at(octets, reply.body, reply.order, coding)
    }

    /// Passes a reply that has arrived otherwise to the interceptors, then to the caller.
    fn give_message(
        &self,
        (pass, at): (&mut ClientPass, &At<'_>),
        message: Message,
        results: &mut Results<'_>,
    ) -> Result<(), Box<Left>> {
        probe::begins!(Point::ClientMessagingReceive);
        pass.reply_contexts = reply_contexts(self.connection, &message);
        let came = Reply::read(message, self.connection, *self.callee)?;
        let (ReplyOutcome::Results(reply) | ReplyOutcome::UserException(reply)) = &came else {
            return Err(Box::new(Left::Attempted(Ok(Some(came)))));
        };
        let body = |look: &mut dyn FnMut(&mut Decoder<'_>)| look(&mut reply.decoder(*self.callee));
        let outcome = outcome_of(self.callee, Some(&came));
        ended(pass.end(at, outcome, Some(&body as &ReadBody<'_>)))?;
        match came.give(*self.callee, results) {
            None => Ok(()),
            Some(other) => Err(Box::new(Left::Attempted(Ok(Some(other))))),
        }
    }

    fn send_one_way(
        &self,
        (pass, at): (&mut ClientPass, &At<'_>),
        block: &mut Block,
    ) -> Result<(), Box<Left>> {
        self.write(pass, block, 0)?;
        let by = (&**self.callee.lane, self.connection);
        match &self.path.effective.buffering {
            None => {
                let out_of_band = self.path.effective.out_of_band;
                send::send_one_way_plainly(by, block, out_of_band, self.deadline)?;
            }
            Some(terms) => send::buffer_plainly(by, block, terms, self.deadline)?,
        }
        ended(pass.end(at, Outcome::Sent, None))
    }

    /// Writes the request: with the prepared header, unless interceptors have added service contexts.
    fn write(&self, pass: &ClientPass, block: &mut Block, request_id: u32) -> Result<(), Failed> {
        let by = (self.callee, &**self.connection);
        let head = (self.head, request_id);
        // A buffered request leaves when the caller may already have refilled its buffers.
        let lends =
            self.path.lends && (self.operation.two_way || self.path.effective.buffering.is_none());
        if pass.has_added_contexts && self.connection.carries_contexts() {
            let object_key = &self.path.endpoint().object_key[..];
            let of = (self.operation, object_key, &pass.request_contexts);
            return write::with_contexts(by, head, of, self.arguments, lends, block);
        }
        write::by_head(by, head, self.arguments, lends, None, block)
    }

    /// Collects what interceptors may ask for.
    fn at(&self, request_id: u32) -> At<'_> {
        let (callee, operation, path) = (self.callee, self.operation, self.path);
        let (effective, profile) = match path.levels.last() {
            Some((target, endpoint)) => (target, endpoint.as_ref().map_or(0, |one| one.profile)),
            None => (callee.object.original(), 0),
        };
        At {
            interceptors: callee.broker().interceptors.client(),
            facts: CallFacts {
                request_id,
                operation: operation.name(),
                response_expected: operation.two_way,
                sync_scope: sync_scope(operation.response, &path.effective),
                details: operation.details,
                types: types(operation, self.arguments, callee),
            },
            place: CallDestination {
                target: callee.object.called_as().ior(),
                effective: effective.ior(),
                profile,
                policies: &path.effective,
                protocols: &callee.broker().protocols,
                environment: callee.environment,
            },
        }
    }

    /// Passes the call and its interceptors' pass to the slow path.
    #[cold]
    fn left(&self, pass: ClientPass, left: Left) -> Box<Attempted> {
        let (outcome, by) = match left {
            Left::Attempted(outcome) => (outcome, None),
            Left::Interrupted(by) => (Ok(None), Some(by)),
        };
        let interception = Interception::of(pass, by.is_none());
        Box::new(Attempted {
            outcome,
            deadline: self.deadline,
            contexts: None,
            interrupted: Some(Box::new(Interrupted { interception, by })),
        })
    }
}

/// Converts what the ending points have changed.
fn ended(changed: Option<Outcome>) -> Result<(), Box<Left>> {
    match changed {
        None => Ok(()),
        Some(outcome) => Err(Box::new(Left::Interrupted(outcome))),
    }
}
