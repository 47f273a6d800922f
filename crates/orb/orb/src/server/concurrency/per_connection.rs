//! A thread for each connection, which blocks in receiving.
//!
//! When an upcall is about to block in a call of its own, or takes long while more requests wait, another thread
//! receives ([`PerConnection::begin_follower`]), so that a peer which shares the connection among its threads,
//! one of them called back or waited for meanwhile, is answered.

use super::strategy::{Turn, Wait};
use crate::messaging::{Inbox, InboxError};
use crate::probe::{self, Point};
use crate::server::connection::ServerConnection;
use crate::server::reader::Reader;
use punctual_cdr::Block;
use punctual_exec::Deadline;
use punctual_link::{LinkError, Phase};
use std::sync::atomic::{AtomicU32, Ordering};

/// Threads that serve one connection beside its first: one client shall not use up those of all.
const MAX_FOLLOWERS: u32 = 256;

/// What a connection has that its own threads serve.
#[derive(Debug, Default)]
pub(in crate::server) struct PerConnection {
    /// Threads that serve it beside its first.
    followers: AtomicU32,
}

impl PerConnection {
    /// Counts a thread more; `false` when there are too many.
    pub(in crate::server) fn begin_follower(&self) -> bool {
        // Relaxed: a bound, and no more; nothing is read by it.
        let may_begin = self.followers.fetch_add(1, Ordering::Relaxed) < MAX_FOLLOWERS;
        if !may_begin {
            self.end_follower();
        }
        may_begin
    }

    pub(in crate::server) fn end_follower(&self) {
        self.followers.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A thread's time: until the connection ends, or another thread receives instead.
pub(in crate::server) struct Blocking<'c> {
    connection: &'c ServerConnection,
    /// Until when the message that has begun may take.
    begun: Option<Deadline>,
}

impl<'c> Blocking<'c> {
    pub(in crate::server) fn at(connection: &'c ServerConnection) -> Self {
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
