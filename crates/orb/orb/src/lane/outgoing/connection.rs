//! Connection that any number of calling threads share.
//!
//! Each request is one send under the sending lock ([`super::sending`]); replies are read by one of
//! the waiting callers ([`super::wait`]), which passes the others' replies on. No lock is held
//! across an upcall, and none is shared with another connection.
//!
//! Each part of its state is a struct of its own, in the module that uses it.

mod announcements;
mod readiness;
mod usability;
mod wire_format;

use announcements::Announcements;
use usability::Usability;
use wire_format::WireFormat;

use super::buffering::Buffer;
use super::callbacks::Callbacks;
use super::calls::{Broken, Callers, Delivered};
use super::pool::{Membership, OpenedFor, ToEndpoint};
use super::replies::Watch;
use super::sending::{Gathering, Row, Sender};
use super::wait::WaitStrategy;
use crate::budget::{Evictable, Received, host_of};
use crate::messaging::Inbox;
use crate::priority::Priority;
use crate::profile::Origin;
use crate::protocol::Pair;
use crate::timeline::{self, ConnectionMark, Side, Stage};
use punctual_cdr::{Block, CodeSets, GiopVersion};
use punctual_exec::{Deadline, LaneLock, Reactor};
use punctual_link::{Connection, SendError};
use std::io::IoSlice;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// Maximum time for sending buffered requests when the connection's protocol is retired.
const FLUSH_AT_END: Duration = Duration::from_secs(1);

/// Client's connection to one endpoint.
#[derive(Debug)]
pub(crate) struct ClientConnection {
    pub(super) link: Arc<dyn Connection>,
    pub(crate) wire: WireFormat,
    /// Origin of references that are received over the connection.
    origin: Origin,
    pub(super) usability: Usability,
    /// Facts already announced to the server over this connection.
    pub(crate) announced: Announcements,
    /// State for sending, locked while a message is sent.
    pub(super) sender: LaneLock<Sender>,
    /// Requests of deferred calls that were sent since a caller last waited.
    pub(super) row: Row,
    /// Buffer of requests to be sent together.
    pub(super) buffer: Buffer,
    /// Callers that wait for replies, and the inbox, which one of them reads.
    pub(crate) callers: Callers<Inbox, Delivered>,
    /// Strategy by which callers wait for replies on this connection.
    pub(super) waiting: WaitStrategy,
    /// Watchers of replies on the connection, and the thread that reads for these watchers.
    pub(super) watch: Watch,
    /// Queue of requests that arrive over the connection, if they are served.
    pub(super) callbacks: Callbacks,
    /// Entry of this connection in the list of connections to its endpoint.
    pub(in crate::lane) membership: Membership<Self>,
    /// Identity of the connection in timelines.
    recorded: ConnectionMark,
}

impl ClientConnection {
    pub(super) fn new(
        link: Arc<dyn Connection>,
        pair: &Arc<Pair>,
        terms: (GiopVersion, CodeSets),
        (lane, to): (&OpenedFor<'_>, &Arc<ToEndpoint<ClientConnection>>),
        waiting: WaitStrategy,
    ) -> Self {
        let config = lane.broker.config();
        let gather = match link.gatherer() {
            Some(_) => config.one_way_gather,
            None => Duration::ZERO,
        };
        let wire = WireFormat::new(pair, terms, lane.broker, &*link, !gather.is_zero());
        let inbox = Inbox::new(wire.session.clone(), wire.limits.clone());
        let sender = Sender {
            gathering: Gathering::new(gather),
            spare: Block::default(),
        };
        Self {
            origin: Origin::of(&*pair.link, &*link),
            link,
            usability: Usability::new(&config.timeouts),
            announced: Announcements::new(wire.carries_contexts()),
            wire,
            sender: LaneLock::new(lane.locks, sender),
            row: Row::default(),
            buffer: Buffer::new(lane.locks),
            callers: Callers::of(inbox),
            waiting,
            watch: Watch::default(),
            callbacks: Callbacks::default(),
            membership: Membership::of(to),
            recorded: ConnectionMark::of_client(lane.number),
        }
    }

    /// Makes a connection by which a server calls the client that has opened it. `link` sends under
    /// the server's sending lock. It receives nothing: the server's reading thread passes replies
    /// on.
    pub(in crate::lane) fn back(
        link: Arc<dyn Connection>,
        pair: &Arc<Pair>,
        terms: (GiopVersion, CodeSets),
        opened_for: (&OpenedFor<'_>, &Arc<ToEndpoint<ClientConnection>>),
        reactor: Option<Arc<Reactor>>,
    ) -> Self {
        let waiting = reactor.map_or(WaitStrategy::Read, WaitStrategy::reactor);
        let mut this = Self::new(link, pair, terms, opened_for, waiting);
        let inbox = Inbox::new(this.wire.session.clone(), this.wire.limits.clone());
        this.callers = Callers::accepting_side(inbox);
        this
    }

    /// Counts the memory of received data against the ORB's budget. To be called before anything is
    /// read.
    pub(super) fn watch_inbox(self: &Arc<Self>, received: &Arc<Received>) {
        let this: Weak<Self> = Arc::downgrade(self);
        let from = host_of(&*self.wire.pair.link, self.link.peer());
        // A call's time-out holds: its thread does not wait for room.
        let account = received.account(from, this, false);
        if let Some(mut inbox) = self.callers.read() {
            // The time for a reply is limited by its call alone.
            inbox.watch(account, None);
            // A new connection has no watchers.
            let _watched = self.callers.hand_on(inbox);
        }
    }

    /// Sends a message for the side that serves requests on the connection.
    pub(crate) fn send_parts(
        &self,
        parts: &[IoSlice<'_>],
        deadline: Deadline,
    ) -> Result<(), SendError> {
        self.with_sender(deadline, |_, _| self.link.send(parts, deadline))?
    }

    /// Records in the timeline that a call on the connection has reached this stage.
    #[cold]
    #[inline(never)]
    pub(crate) fn record_stage(&self, stage: Stage, request: u32) {
        let request = self.recorded.request(request);
        self.recorded.describe(Side::Client, request, &*self.link);
        timeline::record_stage(stage, request, Priority::of_thread());
    }

    /// Returns the origin of references that are received over the connection.
    #[inline]
    pub(crate) fn origin(&self) -> Origin {
        self.origin
    }

    /// Returns the deadline of a call that may block for at most `bound`, because others may need
    /// its thread. Returns `deadline` unchanged if the thread serves others while it waits.
    #[inline(always)]
    pub(crate) fn bounded(&self, deadline: Deadline, bound: Option<Duration>) -> Deadline {
        match bound {
            Some(bound) if !self.waiting.serves_meanwhile() => {
                deadline.earlier(Deadline::after(bound))
            }
            _ => deadline,
        }
    }

    /// Returns the reactor that callers serve while they wait, if there is one.
    #[cfg(test)]
    pub(crate) fn reactor(&self) -> Option<&punctual_exec::Reactor> {
        self.waiting.served()
    }

    /// Returns the protocol (with or without priority inheritance) of the sending lock.
    #[cfg(test)]
    pub(crate) fn send_lock(&self) -> punctual_exec::LockProtocol {
        self.sender.protocol()
    }

    /// Lends a memory block into which a request is marshaled.
    pub(crate) fn lend(&self) -> Block {
        self.link.lend(0)
    }

    /// Returns whether requests on the connection carry service contexts.
    #[inline]
    pub(crate) fn carries_contexts(&self) -> bool {
        self.wire.carries_contexts()
    }

    /// Breaks the connection off: all waiting callers receive the reason, and no further call uses
    /// the connection.
    pub(crate) fn break_off(&self, broken: &Broken) {
        self.usability.close();
        self.link.close();
        self.discard_buffered();
        self.callbacks.end();
        // A reply that has arrived is not replaced.
        self.callers.deliver_to_all(
            || Delivered::Broken(broken.clone()),
            // Nor is the report that a buffered request was not sent.
            |there| matches!(there, Delivered::Broken(broken) if !broken.orderly),
        );
        self.waiting.wake(None);
    }

    /// Refuses new calls, and closes when the last call in progress has ended.
    pub(crate) fn retire(&self) {
        self.refuse_new_calls();
        // Buffered requests were accepted before, and are sent.
        self.buffer.close();
        self.flush(Deadline::after(FLUSH_AT_END));
        self.close_with_the_last();
    }

    /// Refuses new calls over the connection.
    pub(super) fn refuse_new_calls(&self) {
        self.usability.close();
    }

    /// Closes the connection when the last call in progress has ended.
    pub(super) fn close_with_the_last(&self) {
        if self.callers.retire() {
            self.link.close();
        }
    }

    pub(crate) fn link(&self) -> &dyn Connection {
        &*self.link
    }

    /// Returns the link, which is shared with the side that serves requests.
    pub(crate) fn shared_link(&self) -> Arc<dyn Connection> {
        self.link.clone()
    }

    pub(crate) fn peer(&self) -> &punctual_link::Address {
        self.link.peer()
    }
}

impl Evictable for ClientConnection {
    fn evict(&self, reason: &str) {
        self.break_off(&Broken::off(reason));
    }

    fn log_eviction(&self, reason: &str) {
        tracing::warn!(peer = %self.peer(), "{reason}; the connection is closed");
    }
}

impl Drop for ClientConnection {
    fn drop(&mut self) {
        self.discard_buffered();
        self.log_discarded();
    }
}
