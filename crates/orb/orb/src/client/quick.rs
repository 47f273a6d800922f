//! The short way of a call: through a reference whose last call has succeeded, by the same connection and
//! under the same policies, with a head that is written already. Takes no lock but the one under which
//! messages leave, and allocates nothing.
//!
//! Whatever is not as usual goes the long way ([`super::invocation`]), from its beginning or, if the
//! request has been sent, on from there.

use super::failure::{Failed, no_reply, not_sent, timed_out, too_large, too_many_calls};
use super::heads::RequestHead;
use super::invocation::{Arguments, Operation};
use super::mux::ClientConnection;
use super::reply::{Reply, ReplyOutcome};
use super::wait::NoReply;
use crate::exception::{CompletionStatus, cdr_exception};
use crate::reference::ObjectRef;
use crate::server;
use punctual_cdr::{Block, CdrError, Coding};
use punctual_exec::Deadline;

/// What became of a call.
pub(super) enum Quick {
    /// The reply, or `None` of a one-way that was sent; and until when the call may take.
    Attempted(Result<Option<ReplyOutcome>, Failed>, Deadline),
    /// Nothing: the long way is to be gone.
    No,
}

/// Makes a call, if everything is as it was for the last one.
#[inline]
pub(super) fn attempt(
    object: &ObjectRef,
    operation: &Operation,
    arguments: &Arguments<'_>,
) -> Quick {
    let path = object.path_at_hand(operation.two_way);
    let Some(path) = path
        .as_ref()
        .filter(|path| path.is_quick(operation.two_way))
    else {
        return Quick::No;
    };
    if !path.effective.holds(object.orb()) {
        return Quick::No;
    }
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
    Quick::Attempted(call.make(operation.two_way, arguments), deadline)
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
    ) -> Result<Option<ReplyOutcome>, Failed> {
        let (connection, deadline) = (self.connection, self.deadline);
        let pending = connection
            .register()
            .ok_or_else(|| Failed::Finally(too_many_calls()))?;
        let mut request = self
            .marshal(pending.id(), arguments)
            .map_err(|error| Failed::Finally(cdr_exception(error, CompletionStatus::No)))?;
        let limit = connection.limits.message;
        if request.full_len() > limit {
            return Err(Failed::Finally(too_large(request.full_len(), limit)));
        }
        if let Err(error) = connection.send(&mut request, deadline) {
            return Err(not_sent(connection.peer(), &error));
        }
        drop(request);
        if !two_way {
            return Ok(None);
        }
        server::about_to_block();
        let message = match connection.wait(&pending, deadline) {
            Ok(message) => message,
            Err(NoReply::TimedOut) => {
                super::request::cancel(connection, pending.id());
                return Err(Failed::Finally(timed_out(connection.peer(), deadline)));
            }
            Err(NoReply::Broken(broken)) => return Err(no_reply(connection.peer(), &broken)),
        };
        let (session, orb) = (&*connection.session, self.object.orb());
        Reply::read(message, session, connection.code_sets, orb)
            .map(Some)
            .map_err(|exception| Failed::Finally(exception.in_context(connection.peer())))
    }

    #[inline]
    fn marshal(&self, request_id: u32, arguments: &Arguments<'_>) -> Result<Block, CdrError> {
        let (connection, orb) = (self.connection, self.object.orb());
        let coding = Coding {
            version: connection.version,
            code_sets: connection.code_sets,
            limits: orb.limits(),
            environment: Some(orb),
        };
        let mut out = self.head.begin(connection.lend(), request_id, coding);
        if self.lends {
            out.set_lender(connection.link.lender());
        }
        arguments(&mut out)?;
        let mut block = self.head.end(out);
        connection.session.finish(&mut block)?;
        Ok(block)
    }
}
