//! The stage in which a call waits for its reply, and what becomes of it when none comes.

use super::failure::{Failed, no_reply, timed_out};
use crate::lane::{ClientConnection, NoReply, PendingReply, Waited};
use crate::messaging::{Head, Message};
use crate::upcall;
use punctual_cdr::{Block, ByteOrder, Coding};
use punctual_exec::Deadline;
use punctual_giop::{CancelRequest, MessageKind};
use std::time::Duration;

/// How a call completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Completion {
    /// When it has left: a one-way.
    Sent,
    /// By its reply, for which the calling thread waits.
    Reply,
    /// The same, of a request that is passed on: another thread receives in this one's place only if it takes
    /// longer than a moment, or if more has come already; a change of threads would cost as much as the call.
    RelayedReply,
}

/// How long a request that is passed on may take before another thread receives meanwhile.
const MOMENT: Duration = Duration::from_millis(2);

/// Replies that one connection may owe, to callers who have given up, before it is let go.
const MOST_OWED: u32 = 1024;

/// Waits for the reply with the request's block at hand, which serves for it. While the thread does, another
/// receives where this one would have.
#[inline(always)]
pub(super) fn wait_with(
    connection: &ClientConnection,
    block: &mut Block,
    pending: &PendingReply<'_>,
    deadline: Deadline,
) -> Waited {
    let bound = upcall::about_to_block();
    connection.wait_with(block, pending, connection.bounded(deadline, bound))
}

/// Waits for the reply as a message by itself.
pub(super) fn wait(
    connection: &ClientConnection,
    pending: &PendingReply<'_>,
    completion: Completion,
    deadline: Deadline,
) -> Result<Message, NoReply> {
    if completion == Completion::RelayedReply && !upcall::is_wanted_elsewhere() {
        let moment = deadline.earlier(Deadline::after(MOMENT));
        match connection.wait(pending, moment) {
            Err(NoReply::TimedOut) if !deadline.has_passed() => {}
            waited => return waited,
        }
    }
    let bound = upcall::about_to_block();
    connection.wait(pending, connection.bounded(deadline, bound))
}

/// No reply has come. Of one that may come yet the server is told that nobody waits any more.
#[cold]
pub(super) fn without_reply(
    connection: &ClientConnection,
    pending: &PendingReply<'_>,
    why: NoReply,
    deadline: Deadline,
) -> Failed {
    match why {
        NoReply::TimedOut => {
            give_up(connection, pending);
            Failed::Finally(timed_out(connection.peer(), deadline))
        }
        NoReply::Broken(broken) => no_reply(connection.peer(), &broken),
    }
}

/// Tells the server that nobody waits any more (CORBA 3.3 part 2, §9.4.4), which may well ignore that.
fn give_up(connection: &ClientConnection, pending: &PendingReply<'_>) {
    pending.caller.gives_up();
    cancel(connection, pending.id());
    if connection.owed() >= MOST_OWED {
        connection.retire();
    }
}

fn cancel(connection: &ClientConnection, request_id: u32) {
    let coding = Coding::new(connection.version, &connection.limits);
    let session = &*connection.session;
    let kind = MessageKind::CancelRequest;
    let mut out = session.begin(connection.lend(), kind, ByteOrder::NATIVE, coding);
    let head = Head::Cancel(CancelRequest { request_id });
    let put = session.put_head(&mut out, &head);
    let mut block = out.into_block();
    if put.is_ok() && session.finish(&mut block).is_ok() {
        connection.send_at_leisure(&block);
    }
}
