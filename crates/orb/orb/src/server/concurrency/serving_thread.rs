//! Interface between a concurrency strategy's threads and the serving loop.

use crate::messaging::{Inbox, InboxError, Message};
use crate::server::reader::Reader;
use punctual_cdr::Block;
use punctual_link::LinkError;

/// Result of an attempt to receive data from a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum ReceiveOutcome {
    /// Data was received from the client.
    Received,
    /// No data is available, and the thread stops serving: it, or another thread, resumes when
    /// there is data.
    WouldBlock,
}

/// Thread that serves a connection. An implementation determines only how it waits for data.
pub(in crate::server) trait ServingThread {
    /// Returns `true` if the thread may take another message.
    fn goes_on(&mut self) -> bool;

    /// Returns `true` if there may be data to receive; `false` for a socket that is known to be
    /// empty.
    fn may_receive(&self) -> bool;

    /// Receives at least `least` bytes into an empty block.
    fn receive(&mut self, block: &mut Block, least: usize) -> Result<ReceiveOutcome, LinkError>;

    /// Receives more of a message whose beginning has arrived, up to `need` bytes in total.
    fn receive_more(
        &mut self,
        inbox: &mut Inbox,
        need: usize,
    ) -> Result<ReceiveOutcome, InboxError>;

    /// Records that a complete message of the client is available.
    fn begin_message(&mut self) {}

    /// Records that the thread has locked the inbox of the connection.
    fn begin_receiving(&self, reader: &Reader);

    /// Records that the thread is about to release the inbox, to serve a request.
    fn ends_receiving(&self, reader: &Reader);

    /// Returns `true` if requests are buffered until a thread is free to serve them.
    #[inline]
    fn keeps_requests(&self) -> bool {
        false
    }

    /// Buffers a message, or returns it to be served at once.
    #[inline]
    fn keep(&mut self, message: Message) -> Option<Message> {
        Some(message)
    }

    /// Serves a request; returns `true` if the thread still owns the connection.
    fn serve(&mut self, request: impl FnOnce()) -> bool;

    /// Handles the end of the client's connection.
    fn end_connection(&mut self) {}
}
