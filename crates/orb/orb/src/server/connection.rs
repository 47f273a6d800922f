//! One client's connection: a reader, a reply sender, and a strategy that says whose threads serve it.
//!
//! No lock is held over an upcall. When an upcall is about to block in a call of its own, or takes long while
//! more requests wait, another thread takes over receiving.

use super::concurrency::{Blocking, OnReactor, PerConnection, Strategy};
use super::conversation::Conversation;
use super::host::{AdapterCell, Host};
use super::reader::Reader;
use super::send::ReplySender;
use super::serve::serve;
use crate::lane::{Accepted, Lane};
use crate::messaging::{Abilities, Inbox, InboxError, Session};
use crate::upcall::{RequestSource, Serving};
use punctual_cdr::Block;
use punctual_exec::LeaderFollowers;
use punctual_giop::MessageKind;
use punctual_link::{Cause, Connection, SendError};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

/// A connection that a client opened.
#[derive(Debug)]
pub(super) struct ServerConnection {
    pub(super) conversation: Conversation,
    pub(super) reader: Reader,
    replies: ReplySender,
    pub(super) strategy: Strategy,
    /// Whom its requests are for.
    pub(super) adapter: Arc<AdapterCell>,
    lane: Arc<Lane>,
    /// The number of the endpoint it came in at.
    endpoint: u64,
    /// Its number among the lane's connections, once it is served.
    number: OnceLock<u64>,
}

/// A request in progress, counted until dropped.
pub(super) struct InProgress<'c>(&'c ServerConnection);

impl ServerConnection {
    /// Served by the threads of a reactor, if a pool is given, and by its own otherwise.
    pub(super) fn new(
        (lane, host): (&Arc<Lane>, &Host),
        link: Arc<dyn Connection>,
        (session, abilities): (Arc<dyn Session>, Abilities),
        endpoint: u64,
        pool: Option<&Arc<LeaderFollowers>>,
    ) -> Arc<Self> {
        let broker = lane.broker();
        let inbox = Inbox::new(session.clone(), broker.shared_limits());
        let environment = host.environment.clone();
        Arc::new(Self {
            reader: Reader::new(inbox),
            replies: ReplySender::new(),
            strategy: match pool {
                None => Strategy::PerConnection(PerConnection::default()),
                Some(pool) => {
                    let on = OnReactor::new(pool.clone(), broker.config().timeouts);
                    Strategy::Reactor(Box::new(on))
                }
            },
            conversation: Conversation::new(broker.clone(), environment, link, session, abilities),
            adapter: host.adapter.clone(),
            lane: lane.clone(),
            endpoint,
            number: OnceLock::new(),
        })
    }

    /// Serves the client by the calling thread until its connection ends.
    pub(super) fn serve_until_closed(self: Arc<Self>) {
        self.join();
        self.serve_blocking();
    }

    /// Has its reactor serve it until it ends.
    pub(super) fn serve_on(self: &Arc<Self>, pool: &LeaderFollowers) -> std::io::Result<()> {
        self.join();
        pool.reactor().register(self.clone()).map(drop)
    }

    fn join(self: &Arc<Self>) {
        let incoming = &self.lane.incoming;
        self.number.get_or_init(|| {
            let this: Weak<Self> = Arc::downgrade(self);
            incoming.connections.join(this)
        });
        // A goodbye that was said to all just before this one joined reaches it here.
        let shuts_down = !self.conversation.broker().life.serves();
        if shuts_down || !incoming.endpoints.is_open(self.endpoint) {
            self.say_goodbye();
        }
    }

    fn serve_blocking(self: &Arc<Self>) {
        serve(self, &self.enter(), None, &mut Blocking::at(self));
    }

    /// Marks the calling thread as one that serves this connection.
    pub(super) fn enter(self: &Arc<Self>) -> Serving {
        Serving::enter(self.conversation.broker().number(), self.clone())
    }

    /// Counts a request as in progress; `None` when the connection is closing.
    #[inline]
    pub(super) fn begin(&self) -> Option<InProgress<'_>> {
        let in_progress = InProgress(self);
        // One that is not begun ends as any other.
        self.conversation.begin_request().then_some(in_progress)
    }

    /// Sends a reply, or lets it wait for those of requests that have come already.
    #[inline]
    pub(super) fn answer_with(&self, reply: &Block) {
        let may_wait = self.reader.has_received_more();
        self.replies
            .answer(&self.conversation, &self.strategy, reply, may_wait);
    }

    /// Sends a reply, behind those that wait.
    pub(super) fn send(&self, reply: &Block) {
        self.replies.send(&self.conversation, &self.strategy, reply);
    }

    /// Sends the replies that wait, if some do.
    #[inline]
    pub(super) fn send_pending(&self) {
        self.replies
            .send_pending(&self.conversation, &self.strategy);
    }

    /// A reply did not go out.
    pub(super) fn has_not_sent(&self, error: &SendError) {
        ReplySender::has_not_sent(&self.conversation, error);
    }

    /// Ends the connection for a reason, which is logged unless it is an ordinary goodbye.
    pub(super) fn end(&self, error: &InboxError, mid_message: bool) {
        let conversation = &self.conversation;
        match error {
            InboxError::Link(link) => match link.cause {
                Cause::Closed if !mid_message => {}
                Cause::Closed => {
                    conversation.complain("the peer closed in the middle of a message")
                }
                Cause::TimedOut if mid_message => {
                    conversation.complain("the peer took too long to send a message; closed");
                }
                Cause::TimedOut => conversation.complain("the peer said nothing; closed"),
                Cause::BadPeer(_) => conversation.complain(&format!("{error}; closed")),
                _ => tracing::debug!(peer = %conversation.peer(), "{error}"),
            },
            InboxError::Frame(_) | InboxError::Fragment(_) | InboxError::LentAcross => {
                self.refuse(&error.to_string());
            }
        }
        conversation.link().close();
    }

    /// Tells a peer that broke the protocol (MessageError, CORBA 3.3 part 2, §9.4.8), and closes.
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

    fn close_in_order(&self) {
        self.send_control(MessageKind::CloseConnection);
        // What waits for room goes first.
        if self
            .strategy
            .reactor()
            .is_none_or(OnReactor::close_when_sent)
        {
            self.conversation.link().close();
        }
    }
}

impl Accepted for ServerConnection {
    fn endpoint(&self) -> u64 {
        self.endpoint
    }

    fn say_goodbye(&self) {
        if self.conversation.begin_closing() {
            self.close_in_order();
        }
    }

    /// A peer that does not take its replies has no more of them made.
    fn stands_still_at(&self) -> Option<u64> {
        if let Some(on) = self.strategy.reactor() {
            return Some(on.in_hand()).filter(|&mark| mark != 0);
        }
        let is_still = !self.reader.is_receiving() && !self.replies.is_sending();
        is_still.then(|| self.reader.number_received().into())
    }

    fn hand_over_if_needed(self: Arc<Self>, stands_at: u64) {
        // Replies that have waited for the upcall's own wait no longer.
        self.send_pending();
        if self.reader.has_more(&self.conversation) {
            self.hand_over(stands_at);
        }
    }
}

impl RequestSource for ServerConnection {
    /// A client that has so many calls in upcalls at once waits for one of them to end.
    fn hand_over(self: Arc<Self>, in_hand: u64) {
        self.send_pending();
        match &self.strategy {
            Strategy::Reactor(on) => on.give_way(in_hand),
            Strategy::PerConnection(own) if own.begin_follower() => self.follow(),
            Strategy::PerConnection(_) => {
                let what = "the peer has too many calls in progress; more wait for them";
                self.conversation.complain(what);
            }
        }
    }

    fn has_received_more(&self) -> bool {
        self.reader.has_received_more()
    }

    fn longest_block(&self) -> Option<Duration> {
        let bound = self.conversation.broker().config().timeouts.nested_call;
        bound.filter(|_| self.strategy.reactor().is_some())
    }

    fn is_served_alone(&self) -> bool {
        self.strategy
            .reactor()
            .is_some_and(OnReactor::is_served_alone)
    }
}

impl ServerConnection {
    /// Has a thread receive that was counted as a follower.
    fn follow(self: Arc<Self>) {
        let follower = self.clone();
        let ends = |connection: &Self| {
            if let Strategy::PerConnection(own) = &connection.strategy {
                own.end_follower();
            }
        };
        let spawned = self.lane.incoming.threads.spawn("punctual-conn", move || {
            follower.serve_blocking();
            ends(&follower);
        });
        if let Err(error) = spawned {
            ends(&self);
            // The call goes on; only requests behind it on this connection wait.
            let peer = self.conversation.peer();
            tracing::debug!(%peer, "no thread to receive meanwhile: {error}");
        }
    }
}

impl Drop for ServerConnection {
    /// The last thread that served it has left.
    fn drop(&mut self) {
        if let Some(&number) = self.number.get() {
            self.lane.incoming.connections.leave(number);
        }
    }
}

impl Drop for InProgress<'_> {
    fn drop(&mut self) {
        if self.0.conversation.end_request() {
            self.0.close_in_order();
        }
    }
}
