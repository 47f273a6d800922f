//! Thread that serves one connection and blocks while it receives.

use super::serving_thread::{ReceiveOutcome, ServingThread};
use super::strategy::Followed;
use crate::messaging::{Inbox, InboxError};
use crate::probe::{self, Point};
use crate::server::connection::ServerConnection;
use crate::server::conversation::Conversation;
use crate::server::reader::Reader;
use crate::server::serve::serve;
use punctual_cdr::Block;
use punctual_exec::{Deadline, SpawnError, WorkerPool};
use punctual_link::{LinkError, Phase};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

impl ServerConnection {
    /// Serves the client on the calling thread until its connection ends.
    pub(in crate::server) fn serve_until_closed(self: Arc<Self>) {
        if let Err(error) = self.lane().incoming.followers() {
            let peer = self.conversation.peer();
            tracing::debug!(%peer, "no thread to receive while this one is in an upcall: {error}");
        }
        self.serve_blocking();
    }

    fn serve_blocking(self: &Arc<Self>) {
        self.read_in_band();
        serve(self, &self.enter(), None, &mut BlockingThread::at(self));
        self.read_as_before();
    }
}

impl Followed for ServerConnection {
    fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    fn followers(&self) -> Result<&WorkerPool, SpawnError> {
        self.lane().incoming.followers()
    }

    fn extra_followers(&self) -> &Arc<AtomicUsize> {
        &self.lane().incoming.extra_followers
    }

    fn is_sending(&self) -> bool {
        self.replies.is_sending()
    }

    fn follow(self: Arc<Self>) {
        self.serve_blocking();
    }
}

/// Thread that serves one connection and blocks while it receives, until the connection ends or
/// another thread takes over receiving.
struct BlockingThread<'c> {
    connection: &'c ServerConnection,
    /// Deadline for the rest of a message that has begun to arrive.
    begun: Option<Deadline>,
}

impl<'c> BlockingThread<'c> {
    fn at(connection: &'c ServerConnection) -> Self {
        Self {
            connection,
            begun: None,
        }
    }
}

impl ServingThread for BlockingThread<'_> {
    #[inline]
    fn goes_on(&mut self) -> bool {
        true
    }

    #[inline]
    fn may_receive(&self) -> bool {
        true
    }

    #[inline]
    fn receive(&mut self, block: &mut Block, least: usize) -> Result<ReceiveOutcome, LinkError> {
        self.connection.send_pending();
        let link = self.connection.conversation.link();
        probe::begins!(Point::ServerReceive);
        let received = link.receive(block, least, Deadline::NEVER);
        probe::begins!(Point::ServerMessagingReceive);
        received.map(|_| ReceiveOutcome::Received)
    }

    fn receive_more(
        &mut self,
        inbox: &mut Inbox,
        need: usize,
    ) -> Result<ReceiveOutcome, InboxError> {
        let connection = self.connection;
        let timeouts = &connection.conversation.broker().config().timeouts;
        let deadline = if inbox.is_mid_message() {
            // Receiving a byte now and then does not extend the deadline.
            let begun = self
                .begun
                .get_or_insert_with(|| Deadline::after_optional(timeouts.message));
            begun.refreshed()
        } else if connection.reader.is_heard() {
            Deadline::NEVER
        } else {
            Deadline::after_optional(timeouts.first_message)
        };
        if self.begun.is_some_and(|begun| begun.has_passed()) {
            return Err(LinkError::timed_out(Phase::Receive).into());
        }
        connection.send_pending();
        probe::begins!(Point::ServerReceive);
        let received = inbox.receive(connection.conversation.link(), need, deadline);
        probe::begins!(Point::ServerTransportReceive);
        received.map(|()| ReceiveOutcome::Received)
    }

    #[inline]
    fn begin_message(&mut self) {
        self.begun = None;
    }

    #[inline]
    fn begin_receiving(&self, reader: &Reader) {
        reader.set_receiving(true);
    }

    #[inline]
    fn ends_receiving(&self, reader: &Reader) {
        reader.set_receiving(false);
    }

    #[inline]
    fn serve(&mut self, request: impl FnOnce()) -> bool {
        request();
        true
    }
}
