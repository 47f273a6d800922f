//! A thread's time at a connection of its own.

use super::strategy::Strategy;
use super::turn::{Turn, Wait};
use crate::messaging::{Inbox, InboxError};
use crate::policy;
use crate::probe::{self, Point};
use crate::server::connection::ServerConnection;
use crate::server::reader::Reader;
use crate::server::serve::serve;
use punctual_cdr::Block;
use punctual_exec::Deadline;
use punctual_link::{LinkError, Phase};
use std::sync::Arc;

impl ServerConnection {
    /// Serves the client by the calling thread until its connection ends.
    pub(in crate::server) fn serve_until_closed(self: Arc<Self>) {
        self.join();
        if let Err(error) = self.lane().incoming.followers() {
            let peer = self.conversation.peer();
            tracing::debug!(%peer, "no thread to receive while this one is in an upcall: {error}");
        }
        self.serve_blocking();
    }

    fn serve_blocking(self: &Arc<Self>) {
        serve(self, &self.enter(), None, &mut Blocking::at(self));
    }

    /// Has a thread receive that was counted as a follower.
    pub(in crate::server) fn follow(self: Arc<Self>) {
        let follower = self.clone();
        let ends = |connection: &Self| {
            if let Strategy::PerConnection(own) = &connection.strategy {
                own.end_follower();
            }
        };
        let receive = move || {
            follower.serve_blocking();
            ends(&follower);
            // The thread is kept, and serves another connection next.
            policy::forget_own();
        };
        let followers = self.lane().incoming.followers();
        let spawned = followers.and_then(|followers| followers.run(receive));
        if let Err(error) = spawned {
            ends(&self);
            // The call goes on; only requests behind it on this connection wait.
            let peer = self.conversation.peer();
            tracing::debug!(%peer, "no thread to receive meanwhile: {error}");
        }
    }
}

/// Until the connection ends, or another thread receives instead.
struct Blocking<'c> {
    connection: &'c ServerConnection,
    /// Until when the message that has begun may take.
    begun: Option<Deadline>,
}

impl<'c> Blocking<'c> {
    fn at(connection: &'c ServerConnection) -> Self {
        Self {
            connection,
            begun: None,
        }
    }
}

impl Turn for Blocking<'_> {
    #[inline]
    fn goes_on(&mut self) -> bool {
        true
    }

    #[inline]
    fn may_receive(&self) -> bool {
        true
    }

    #[inline]
    fn receive(&mut self, block: &mut Block, least: usize) -> Result<Wait, LinkError> {
        self.connection.send_pending();
        let link = self.connection.conversation.link();
        probe::begins!(Point::ServerReceive);
        let received = link.receive(block, least, Deadline::NEVER);
        probe::begins!(Point::ServerMessagingReceive);
        received.map(|_| Wait::Received)
    }

    fn receive_more(&mut self, inbox: &mut Inbox, need: usize) -> Result<Wait, InboxError> {
        let connection = self.connection;
        let timeouts = &connection.conversation.broker().config().timeouts;
        let deadline = if inbox.is_mid_message() {
            // An octet now and then earns no new term.
            let begun = self
                .begun
                .get_or_insert_with(|| Deadline::after_maybe(timeouts.message));
            begun.from_now()
        } else if connection.reader.is_heard() {
            Deadline::NEVER
        } else {
            Deadline::after_maybe(timeouts.first_message)
        };
        if self.begun.is_some_and(|begun| begun.has_passed()) {
            return Err(LinkError::timed_out(Phase::Receive).into());
        }
        connection.send_pending();
        probe::begins!(Point::ServerReceive);
        let received = inbox.receive(connection.conversation.link(), need, deadline);
        probe::begins!(Point::ServerTransportReceive);
        received.map(|()| Wait::Received)
    }

    #[inline]
    fn has_message(&mut self) {
        self.begun = None;
    }

    #[inline]
    fn begins_receiving(&self, reader: &Reader) {
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
