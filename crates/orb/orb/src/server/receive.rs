//! One client's connection: whole messages off it, replies onto it, and its end.
//!
//! A thread of its own receives and serves. No lock is held over an upcall: when an upcall is about to
//! block in a call of its own, or takes long while more requests wait, another thread takes over
//! receiving ([`hand_over`]), so that a peer which shares the connection among its threads, one of them
//! called back or waited for meanwhile, is answered.

use super::Serving;
use super::code_sets::AgreedCodeSets;
use super::concurrency::OnReactor;
use super::memory::Memory;
use super::send::Sender;
use crate::messaging::{
    Abilities, Direction, Fragmenting, Head, Inbox, InboxError, Message, Session, Taken, Template,
};
use crate::orb::Orb;
use crate::probe::{self, Point};
use crate::sync::{self, Mutex};
use punctual_cdr::{CodeSets, Coding, GiopVersion, Limits};
use punctual_exec::{Deadline, LeaderFollowers};
use punctual_giop::{MessageKind, ReplyHeader, ReplyStatus, ServiceContexts};
use punctual_link::{Cause, Connection, LinkError, Pending, Phase};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

/// In `calls`: no new request is begun.
const CLOSING: u32 = 1 << 31;
/// Threads that serve one connection beside its first: one client shall not use up those of all.
const MAX_FOLLOWERS: u32 = 256;
/// Lines logged about one connection's mistakes; a hostile peer shall not fill a disk.
const MAX_COMPLAINTS: u32 = 10;

/// A connection that a client opened.
#[derive(Debug)]
pub(super) struct ServerConnection {
    pub(super) orb: Orb,
    link: Arc<dyn Connection>,
    /// How messages are laid out here.
    pub(super) session: Arc<dyn Session>,
    pub(super) abilities: Abilities,
    pub(super) fragmenting: Fragmenting,
    /// Whether the link lends memory for large results.
    pub(super) lends: bool,
    /// The head of a reply of GIOP 1.2 with results, where it is the same but for its id.
    results: Option<Template>,
    /// The number of the endpoint it came in at.
    endpoint: u64,
    /// Held by the thread that receives.
    pub(super) inbox: Mutex<Inbox>,
    /// What is sent, in order.
    pub(super) sender: Sender,
    /// Whether a thread receives, or is about to.
    reading: AtomicBool,
    /// Whether more had come together with the message in hand.
    buffered: AtomicBool,
    /// Messages received, so that a look now and then tells whether they go on.
    received: AtomicU32,
    /// Requests in progress, and [`CLOSING`].
    calls: AtomicU32,
    code_sets: AgreedCodeSets,
    /// Whether a first message has come.
    heard: AtomicBool,
    complaints: AtomicU32,
    /// Threads that serve it beside its first.
    followers: AtomicU32,
    /// The version that the peer spoke last: what it is told when there is no request to answer.
    spoken: AtomicU8,
    /// Its number among the ORB's connections, once it is served.
    number: OnceLock<u64>,
    /// Where a reactor serves it.
    reactor: OnceLock<Box<OnReactor>>,
}

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

/// A request in progress, counted until dropped.
pub(super) struct InProgress<'c>(&'c ServerConnection);

impl ServerConnection {
    pub(super) fn new(
        orb: Orb,
        link: Arc<dyn Connection>,
        session: Arc<dyn Session>,
        abilities: Abilities,
        endpoint: u64,
    ) -> Arc<Self> {
        let inbox = Inbox::new(session.clone(), orb.shared_limits());
        let code_sets = if abilities.contexts {
            CodeSets::UNNEGOTIATED
        } else {
            CodeSets::NATIVE
        };
        let fragmenting = match abilities.fragments {
            true => Fragmenting::new(orb.config()),
            false => Fragmenting::NEVER,
        };
        Arc::new(Self {
            inbox: Mutex::new(inbox),
            fragmenting,
            lends: link.lender().is_some(),
            results: results(&*session, orb.limits()),
            link,
            session,
            abilities,
            endpoint,
            sender: Sender::new(),
            reading: AtomicBool::new(true),
            buffered: AtomicBool::new(false),
            received: AtomicU32::new(0),
            calls: AtomicU32::new(0),
            code_sets: AgreedCodeSets::new(code_sets),
            heard: AtomicBool::new(false),
            complaints: AtomicU32::new(0),
            followers: AtomicU32::new(0),
            spoken: AtomicU8::new(GiopVersion::V1_0.minor()),
            number: OnceLock::new(),
            reactor: OnceLock::new(),
            orb,
        })
    }

    /// Serves the client until its connection ends.
    pub(super) fn serve_until_closed(self: Arc<Self>) {
        self.join();
        self.serve();
    }

    /// Has a reactor serve it until it ends.
    pub(super) fn serve_on(self: &Arc<Self>, pool: &Arc<LeaderFollowers>) -> std::io::Result<()> {
        self.reactor
            .get_or_init(|| Box::new(OnReactor::new(pool.clone())));
        self.join();
        pool.reactor().register(self.clone()).map(drop)
    }

    /// What it has where a reactor serves it.
    #[inline]
    pub(super) fn on_reactor(&self) -> Option<&OnReactor> {
        self.reactor.get().map(|on| &**on)
    }

    fn join(self: &Arc<Self>) {
        self.number
            .get_or_init(|| self.orb.lane().listening.join(self));
        // A goodbye that was said to all just before this one joined reaches it here.
        let listening = &self.orb.lane().listening;
        if self.orb.is_shut_down() || !listening.is_open(self.endpoint) {
            self.say_goodbye();
        }
    }

    /// Receives and serves, until the connection ends or another thread receives instead.
    fn serve(self: &Arc<Self>) {
        let serving = Serving::enter(self.clone());
        let mut memory = Memory::take();
        self.serve_with(&serving, &mut memory);
        self.send_pending();
        memory.rest();
    }

    fn serve_with(self: &Arc<Self>, serving: &Serving, memory: &mut Memory) {
        loop {
            probe::begins!(Point::ServerTransportReceive);
            // Another thread took over while this one was in an upcall; one is enough.
            let Some(mut inbox) = sync::try_lock(&self.inbox) else {
                return;
            };
            self.reading.store(true, Ordering::Relaxed);
            let came = match self.receive_plainly(&inbox, memory) {
                Ok(came) => came,
                Err(error) => {
                    self.end(&error.into(), false);
                    return;
                }
            };
            if came != Came::Otherwise {
                let (block, limits) = (&memory.block, self.orb.limits());
                let requests = &mut memory.requests;
                if let Some(request) = self.session.plain_request(requests, block, limits)
                    && block.lent().is_empty()
                {
                    probe::begins!(Point::ServerTransportReceive);
                    if came == Came::Copied {
                        inbox.pass(block.len());
                    }
                    self.has_received(GiopVersion::V1_2, !inbox.is_empty());
                    self.reading.store(false, Ordering::Relaxed);
                    drop(inbox);
                    self.serve_plain(block, &request, &mut memory.reply, serving);
                    continue;
                }
                if came == Came::Alone {
                    inbox.put(std::mem::take(&mut memory.block));
                }
            }
            let message = self.next(&mut inbox);
            self.reading.store(false, Ordering::Relaxed);
            drop(inbox);
            match message {
                Some(message) => self.handle(message, serving),
                None => return,
            }
        }
    }

    /// Receives, if nothing is here, or copies the next message: into a block of the thread's, where it
    /// may turn out to be a plain request.
    #[inline]
    fn receive_plainly(&self, inbox: &Inbox, memory: &mut Memory) -> Result<Came, LinkError> {
        if !self.expects_plain_requests() {
            return Ok(Came::Otherwise);
        }
        if !inbox.is_empty() {
            return Ok(match self.copy_short(inbox, memory) {
                true => Came::Copied,
                false => Came::Otherwise,
            });
        }
        self.send_pending();
        let block = memory.empty_block(&*self.link);
        probe::begins!(Point::ServerReceive);
        let received = self.link.receive(block, inbox.least(), Deadline::NEVER);
        probe::begins!(Point::ServerMessagingReceive);
        received.map(|_| Came::Alone)
    }

    /// Whether what comes next may be looked at as a whole: not on a new connection, nor where people
    /// look on.
    #[inline]
    pub(super) fn expects_plain_requests(&self) -> bool {
        self.heard.load(Ordering::Relaxed) && !self.orb.tracer().is_on()
    }

    /// Copies the next of several messages that came at once; false where it is to be taken otherwise.
    pub(super) fn copy_short(&self, inbox: &Inbox, memory: &mut Memory) -> bool {
        let Some(octets) = inbox.next_short() else {
            return false;
        };
        memory.empty_block(&*self.link).extend_from_slice(octets);
        true
    }

    #[inline]
    pub(super) fn has_received(&self, version: GiopVersion, more: bool) {
        // Only the thread that has the inbox counts.
        let received = self.received.load(Ordering::Relaxed).wrapping_add(1);
        self.received.store(received, Ordering::Relaxed);
        self.buffered.store(more, Ordering::Relaxed);
        self.spoken.store(version.minor(), Ordering::Relaxed);
    }

    /// Notes a message that has come, and whether more came with it.
    pub(super) fn has_message(&self, message: &Message, more: bool) {
        self.heard.store(true, Ordering::Relaxed);
        self.has_received(message.header.version, more);
        self.orb
            .tracer()
            .show(Direction::Received, self.peer(), &message.block);
    }

    /// The version that the peer spoke last.
    pub(super) fn spoken(&self) -> GiopVersion {
        let minor = self.spoken.load(Ordering::Relaxed);
        GiopVersion::from_numbers(1, minor).unwrap_or(GiopVersion::V1_0)
    }

    /// How many messages have come.
    pub(super) fn number_received(&self) -> u32 {
        self.received.load(Ordering::Relaxed)
    }

    /// Whether a first message has come.
    pub(super) fn is_heard(&self) -> bool {
        self.heard.load(Ordering::Relaxed)
    }

    /// The next whole message; `None` when there will be none.
    fn next(&self, inbox: &mut Inbox) -> Option<Message> {
        let timeouts = &self.orb.config().timeouts;
        let mut begun: Option<Deadline> = None;
        loop {
            let step = match inbox.take(&*self.link) {
                Ok(Taken::Message(message)) => {
                    self.has_message(&message, inbox.is_mid_message());
                    return Some(message);
                }
                Ok(Taken::Need(need)) => {
                    let deadline = if inbox.is_mid_message() {
                        // An octet now and then earns no new term.
                        begun
                            .get_or_insert_with(|| Deadline::after_maybe(timeouts.message))
                            .from_now()
                    } else if self.heard.load(Ordering::Relaxed) {
                        Deadline::NEVER
                    } else {
                        Deadline::after_maybe(timeouts.first_message)
                    };
                    if begun.is_some_and(|begun| begun.has_passed()) {
                        Err(LinkError::timed_out(Phase::Receive).into())
                    } else {
                        self.send_pending();
                        probe::begins!(Point::ServerReceive);
                        let received = inbox.receive(&*self.link, need, deadline);
                        probe::begins!(Point::ServerTransportReceive);
                        received
                    }
                }
                Err(error) => Err(error),
            };
            if let Err(error) = step {
                self.end(&error, inbox.is_mid_message());
                return None;
            }
        }
    }

    /// Ends the connection for a reason, which is logged unless it is an ordinary goodbye.
    pub(super) fn end(&self, error: &InboxError, mid_message: bool) {
        match error {
            InboxError::Link(link) => match link.cause {
                Cause::Closed if !mid_message => {}
                Cause::Closed => self.complain("the peer closed in the middle of a message"),
                Cause::TimedOut if mid_message => {
                    self.complain("the peer took too long to send a message; closed");
                }
                Cause::TimedOut => self.complain("the peer said nothing; closed"),
                Cause::BadPeer(_) => self.complain(&format!("{error}; closed")),
                _ => tracing::debug!(peer = %self.peer(), "{error}"),
            },
            InboxError::Frame(_) | InboxError::Fragment(_) | InboxError::LentAcross => {
                self.refuse(&error.to_string());
            }
        }
        self.link.close();
    }

    /// Tells a peer that broke the protocol (MessageError, CORBA 3.3 part 2, §9.4.8), and closes.
    pub(super) fn refuse(&self, reason: &str) {
        self.complain(&format!("{reason}; answered with MessageError and closed"));
        self.send_control(MessageKind::MessageError);
        self.close();
    }

    /// Logs one line about this peer, up to a number of them.
    pub(super) fn complain(&self, what: &str) {
        match self.complaints.fetch_add(1, Ordering::Relaxed) {
            count if count < MAX_COMPLAINTS => tracing::warn!(peer = %self.peer(), "{what}"),
            MAX_COMPLAINTS => {
                tracing::warn!(peer = %self.peer(), "more such lines about this peer are left out");
            }
            _ => {}
        }
    }

    /// How many messages have come, if nobody receives at the moment and no reply is being sent: a peer
    /// that does not take its replies has no more of them made.
    pub(super) fn stands_still_at(&self) -> Option<u64> {
        if let Some(on) = self.on_reactor() {
            return Some(on.in_hand()).filter(|&mark| mark != 0);
        }
        let is_still = !self.reading.load(Ordering::Relaxed) && !self.sender.is_sending();
        is_still.then(|| self.received.load(Ordering::Relaxed).into())
    }

    /// Whether there is something to receive.
    pub(super) fn has_more(&self) -> bool {
        self.buffered.load(Ordering::Relaxed) || self.link.pending() != Pending::Nothing
    }

    /// Whether more has been received already. Enters no kernel.
    pub(super) fn has_received_more(&self) -> bool {
        self.buffered.load(Ordering::Relaxed)
    }

    /// Counts a request as in progress; `None` when the connection is closing.
    pub(super) fn begin(&self) -> Option<InProgress<'_>> {
        // AcqRel on both sides: a goodbye either sees this request or is seen by it.
        if self.calls.fetch_add(1, Ordering::AcqRel) & CLOSING != 0 {
            drop(InProgress(self));
            return None;
        }
        Some(InProgress(self))
    }

    /// No new requests; CloseConnection when the last one in progress has been answered.
    pub(super) fn say_goodbye(&self) {
        if self.calls.fetch_or(CLOSING, Ordering::AcqRel) == 0 {
            self.close_in_order();
        }
    }

    fn close_in_order(&self) {
        self.send_control(MessageKind::CloseConnection);
        // What waits for room goes first.
        if self.on_reactor().is_none_or(OnReactor::close_when_sent) {
            self.link.close();
        }
    }

    /// Ends the connection without a word. What a peer that broke the protocol, takes no replies or has
    /// said goodbye had sent before, and was not begun, is not served.
    pub(super) fn close(&self) {
        // Release pairs with `begin`.
        self.calls.fetch_or(CLOSING, Ordering::Release);
        self.link.close();
    }

    /// The head of replies with results to requests of this version, if there is one at hand.
    #[inline]
    pub(super) fn template(&self, version: GiopVersion) -> Option<&Template> {
        self.results
            .as_ref()
            .filter(|_| version == GiopVersion::V1_2)
    }

    /// The number of the endpoint it came in at.
    pub(super) fn endpoint(&self) -> u64 {
        self.endpoint
    }

    pub(super) fn link(&self) -> &dyn Connection {
        &*self.link
    }

    pub(super) fn peer(&self) -> &punctual_link::Address {
        self.link.peer()
    }

    pub(super) fn code_sets(&self) -> CodeSets {
        self.code_sets.get()
    }

    /// What the client chose for this connection (CORBA 3.3 part 2, §7.10.2.6).
    pub(super) fn set_code_sets(&self, code_sets: CodeSets) {
        self.code_sets.set(code_sets);
    }
}

impl Drop for ServerConnection {
    /// The last thread that served it has left.
    fn drop(&mut self) {
        if let Some(&number) = self.number.get() {
            self.orb.lane().listening.leave(number);
        }
    }
}

impl Drop for InProgress<'_> {
    fn drop(&mut self) {
        if self.0.calls.fetch_sub(1, Ordering::AcqRel) == CLOSING | 1 {
            self.0.close_in_order();
        }
    }
}

/// The head of a reply with results, whatever its id.
fn results(session: &dyn Session, limits: &Limits) -> Option<Template> {
    let header = ReplyHeader {
        request_id: 0,
        status: ReplyStatus::NoException,
        contexts: ServiceContexts::none(),
    };
    let (kind, head) = (MessageKind::Reply, Head::Reply(header));
    let coding = Coding::new(GiopVersion::V1_2, limits);
    Template::new(session, kind, &head, coding).ok().flatten()
}

/// Lets another thread receive on a connection whose own is about to block in a nested call, or takes
/// long. A client that has so many calls in upcalls at once waits for one of them to end.
///
/// `mark` is what the thread has in hand, where a reactor's thread does: others of the reactor come then.
pub(super) fn hand_over(connection: &Arc<ServerConnection>, mark: u64) {
    connection.send_pending();
    if let Some(on) = connection.on_reactor() {
        return on.give_way(mark);
    }
    // Relaxed: a bound, and no more; nothing is read by it.
    if connection.followers.fetch_add(1, Ordering::Relaxed) >= MAX_FOLLOWERS {
        connection.followers.fetch_sub(1, Ordering::Relaxed);
        connection.complain("the peer has too many calls in progress; more wait for them");
        return;
    }
    let follower = connection.clone();
    let crew = &connection.orb.lane().listening.crew;
    let spawned = crew.spawn("punctual-conn", move || {
        follower.serve();
        follower.followers.fetch_sub(1, Ordering::Relaxed);
    });
    if let Err(error) = spawned {
        connection.followers.fetch_sub(1, Ordering::Relaxed);
        // The call goes on; only requests behind it on this connection wait.
        tracing::debug!(peer = %connection.peer(), "no thread to receive meanwhile: {error}");
    }
}
