//! Connection of a client: a reader, a reply sender, and the strategy that determines the threads
//! that serve it.
//!
//! No lock is held during an upcall. When an upcall is about to block in a call of its own, or
//! takes long while more requests wait, another thread takes over receiving.

use super::call::EarlyReplySender;
use super::complaint::complaint;
use super::concurrency::{ConcurrencyStrategy, Strategy};
use super::conversation::Conversation;
use super::host::{AdapterCell, Host};
use super::pending::{PendingReplies, PendingReplySender};
use super::reader::Reader;
use super::send::ReplySender;
use super::shared_link::{PartSender, SharedLink};
use crate::budget::{Account, Evictable, Hold, NoRoom, host_of};
use crate::config::NetworkDirection;
use crate::lane::{Alarm, BackChannel, Lane, OpenEndpoint, ServingThreads, can_serve_back};
use crate::messaging::{self, Abilities, Inbox, InboxError, Session};
use crate::priority::Priority;
use crate::profile::Origin;
use crate::protocol::Pair;
use crate::sync;
use crate::timeline::{ConnectionMark, RequestId, Side};
use crate::upcall::Serving;
use punctual_cdr::{Block, Environment};
use punctual_exec::Deadline;
use punctual_giop::MessageKind;
use punctual_link::{Connection, SendError};
use std::io::{self, IoSlice};
use std::sync::{Arc, OnceLock, Weak};
use std::task::Waker;
use std::time::Duration;

/// Connection that a client opened to this server.
#[derive(Debug)]
pub(super) struct ServerConnection {
    pub(super) conversation: Conversation,
    pub(super) reader: Reader,
    pub(super) replies: ReplySender,
    pub(super) strategy: Strategy,
    /// Requests that are answered after their upcalls have returned.
    pub(super) pending: PendingReplies,
    me: Weak<Self>,
    /// Object adapter that receives the connection's requests.
    pub(super) adapter: Arc<AdapterCell>,
    /// Host, or link, in whose count of connections this one is included.
    from: Arc<str>,
    lane: Arc<Lane>,
    /// Number of the endpoint at which the connection was accepted.
    pub(super) endpoint: u64,
    /// Number of the connection in its lane's list, set once it is served.
    number: OnceLock<u64>,
    /// Access to the client for calls over this connection, if the ORB allows them.
    pub(super) back: Option<Arc<BackChannel>>,
    /// True if this side has opened the connection: only objects that allow it can be called over
    /// it.
    pub(super) is_of_client: bool,
    /// Lowest priority of the connection's priority band, once the client has announced one; the
    /// connection's own thread reads at that priority.
    lowest: OnceLock<Priority>,
    /// Identity of the connection in timelines.
    recorded: ConnectionMark,
}

/// Environment for decoding, link, and session of a connection.
type Parts = (
    Arc<dyn Environment>,
    Arc<dyn Connection>,
    Arc<dyn Session>,
    Abilities,
);

/// Guard that counts a request as in progress until it is dropped.
pub(super) struct InProgress<'c>(&'c ServerConnection);

impl EarlyReplySender for ServerConnection {
    fn send_early(&self, reply: &Block) {
        self.send(reply);
    }

    fn answers_later(&self) -> Option<Arc<dyn PendingReplySender>> {
        let this: Arc<dyn PendingReplySender> = self.me.upgrade()?;
        Some(this)
    }

    fn charge_reply(&self, octets: usize) -> (Hold, Result<(), NoRoom>) {
        let received = &self.conversation.broker().received;
        let this: Weak<Self> = self.me.clone();
        received.charge_closable(&self.from, this, octets)
    }
}

impl PendingReplySender for ServerConnection {
    fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    fn pending(&self) -> &PendingReplies {
        &self.pending
    }

    fn charge(&self, octets: usize) -> Result<Hold, NoRoom> {
        let received = &self.conversation.broker().received;
        received.charge(&self.from, octets)
    }

    fn charge_more(&self, hold: &Hold, from: usize, to: usize) -> Result<(), NoRoom> {
        hold.try_set(&self.from, from, to)
    }

    fn charge_reply(&self, octets: usize) -> (Hold, Result<(), NoRoom>) {
        EarlyReplySender::charge_reply(self, octets)
    }

    fn send(&self, reply: &Block) {
        Self::send(self, reply);
    }

    fn ends_request(&self) {
        Self::ends_request(self);
    }

    fn wake_after(&self, time: Duration, waker: &Waker) -> io::Result<Option<Alarm>> {
        let replies = self.lane().replies();
        replies.wake_at(Deadline::after(time), waker)
    }

    fn time_out(&self) {
        self.lane().counters.record_timed_out();
    }
}

impl ServerConnection {
    /// Makes a connection that is served as its endpoint demands.
    pub(super) fn new(
        (lane, host): (&Arc<Lane>, &Host),
        link: Arc<dyn Connection>,
        (session, abilities): (Arc<dyn Session>, Abilities),
        at: &OpenEndpoint,
    ) -> Arc<Self> {
        let (broker, locks) = (lane.broker(), lane.lock_protocol());
        let origin = Origin::of(&*at.pair.link, &*link);
        let strategy = Strategy::of(at.threads.as_ref(), broker.config().timeouts, locks);
        let calls_back = can_serve_back(&at.pair) && broker.policies.allows_bidirectional();
        Arc::new_cyclic(|this: &Weak<Self>| {
            let back = calls_back.then(|| {
                let by: Weak<Self> = this.clone();
                let by = SharedLink::new(by, link.clone());
                let reactor = at.threads.as_ref().and_then(ServingThreads::reactor);
                Arc::new(BackChannel::new(lane, &at.pair, Arc::new(by), reactor))
            });
            let environment = match &back {
                Some(back) => host.environment_by(origin, back),
                None => host.environment_of(origin),
            };
            let parts = (environment, link, session, abilities);
            let of = (&at.pair, strategy, at.number);
            let mut served = Self::with(this.clone(), (lane, host), parts, of);
            served.back = back;
            served
        })
    }

    /// Makes the server side of a connection that this ORB's client has opened. It is not counted
    /// among the connections that clients have opened.
    pub(super) fn of_client(
        (lane, host): (&Arc<Lane>, &Host),
        link: Arc<dyn Connection>,
        pair: &Arc<Pair>,
    ) -> Arc<Self> {
        let environment = host.environment_of(Origin::of(&*pair.link, &*link));
        let (session, abilities) = (pair.messaging.session(), pair.messaging.abilities());
        let strategy = Strategy::of(None, lane.broker().config().timeouts, lane.lock_protocol());
        let parts = (environment, link, session, abilities);
        Arc::new_cyclic(|this| {
            let of = (pair, strategy, u64::MAX);
            let mut served = Self::with(this.clone(), (lane, host), parts, of);
            served.is_of_client = true;
            served
        })
    }

    fn with(
        me: Weak<Self>,
        (lane, host): (&Arc<Lane>, &Host),
        (environment, link, session, abilities): Parts,
        (pair, strategy, endpoint): (&Arc<Pair>, Strategy, u64),
    ) -> Self {
        let (broker, locks) = (lane.broker(), lane.lock_protocol());
        let inbox = Inbox::new(session.clone(), broker.shared_limits());
        let counted = (broker.clone(), lane.counters.clone());
        Self {
            me,
            pending: PendingReplies::default(),
            reader: Reader::new(inbox),
            replies: ReplySender::new(locks),
            strategy,
            adapter: host.adapter.clone(),
            from: host_of(&*pair.link, link.peer()),
            conversation: Conversation::new(counted, environment, link, session, abilities),
            lane: lane.clone(),
            endpoint,
            number: OnceLock::new(),
            back: None,
            is_of_client: false,
            lowest: OnceLock::new(),
            recorded: ConnectionMark::default(),
        }
    }

    /// Fails pending calls to the client over this bidirectional connection, for the given reason.
    pub(super) fn end_callbacks(&self, reason: &str) {
        if let Some(back) = &self.back {
            back.fail_callbacks(reason);
        }
    }

    /// Adds the connection to its lane's list, before a thread serves it.
    pub(super) fn join(self: &Arc<Self>) {
        let incoming = &self.lane.incoming;
        self.number.get_or_init(|| {
            let this: Weak<Self> = Arc::downgrade(self);
            let from = self.from.clone();
            let broker = self.conversation.broker();
            sync::lock(&self.reader.inbox)
                .watch(self.account(true), broker.config().timeouts.message);
            self.strategy.watch_unsent(|| self.account(false));
            incoming.connections.join(this, from)
        });
        if let Some(priority) = self.lane.priority() {
            self.mark(priority);
        }
        // If all connections were closed just before this one was added, the goodbye reaches it
        // here.
        let shuts_down = !self.conversation.broker().life.serves();
        if shuts_down || !incoming.endpoints.is_open(self.endpoint) {
            self.begin_graceful_close();
        }
    }

    /// Returns an account of the memory that the connection holds for its peer; `waits` as in
    /// [`crate::budget::Received::account`].
    fn account(&self, waits: bool) -> Account {
        let received = &self.conversation.broker().received;
        let this: Weak<Self> = self.me.clone();
        received.account(self.from.clone(), this, waits)
    }

    /// Begins a charge for results that one of the connection's requests leads to.
    pub(super) fn charge_results(&self) -> Hold {
        let received = &self.conversation.broker().received;
        received.charge_results(&self.from)
    }

    /// Returns the identifier of one of the connection's requests for timelines, in which it is described.
    pub(super) fn recorded_request(&self, request: u32) -> RequestId {
        // The last 32 bits are enough to distinguish concurrent requests.
        let number = |number: u64| (number & u64::from(u32::MAX)) as u32;
        let request = RequestId {
            lane: number(self.lane.number()),
            connection: number(self.number.get().copied().unwrap_or_default()),
            request,
        };
        let link = self.conversation.link();
        self.recorded.describe(Side::Server, request, link);
        request
    }

    pub(super) fn lane(&self) -> &Lane {
        &self.lane
    }

    /// Records the priority band that the client has announced. If a thread serves the connection
    /// alone and belongs to no lane, it waits for the next request at the lowest of these
    /// priorities. (Upcalls have priorities of their own.)
    pub(super) fn set_band(&self, lowest: Priority) {
        self.mark(lowest);
        if matches!(self.strategy, Strategy::PerConnection(_)) && self.lane.priority().is_none() {
            self.lowest.get_or_init(|| lowest);
            self.read_in_band();
        }
    }

    /// Gives the packets of replies the DSCP for this priority, unless the connection is one that this ORB's client has opened:
    /// there, that of requests holds, whatever the peer announces.
    fn mark(&self, priority: Priority) {
        if self.is_of_client {
            return;
        }
        let (broker, link) = (self.conversation.broker(), self.conversation.link());
        broker.mark(link, priority, NetworkDirection::Replies);
    }

    /// Gives the calling thread, which serves the connection alone, the priority of the band while
    /// it waits for requests.
    pub(super) fn read_in_band(&self) {
        let priorities = self.conversation.broker().priorities.as_ref();
        if let (Some(lowest), Some(priorities)) = (self.lowest.get(), priorities) {
            priorities.read_at(*lowest);
        }
    }

    /// Restores the priority of the calling thread, which no longer serves the connection alone.
    pub(super) fn read_as_before(&self) {
        let priorities = self.conversation.broker().priorities.as_ref();
        if let (Some(_), Some(priorities)) = (self.lowest.get(), priorities) {
            priorities.read_as_before();
        }
    }

    /// Marks the calling thread as serving this connection, until the result is dropped.
    pub(super) fn enter(self: &Arc<Self>) -> Serving {
        Serving::enter(self.conversation.broker().number(), self.clone())
    }

    /// Refuses new requests, and sends CloseConnection when the last one in progress has been
    /// answered.
    pub(super) fn begin_graceful_close(&self) {
        if self.conversation.begin_closing() {
            self.close_in_order();
        }
    }

    /// Counts a request as in progress; returns `None` when the connection is closing.
    #[inline]
    pub(super) fn begin(&self) -> Option<InProgress<'_>> {
        let in_progress = InProgress(self);
        // A request that is not begun ends like any other.
        self.conversation.begin_request().then_some(in_progress)
    }

    /// Counts a request as ended; if it was the last on a closing connection, sends
    /// CloseConnection.
    #[inline]
    pub(super) fn ends_request(&self) {
        if self.conversation.end_request() {
            self.close_in_order();
        }
    }

    /// Sends a reply, or delays it so that it is sent together with the replies to requests that
    /// have already arrived.
    #[inline(always)]
    pub(super) fn send_or_delay(&self, reply: &Block) {
        let may_wait = self.reader.has_received_more();
        self.replies
            .answer(&self.conversation, &self.strategy, reply, may_wait);
    }

    /// Sends the delayed replies, followed by the given reply.
    pub(super) fn send(&self, reply: &Block) {
        self.replies.send(&self.conversation, &self.strategy, reply);
    }

    /// Sends the replies that were delayed to be sent together, if there are any.
    #[inline]
    pub(super) fn send_pending(&self) {
        self.replies
            .send_pending(&self.conversation, &self.strategy);
    }

    /// Ends the connection for the reason `error`, which is logged unless it is an ordinary close.
    /// `mid_message` is true if a message was received only in part.
    pub(super) fn end(&self, error: &InboxError, mid_message: bool) {
        let conversation = &self.conversation;
        match error {
            InboxError::Link(link) => match complaint(link, mid_message) {
                Some(complaint) => conversation.complain(&complaint),
                None => {
                    tracing::debug!(peer = %conversation.peer(), "the connection has ended: {link}");
                }
            },
            InboxError::Frame(_) | InboxError::Fragment(_) | InboxError::LentAcross => {
                self.refuse(&error.to_string());
            }
            InboxError::NoRoom(_) => {
                conversation.complain(&format!("{error}; closed"));
                self.say_goodbye_if_idle();
            }
        }
        conversation.link().close();
        self.close_ended();
    }

    /// Handles the end of the connection: nothing more arrives, and nothing can be sent. Requests
    /// that are answered later keep the connection in memory, but not in the list of open
    /// connections.
    pub(super) fn close_ended(&self) {
        self.end_callbacks("the connection has ended");
        self.pending.close();
        if !self.pending.is_empty()
            && let Some(&number) = self.number.get()
        {
            self.lane.incoming.connections.leave(number);
        }
    }

    /// Reports a protocol violation to the peer (MessageError, CORBA 3.3 part 2, §9.4.8), and
    /// closes the connection.
    pub(super) fn refuse(&self, reason: &str) {
        let conversation = &self.conversation;
        conversation.complain(&format!("{reason}; answered with MessageError and closed"));
        self.send_control(MessageKind::MessageError);
        conversation.close();
    }

    fn send_control(&self, kind: MessageKind) {
        self.replies
            .send_control(&self.conversation, &self.strategy, kind);
    }

    /// Returns `true` if no request is in progress, no reply is delayed or being sent, and no part
    /// of a message has arrived.
    pub(super) fn is_idle(&self) -> bool {
        !self.conversation.is_busy()
            && !self.back.as_ref().is_some_and(|back| back.is_awaited())
            && !self.replies.has_pending()
            && !self.replies.is_sending()
            && !self.reader.is_mid_message()
            && !self.strategy.has_unsent()
    }

    /// Closes the connection, which was idle a moment ago, without waiting; returns `false`, and
    /// keeps it open, if replies are delayed or being sent again.
    pub(super) fn make_room(&self) -> bool {
        if self.strategy.sends_without_waiting() {
            if self.conversation.begin_closing() {
                self.close_in_order();
            }
            return true;
        }
        // If a request has begun meanwhile, its end closes the connection.
        let goodbye = || {
            if self.conversation.begin_closing() {
                self.say_goodbye_alone();
            }
        };
        self.replies.while_nothing_waits(goodbye).is_some()
    }

    /// Sends CloseConnection if the peer may rely on its meaning, that is, if every request that
    /// was begun has been answered.
    fn say_goodbye_if_idle(&self) {
        if self.conversation.begin_closing() {
            let goodbye = || match self.strategy.has_unsent() {
                true => {}
                false => self.say_goodbye_alone(),
            };
            let _ = self.replies.while_nothing_waits(goodbye);
        }
    }

    /// Sends CloseConnection and closes, while no other thread sends. If the operating system does
    /// not accept the message at once, it is omitted.
    fn say_goodbye_alone(&self) {
        let conversation = &self.conversation;
        let (link, session) = (conversation.link(), &*conversation.session);
        let (kind, version) = (MessageKind::CloseConnection, conversation.spoken());
        let (tracer, now) = (
            conversation.broker().tracer(),
            Deadline::after(Duration::ZERO),
        );
        let _ = messaging::send_control(link, session, kind, version, tracer, now);
        link.close();
    }

    /// Sends CloseConnection after the last reply, and then closes the connection.
    fn close_in_order(&self) {
        self.send_control(MessageKind::CloseConnection);
        self.strategy.close_when_sent(&self.conversation);
    }
}

impl PartSender for ServerConnection {
    /// Sends a request to the client that has opened the connection, after delayed replies.
    fn send_parts(&self, parts: &[IoSlice<'_>], deadline: Deadline) -> Result<(), SendError> {
        self.replies
            .send_request(&self.conversation, &self.strategy, parts, deadline)
    }
}

impl Evictable for ServerConnection {
    fn evict(&self, _: &str) {
        self.say_goodbye_if_idle();
        self.conversation.link().close();
        // A thread that holds one of these notices that the link is closed, and frees its data.
        self.strategy.discard_unsent();
        if let Some(mut inbox) = sync::try_lock(&self.reader.inbox) {
            inbox.abandon();
        }
    }

    fn log_eviction(&self, reason: &str) {
        self.conversation.complain(&format!("{reason}; closed"));
    }
}

impl Drop for ServerConnection {
    /// Ends calls to the client, and removes the connection from its lane's list, when no thread
    /// serves it any more.
    fn drop(&mut self) {
        self.end_callbacks("the connection has ended");
        if let Some(&number) = self.number.get() {
            self.lane
                .counters
                .record_leaving(self.reader.number_received());
            self.lane.incoming.connections.leave(number);
        }
    }
}

impl Drop for InProgress<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.ends_request();
    }
}
