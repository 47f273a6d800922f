//! What a strategy says to the loop that serves.

use crate::messaging::{Inbox, InboxError, Message};
use crate::server::reader::Reader;
use punctual_cdr::Block;
use punctual_link::LinkError;

/// What receiving has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum ReceiveOutcome {
    /// Something was received.
    Received,
    /// Nothing is there, and the thread leaves: it, or another, comes again when there is.
    WouldBlock,
}

/// A thread that serves a connection: how it waits, and nothing else.
pub(in crate::server) trait ServingThread {
    /// Whether the thread goes on to another message.
    fn goes_on(&mut self) -> bool;

    /// Whether there may be something to receive: a socket that is known to be empty is not asked again.
    fn may_receive(&self) -> bool;

    /// Receives into an empty block at least so many octets.
    fn receive(&mut self, block: &mut Block, least: usize) -> Result<ReceiveOutcome, LinkError>;

    /// Receives more of what has begun, so many octets in all.
    fn receive_more(
        &mut self,
        inbox: &mut Inbox,
        need: usize,
    ) -> Result<ReceiveOutcome, InboxError>;

    /// A whole message is there.
    fn begin_message(&mut self) {}

    /// The thread has the inbox.
    fn begins_receiving(&self, reader: &Reader);

    /// It is about to let go of the inbox, to serve a request.
    fn ends_receiving(&self, reader: &Reader);

    /// Whether requests wait until a thread is free that serves them.
    #[inline]
    fn keeps_requests(&self) -> bool {
        false
    }

    /// Has a message wait, if it is to; else it is given back, to be served.
    #[inline]
    fn keep(&mut self, message: Message) -> Option<Message> {
        Some(message)
    }

    /// Serves a request; whether the thread still has the connection.
    fn serve(&mut self, request: impl FnOnce()) -> bool;

    /// The connection has ended.
    fn end_connection(&mut self) {}
}
