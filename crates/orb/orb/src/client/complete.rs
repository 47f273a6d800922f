//! The stage in which a call waits for its reply, and the handling of calls that get no reply.

use super::failure::{Failed, no_reply, out_of_place, timed_out, too_late};
use super::write::Ask;
use crate::lane::{AwaitedReply, ClientConnection, NoReply, PendingReply, Waited};
use crate::messaging::Message;
use crate::timeline::{self, Stage};
use crate::upcall;
use punctual_cdr::Block;
use punctual_exec::Deadline;
use std::time::Duration;

/// Event that completes a call for the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Completion {
    /// The request has been sent; enough for a one-way.
    Sent,
    /// The reply has arrived, received or awaited by the calling thread.
    Reply,
    /// The reply to a relayed request has arrived. Another thread takes over receiving on the
    /// incoming connection only if the reply takes longer than 2 ms, or if more data has already
    /// arrived there: a change of threads would cost as much as the call.
    RelayedReply,
}

impl Completion {
    /// Returns what ends a call whose caller waits: a reply, or the end of sending.
    pub(super) fn of(ask: Ask<'_>) -> Self {
        match ask {
            Ask::Request { operation, .. } if !operation.two_way => Self::Sent,
            Ask::Relay(request) if !request.response.response_expected() => Self::Sent,
            Ask::Relay(_) => Self::RelayedReply,
            Ask::Request { .. } | Ask::Locate => Self::Reply,
        }
    }
}

/// Time that a relayed request may take before another thread takes over receiving on the incoming
/// connection.
const BEFORE_HAND_OVER: Duration = Duration::from_millis(2);

/// Kind of call that waits by [`wait_with`]: a synchronous call without interceptors.
pub(super) const PLAIN: u8 = 0;
/// Kind of call that waits by [`wait_with`]: a synchronous call with interceptors.
pub(super) const INTERCEPTED: u8 = 1;
/// Kind of call that waits by [`wait_with`]: a deferred call.
pub(super) const DEFERRED: u8 = 2;

/// Kind of call that waits by [`wait_with`]: a synchronous call to an object group, or with a long argument.
pub(super) const APART: u8 = 3;

/// Waits for the reply, reusing the request's block to receive it. If this thread also receives
/// requests, another thread takes that over meanwhile. The caller records the stage
/// [`Stage::Received`]: here it would cost a copy of the outcome.
#[inline(always)]
pub(super) fn wait_with<const KIND: u8>(
    connection: &ClientConnection,
    block: &mut Block,
    pending: &PendingReply<'_>,
    deadline: Deadline,
) -> Waited {
    let bound = upcall::about_to_block();
    connection.wait_with::<KIND>(block, pending, connection.bounded(deadline, bound))
}

/// Records in the timeline that the reply has come, if it has, and one is being recorded.
#[inline]
pub(super) fn record_received<E>(
    came: Result<Message, E>,
    connection: &ClientConnection,
    pending: &PendingReply<'_>,
) -> Result<Message, E> {
    if timeline::is_recording() && came.is_ok() {
        connection.record_stage(Stage::Received, pending.id());
    }
    came
}

/// Waits for the reply to a deferred call.
///
/// # Errors
/// The failure, if no reply has come.
pub(super) fn wait_for(
    reply: AwaitedReply,
    completion: Completion,
    deadline: Deadline,
) -> Result<Message, Failed> {
    let came = reply.with(|connection, pending| {
        connection.flush_if_it_waits(pending.id(), deadline);
        let waited = wait(connection, pending, completion, deadline);
        let waited = record_received(waited, connection, pending);
        waited.map_err(|why| without_reply(connection, pending, why, deadline))
    });
    came.unwrap_or_else(|| Err(Failed::Finally(out_of_place())))
}

/// Waits for the reply until `until` at most. Returns the awaited reply if it has not arrived by
/// then.
pub(super) fn wait_until(
    reply: AwaitedReply,
    until: Deadline,
    deadline: Deadline,
) -> Result<Result<Message, Failed>, AwaitedReply> {
    let came = reply.with_or_again(|connection, pending| {
        // A request whose reply is waited for is not held back for others. The call's deadline
        // applies: a send that does not end by `until` must not end the connection.
        connection.flush_if_it_waits(pending.id(), deadline);
        let bound = upcall::about_to_block();
        let bounded = connection.bounded(until.earlier(deadline), bound);
        let waited = connection.wait(pending, bounded);
        match record_received(waited, connection, pending) {
            Err(NoReply::TimedOut) if !deadline.has_passed() => None,
            Err(why) => Some(Err(without_reply(connection, pending, why, deadline))),
            Ok(message) => Some(Ok(message)),
        }
    })?;
    Ok(came.unwrap_or_else(|| Err(Failed::Finally(out_of_place()))))
}

/// Takes the reply that has arrived for a deferred call, or the reason why none will arrive.
pub(super) fn take(reply: AwaitedReply, deadline: Deadline) -> Result<Message, Failed> {
    let came = reply.with(|connection, pending| {
        let taken = record_received(pending.take(), connection, pending);
        taken.map_err(|why| without_reply(connection, pending, why, deadline))
    });
    came.unwrap_or_else(|| Err(Failed::Finally(out_of_place())))
}

/// Waits for the reply, which arrives in a block of its own.
pub(super) fn wait(
    connection: &ClientConnection,
    pending: &PendingReply<'_>,
    completion: Completion,
    deadline: Deadline,
) -> Result<Message, NoReply> {
    if completion == Completion::RelayedReply && !upcall::is_wanted_elsewhere() {
        let moment = deadline.earlier(Deadline::after(BEFORE_HAND_OVER));
        match connection.wait(pending, moment) {
            Err(NoReply::TimedOut) if !deadline.has_passed() => {}
            waited => return waited,
        }
    }
    let bound = upcall::about_to_block();
    connection.wait(pending, connection.bounded(deadline, bound))
}

/// Ends a call without a reply. If a reply may still come, tells the server that the call is
/// abandoned.
#[cold]
pub(super) fn without_reply(
    connection: &ClientConnection,
    pending: &PendingReply<'_>,
    why: NoReply,
    deadline: Deadline,
) -> Failed {
    match why {
        NoReply::TimedOut if connection.abandon(pending) => {
            Failed::Finally(too_late(connection.peer(), deadline))
        }
        NoReply::TimedOut => Failed::Finally(timed_out(connection.peer(), deadline)),
        NoReply::NotSent => Failed::Finally(too_late(connection.peer(), deadline)),
        NoReply::Broken(broken) => no_reply(connection.peer(), &broken),
    }
}
