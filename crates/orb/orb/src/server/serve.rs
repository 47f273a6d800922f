//! Loop that serves a connection, common to all kinds of threads and ways of waiting.

use super::concurrency::{ReceiveOutcome, ServingThread};
use super::connection::ServerConnection;
use super::dispatch::Dispatcher;
use super::memory::Memory;
use super::refusal::Refusal;
use crate::messaging::{Inbox, InboxError, InboxStep};
use crate::probe::{self, Point};
use crate::sync::{self, MutexGuard};
use crate::upcall::Serving;
use punctual_cdr::GiopVersion;
use punctual_link::LinkError;

/// Way in which a message was received into a thread's own block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReceivedInto {
    /// The message was received directly into the block, usually as its only message.
    Alone,
    /// Copied from the inbox, where it stays until it is skipped.
    Copied,
    /// The message has not been put into the thread's own block.
    Otherwise,
}

/// Receives and serves for as long as the thread may continue, the connection is open, and no other
/// thread takes over receiving.
pub(super) fn serve(
    connection: &ServerConnection,
    serving: &Serving,
    refuses: Option<Refusal>,
    thread: &mut impl ServingThread,
) {
    // Replies that were delayed behind an upcall in which another thread is.
    connection.send_pending();
    let mut memory = Memory::take();
    let dispatcher = Dispatcher {
        connection,
        serving,
        refuses,
        has_begun: false,
        seen: None,
    };
    serve_with(connection, &dispatcher, thread, &mut memory);
    connection.send_pending();
    memory.rest();
}

#[inline]
fn serve_with(
    connection: &ServerConnection,
    dispatcher: &Dispatcher<'_>,
    thread: &mut impl ServingThread,
    memory: &mut Memory,
) {
    let (conversation, reader) = (&connection.conversation, &connection.reader);
    while thread.goes_on() {
        probe::begins!(Point::ServerTransportReceive);
        // Another thread took over while this one was in an upcall; one is enough.
        let Some(mut inbox) = sync::try_lock(&reader.inbox) else {
            return;
        };
        thread.begin_receiving(reader);
        let came = match receive(connection, thread, memory, &inbox) {
            Ok(Some(came)) => came,
            Ok(None) => return,
            Err(error) => {
                inbox.abandon();
                return end(connection, thread, &error.into(), false);
            }
        };
        if came != ReceivedInto::Otherwise {
            let (block, limits) = (&memory.block, conversation.broker().limits());
            let requests = &mut memory.requests;
            let plain = conversation.session.plain_request(requests, block, limits);
            if let Some(request) = &plain
                && block.lent().is_empty()
            {
                probe::begins!(Point::ServerTransportReceive);
                if came == ReceivedInto::Copied {
                    inbox.pass(block.len());
                }
                reader.record_received(conversation, GiopVersion::V1_2, !inbox.is_empty());
                thread.begin_message();
                thread.ends_receiving(reader);
                drop(inbox);
                let spare = &mut memory.reply;
                if thread.serve(|| dispatcher.serve_plain(block, request, spare)) {
                    continue;
                }
                return;
            }
            if came == ReceivedInto::Alone {
                inbox.put(std::mem::take(&mut memory.block));
            }
        }
        if !serve_message(connection, dispatcher, thread, inbox) {
            return;
        }
    }
}

/// Receives data that may be a plain request into the thread's own block; returns `None` if no data
/// is available, in which case the thread stops serving.
#[inline(always)]
fn receive(
    connection: &ServerConnection,
    thread: &mut impl ServingThread,
    memory: &mut Memory,
    inbox: &Inbox,
) -> Result<Option<ReceivedInto>, LinkError> {
    let (conversation, reader) = (&connection.conversation, &connection.reader);
    if thread.keeps_requests() || !reader.expects_plain_requests(conversation) {
        return Ok(Some(ReceivedInto::Otherwise));
    }
    if inbox.is_empty() && thread.may_receive() {
        let block = memory.empty_block(conversation.link());
        let received = thread.receive(block, inbox.least())?;
        return Ok((received == ReceiveOutcome::Received).then_some(ReceivedInto::Alone));
    }
    let came = match reader.copy_short(conversation, inbox, memory) {
        true => ReceivedInto::Copied,
        false => ReceivedInto::Otherwise,
    };
    Ok(Some(came))
}

/// Assembles and serves the next message, or receives more of it; returns `true` if the thread
/// continues.
fn serve_message(
    connection: &ServerConnection,
    dispatcher: &Dispatcher<'_>,
    thread: &mut impl ServingThread,
    mut inbox: MutexGuard<'_, Inbox>,
) -> bool {
    let (conversation, reader) = (&connection.conversation, &connection.reader);
    let received = match inbox.take(conversation.link()) {
        Ok(InboxStep::Message(message)) => {
            reader.record_message(conversation, &message, inbox.is_mid_message());
            thread.begin_message();
            thread.ends_receiving(reader);
            let_go(inbox);
            return match thread.keep(message) {
                Some(message) => thread.serve(|| dispatcher.handle(message)),
                None => true,
            };
        }
        Ok(InboxStep::Need(need)) => {
            reader.set_mid_message(inbox.is_mid_message());
            thread.receive_more(&mut inbox, need)
        }
        Err(error) => Err(error),
    };
    match received {
        Ok(outcome) => {
            let_go(inbox);
            outcome == ReceiveOutcome::Received
        }
        Err(error) => {
            let is_mid_message = inbox.is_mid_message();
            inbox.abandon();
            end(connection, thread, &error, is_mid_message);
            false
        }
    }
}

/// Releases the inbox, and then logs the connections that were closed to make room for its data. A
/// separate function, to keep the loop short.
#[inline(never)]
fn let_go(mut inbox: MutexGuard<'_, Inbox>) {
    let evicted = inbox.take_evicted();
    drop(inbox);
    drop(evicted);
}

#[cold]
fn end(
    connection: &ServerConnection,
    thread: &mut impl ServingThread,
    error: &InboxError,
    mid_message: bool,
) {
    connection.end(error, mid_message);
    thread.end_connection();
}
