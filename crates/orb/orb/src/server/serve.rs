//! The loop that serves a connection, whoever's thread that is and however it waits.

use super::concurrency::{Turn, Wait};
use super::connection::ServerConnection;
use super::dispatch::Dispatcher;
use super::memory::Memory;
use super::refusal::Refusal;
use crate::messaging::{InboxError, Taken};
use crate::probe::{self, Point};
use crate::sync;
use crate::upcall::Serving;
use punctual_cdr::GiopVersion;

/// How a message came into a thread's own block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Came {
    /// Received, by itself as a rule.
    Alone,
    /// Copied from the inbox, where it stays until it is passed over.
    Copied,
    /// Not at all.
    Otherwise,
}

/// Receives and serves for as long as the turn goes on, the connection stands, and no other thread receives
/// instead.
pub(super) fn serve(
    connection: &ServerConnection,
    serving: &Serving,
    refuses: Option<Refusal>,
    turn: &mut impl Turn,
) {
    let mut memory = Memory::take();
    let dispatcher = Dispatcher {
        connection,
        serving,
        refuses,
    };
    serve_with(connection, &dispatcher, turn, &mut memory);
    connection.send_pending();
    memory.rest();
}

#[inline]
fn serve_with(
    connection: &ServerConnection,
    dispatcher: &Dispatcher<'_>,
    turn: &mut impl Turn,
    memory: &mut Memory,
) {
    let (conversation, reader) = (&connection.conversation, &connection.reader);
    while turn.goes_on() {
        probe::begins!(Point::ServerTransportReceive);
        // Another thread took over while this one was in an upcall; one is enough.
        let Some(mut inbox) = sync::try_lock(&reader.inbox) else {
            return;
        };
        turn.begins_receiving(reader);
        let came = if !reader.expects_plain_requests(conversation) {
            Came::Otherwise
        } else if inbox.is_empty() && turn.may_receive() {
            let block = memory.empty_block(conversation.link());
            match turn.receive(block, inbox.least()) {
                Ok(Wait::Received) => Came::Alone,
                Ok(Wait::Later) => return,
                Err(error) => return end(connection, turn, &error.into(), false),
            }
        } else if reader.copy_short(conversation, &inbox, memory) {
            Came::Copied
        } else {
            Came::Otherwise
        };
        if came != Came::Otherwise {
            let (block, limits) = (&memory.block, conversation.broker().limits());
            let requests = &mut memory.requests;
            if let Some(request) = conversation.session.plain_request(requests, block, limits)
                && block.lent().is_empty()
            {
                probe::begins!(Point::ServerTransportReceive);
                if came == Came::Copied {
                    inbox.pass(block.len());
                }
                reader.has_received(conversation, GiopVersion::V1_2, !inbox.is_empty());
                turn.has_message();
                turn.ends_receiving(reader);
                drop(inbox);
                let spare = &mut memory.reply;
                if turn.serve(|| dispatcher.serve_plain(block, &request, spare)) {
                    continue;
                }
                return;
            }
            if came == Came::Alone {
                inbox.put(std::mem::take(&mut memory.block));
            }
        }
        let step = match inbox.take(conversation.link()) {
            Ok(Taken::Message(message)) => {
                reader.has_message(conversation, &message, inbox.is_mid_message());
                turn.has_message();
                turn.ends_receiving(reader);
                drop(inbox);
                if turn.serve(|| dispatcher.handle(message)) {
                    continue;
                }
                return;
            }
            Ok(Taken::Need(need)) => turn.receive_more(&mut inbox, need),
            Err(error) => Err(error),
        };
        match step {
            Ok(Wait::Received) => {}
            Ok(Wait::Later) => return,
            Err(error) => return end(connection, turn, &error, inbox.is_mid_message()),
        }
    }
}

#[cold]
fn end(connection: &ServerConnection, turn: &mut impl Turn, error: &InboxError, mid_message: bool) {
    connection.end(error, mid_message);
    turn.is_over();
}
