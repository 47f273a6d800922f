//! The short way of a call: through a reference whose last call has succeeded, by the same connection and
//! under the same policies, with a head that is written already. Takes no lock but the one under which
//! messages leave, and allocates nothing.
//!
//! Whatever is not as usual goes the long way ([`super::invocation`]), from its beginning or, if the
//! request has been sent, on from there.

use super::buffer::Buffering;
use super::failure::{Failed, no_reply, not_sent, timed_out, too_large, too_many_calls};
use super::heads::RequestHead;
use super::invocation::Arguments;
use super::mux::{ClientConnection, PendingReply};
use super::operation::NamedOperation;
use super::reply::{Body, Reply, ReplyOutcome, Results};
use super::route::Path;
use super::wait::{NoReply, Waited};
use crate::exception::{CompletionStatus, SystemException, cdr_exception};
use crate::messaging::{Message, OwnReply};
use crate::probe::{self, Point};
use crate::reference::ObjectRef;
use crate::server;
use punctual_cdr::{Block, CdrError, Coding, Decoder};
use punctual_exec::Deadline;
use punctual_giop::ReplyStatus;
use punctual_link::SendError;
use std::cell::Cell;
use std::sync::Arc;
use std::time::Instant;

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
    operation: &NamedOperation<'_>,
    arguments: &Arguments<'_>,
    results: &mut Results<'_>,
) -> Quick {
    let key = Key {
        version: object.version(),
        two_way: operation.two_way,
    };
    // A thread that is ending has no memory any more; a call within the marshaling of another finds none.
    let last = LAST.try_with(Cell::take).ok().flatten();
    let Some(mut last) = last
        .filter(|last| last.key == key)
        .or_else(|| Last::find(object, key))
    else {
        return Quick::No;
    };
    let (path, connection) = (&*last.path, &last.connection);
    if !path.effective.holds(object.orb().managed_policies()) {
        return Quick::No;
    }
    probe::begins!(Point::ClientReference);
    let deadline = Deadline::after_maybe(object.timeout_under(&path.effective));
    if connection.must_tell_code_sets() || !connection.is_usable(deadline) {
        return Quick::No;
    }
    probe::begins!(Point::ClientMessagingSend);
    let Some(head) = path.heads.head(operation, connection, path.endpoint()) else {
        return Quick::No;
    };
    let call = QuickCall {
        object,
        connection,
        head,
        deadline,
        // What waits for others leaves when the caller may have filled its buffers anew.
        lends: path.lends && (operation.two_way || path.effective.buffering.is_none()),
        buffering: &path.effective.buffering,
    };
    match call.make(operation.two_way, &mut last.block, arguments, results) {
        Ok(()) => {
            last.block.reuse();
            let _ = LAST.try_with(|place| place.set(Some(last)));
            Quick::Done
        }
        Err(attempted) => Quick::Attempted(attempted),
    }
}

thread_local! {
    /// By what way the thread's last call has gone. Threads call through the same reference again and
    /// again, and this spares the counting of references to what they share. It keeps one connection of
    /// each thread from being let go, until the thread calls by another.
    static LAST: Cell<Option<Box<Last>>> = const { Cell::new(None) };
}

struct Last {
    key: Key,
    /// Memory for the next call's request and reply.
    block: Block,
    path: Arc<Path>,
    connection: Arc<ClientConnection>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    version: (u64, u64),
    two_way: bool,
}

impl Last {
    #[cold]
    fn find(object: &ObjectRef, key: Key) -> Option<Box<Self>> {
        let path = object.path(key.two_way)?;
        let connection = path.connection()?;
        path.is_quick(key.two_way).then(|| {
            Box::new(Self {
                key,
                block: Block::default(),
                path,
                connection,
            })
        })
    }
}

struct QuickCall<'q> {
    object: &'q ObjectRef,
    connection: &'q Arc<ClientConnection>,
    head: &'q RequestHead,
    deadline: Deadline,
    lends: bool,
    buffering: &'q Option<Buffering>,
}

impl QuickCall<'_> {
    #[inline]
    fn make(
        &self,
        two_way: bool,
        block: &mut Block,
        arguments: &Arguments<'_>,
        results: &mut Results<'_>,
    ) -> Result<(), Box<Attempted>> {
        let connection = self.connection;
        if !two_way {
            return self.make_one_way(block, arguments);
        }
        let Some(pending) = connection.register() else {
            return Err(self.finally(too_many_calls()));
        };
        self.write(block, pending.id(), arguments)?;
        if let Err(error) = connection.send_plainly(block, self.deadline) {
            return Err(self.failed(not_sent(connection.peer(), &error)));
        }
        probe::begins!(Point::ClientTransportReceive);
        let bound = server::about_to_block();
        let deadline = connection.bounded(self.deadline, bound);
        // The request's memory serves for its reply.
        match connection.wait_with(block, &pending, deadline) {
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
        let connection = self.connection;
        self.write(block, 0, arguments)?;
        let sent = match self.buffering {
            None => connection.send_plainly(block, self.deadline),
            Some(when) => self.buffer(block, *when),
        };
        sent.map_err(|error| self.failed(not_sent(connection.peer(), &error)))
    }

    /// Lets a one-way request wait for others.
    fn buffer(&self, block: &Block, when: Buffering) -> Result<(), SendError> {
        if let Some(delay) = self.connection.append(block, when, self.deadline)? {
            let flusher = &self.object.orb().lane().flusher;
            if !flusher.schedule(Instant::now() + delay, self.connection) {
                self.connection.flush(self.deadline);
            }
        }
        Ok(())
    }

    /// Writes the request into the block.
    // In both kinds of call, of which it is a good part.
    #[inline(always)]
    fn write(
        &self,
        block: &mut Block,
        request_id: u32,
        arguments: &Arguments<'_>,
    ) -> Result<(), Box<Attempted>> {
        if block.capacity() == 0 {
            *block = self.connection.lend();
        }
        if let Err(error) = self.marshal(block, request_id, arguments) {
            return Err(self.finally(cdr_exception(error, CompletionStatus::No)));
        }
        let (length, limit) = (block.full_len(), self.connection.limits.message);
        if length > limit {
            return Err(self.finally(too_large(length, limit)));
        }
        Ok(())
    }

    #[inline(always)]
    fn marshal(
        &self,
        block: &mut Block,
        request_id: u32,
        arguments: &Arguments<'_>,
    ) -> Result<(), CdrError> {
        let connection = self.connection;
        let mut out = self
            .head
            .template
            .begin(std::mem::take(block), request_id, self.coding());
        if self.lends {
            out.set_lender(connection.link.lender());
        }
        probe::begins!(Point::ClientMarshal);
        arguments(&mut out)?;
        probe::begins!(Point::ClientMessagingSend);
        *block = self.head.template.end(out);
        Ok(())
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
                super::request::give_up(connection, pending);
                return Err(self.finally(timed_out(connection.peer(), self.deadline)));
            }
            Err(NoReply::Broken(broken)) => {
                return Err(self.failed(no_reply(connection.peer(), &broken)));
            }
        };
        probe::begins!(Point::ClientMessagingReceive);
        match Reply::read(message, &*connection.session, connection.code_sets, orb) {
            Ok(ReplyOutcome::Results(reply)) => {
                probe::begins!(Point::ClientDemarshal);
                results(Body::Results, &mut reply.decoder(orb));
            }
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
