//! Fast path of a call to an object group ([`super::super::group`]), and of one with a long argument, which is sent from the
//! memory of the caller instead of being copied into the message ([`CallerMemory`]).
//!
//! As for calls with interceptors ([`super::intercepted`]), it repeats the beginning of the path of other calls, so that these
//! do not pay for it. Does not allocate.
//!
//! The service contexts of a request to a group are copied before it is sent, so that a repeat on the slow path carries the
//! same ones. A caller keeps its arguments as they are while it waits for the call; a request that does not leave at once,
//! such as one that is buffered or repeated, is copied.

use super::super::complete;
use super::super::failure::{Failed, too_many_calls};
use super::super::heads::RequestHead;
use super::super::invocation::{Attempted, Outcome, Short};
use super::super::outcome::{Body, Reply, Results};
use super::super::path::Path;
use super::super::recent::Recent;
use super::super::remote::Callee;
use super::super::send;
use super::super::write::{self, Arguments};
use crate::lane::{ClientConnection, NoReply, PendingReply, Waited};
use crate::messaging::{Message, OwnReply};
use crate::operation::NamedOperation;
use crate::policy::{Effective, Transfer};
use crate::probe::{self, Point};
use crate::timeline::{self, Stage};
use punctual_cdr::{Block, CallerMemory, Coding, Decoder};
use punctual_exec::Deadline;
use punctual_giop::ReplyStatus;
use std::sync::Arc;

/// Maximum length of the service contexts of a request on this path, in bytes.
const MOST: usize = 192;

/// Makes a call as [`super::attempt`] does.
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
    let timeout = Deadline::after_optional(callee.timeout_under(&path.effective));
    let deadline = match &path.group {
        Some(group) => timeout.earlier(Deadline::after(group.terms.duration)),
        None => timeout,
    };
    if connection.announced.must_tell_code_sets() || !connection.is_usable(deadline) {
        return Short::No;
    }
    let Some(head) = path.heads.head(operation, (connection, path.endpoint())) else {
        recent.keep_emptied();
        return Short::No;
    };
    let memory = CallerMemory::new(operation.memory);
    let mut call = ApartCall {
        callee,
        connection,
        head,
        deadline,
        lends: path.lends && (operation.two_way || path.effective.buffering.is_none()),
        effective: &path.effective,
        memory: may_leave_out(path, operation).then_some(&memory),
        keeps_contexts: path.group.is_some(),
        contexts: [0; MOST],
        length: 0,
    };
    let made = match operation.two_way {
        true => call.make(block, arguments, results),
        false => call.make_one_way(block, arguments),
    };
    let keeps = made.is_ok() || connection.may_be_used();
    if keeps {
        recent.keep_emptied();
    }
    match made {
        Ok(()) => Short::Done,
        Err(attempted) => Short::Attempted(attempted),
    }
}

/// Returns whether a long argument may be left out of the message. A link that shares memory takes it by reference instead.
fn may_leave_out(path: &Path, operation: &NamedOperation<'_>) -> bool {
    let leaves_at_once = operation.two_way || path.effective.buffering.is_none();
    !operation.memory.is_empty()
        && leaves_at_once
        && path.effective.transfer == Transfer::Lend
        && !path.lends
}

struct ApartCall<'q> {
    callee: &'q Callee<'q>,
    connection: &'q Arc<ClientConnection>,
    head: &'q RequestHead,
    deadline: Deadline,
    lends: bool,
    effective: &'q Effective,
    /// Memory from which a long argument is sent.
    memory: Option<&'q CallerMemory<'q>>,
    /// True if a repeat has to carry the same service contexts.
    keeps_contexts: bool,
    /// Service contexts of the request, as they were sent.
    contexts: [u8; MOST],
    /// Number of bytes of `contexts` that are in use.
    length: usize,
}

impl ApartCall<'_> {
    fn make(
        &mut self,
        block: &mut Block,
        arguments: &Arguments<'_>,
        results: &mut Results<'_>,
    ) -> Result<(), Box<Attempted>> {
        let connection = self.connection;
        let Some(pending) = connection.register() else {
            return Err(self.failed(Failed::Finally(too_many_calls())));
        };
        self.write(block, pending.id(), arguments)?;
        if timeline::is_recording() {
            connection.record_stage(Stage::Sending, pending.id());
        }
        if let Err(failed) = self.send(block) {
            return Err(self.failed(failed));
        }
        if timeline::is_recording() {
            connection.record_stage(Stage::Sent, pending.id());
        }
        probe::begins!(Point::ClientTransportReceive);
        match complete::wait_with::<{ complete::APART }>(connection, block, &pending, self.deadline)
        {
            Waited::Own(reply) => {
                if timeline::is_recording() {
                    connection.record_stage(Stage::Received, pending.id());
                }
                let body = match reply.status {
                    ReplyStatus::UserException => Body::UserException,
                    _ => Body::Results,
                };
                pending.end();
                probe::begins!(Point::ClientDemarshal);
                results(body, &mut self.decoder(block, &reply));
                probe::begins!(Point::ClientMessagingReceive);
                Ok(())
            }
            Waited::Otherwise(waited) => self.read(waited, &pending, results),
        }
    }

    fn make_one_way(
        &mut self,
        block: &mut Block,
        arguments: &Arguments<'_>,
    ) -> Result<(), Box<Attempted>> {
        self.write(block, 0, arguments)?;
        let by = (&**self.callee.lane, self.connection);
        let sent = match &self.effective.buffering {
            None if self.memory.is_some() => self.send(block),
            None => {
                let out_of_band = self.effective.out_of_band;
                send::send_one_way_plainly(by, block, out_of_band, self.deadline)
            }
            Some(terms) => send::buffer_plainly(by, block, terms, self.deadline),
        };
        sent.map_err(|failed| self.failed(failed))
    }

    fn send(&self, block: &mut Block) -> Result<(), Failed> {
        let (connection, out_of_band) = (self.connection, self.effective.out_of_band);
        match self.memory {
            None => send::send_plainly(connection, block, out_of_band, self.deadline),
            Some(memory) => {
                send::send_from(connection, (block, memory), out_of_band, self.deadline)
            }
        }
    }

    fn write(
        &mut self,
        block: &mut Block,
        request_id: u32,
        arguments: &Arguments<'_>,
    ) -> Result<(), Box<Attempted>> {
        let by = (self.callee, &**self.connection);
        let head = (self.head, request_id);
        if let Err(failed) = write::by_head(by, head, arguments, self.lends, self.memory, block) {
            // Nothing has been sent.
            return Err(self.failed(failed));
        }
        let template = &self.head.template;
        if self.keeps_contexts && template.has_contexts() {
            match template.save_contexts(block, &mut self.contexts) {
                Some(length) => self.length = length,
                // Contexts of other crates that leave no room: the slow path keeps them.
                None => return Err(self.failed(Failed::Stale(too_many_calls()))),
            }
        }
        Ok(())
    }

    fn decoder<'r>(&'r self, block: &'r Block, reply: &OwnReply) -> Decoder<'r> {
        let octets = block.get(reply.origin..).unwrap_or_default();
        let coding = Coding {
            environment: Some(self.callee.environment_of(self.connection.origin())),
            ..write::coding(self.callee, self.connection)
        };
        Decoder::at(octets, reply.body, reply.order, coding)
    }

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
        let outcome = Reply::read(message, connection, *self.callee);
        let outcome = outcome.map_err(|failed| self.failed(failed))?;
        match outcome.give(*self.callee, results) {
            None => Ok(()),
            Some(other) => Err(self.attempted(Ok(Some(other)))),
        }
    }

    #[cold]
    fn failed(&self, failed: Failed) -> Box<Attempted> {
        self.attempted(Err(failed))
    }

    #[cold]
    fn attempted(&self, outcome: Outcome) -> Box<Attempted> {
        let saved = self
            .contexts
            .get(..self.length)
            .filter(|saved| !saved.is_empty());
        Box::new(Attempted {
            outcome,
            deadline: self.deadline,
            contexts: saved.map(|saved| self.head.saved_contexts(saved)),
            interrupted: None,
        })
    }
}
