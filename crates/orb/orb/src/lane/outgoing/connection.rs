//! A connection that any number of calling threads share.
//!
//! Each request is one send under the sending lock ([`crate::lane::outgoing::sending`]); replies are read by one of the callers
//! that wait ([`crate::lane::outgoing::receiving`]), who passes on what is not its own. No lock is held across the upcalls of
//! anybody, and none is shared with another connection.

mod wire_format;

use wire_format::WireFormat;

use super::wait::WaitStrategy;
use crate::budget::{Evictable, Received, host_of};
use crate::lane::outgoing::buffering::Buffer;
use crate::lane::outgoing::callbacks::ServesRequests;
use crate::lane::outgoing::calls::{Broken, Delivered, NoReply};
use crate::lane::outgoing::calls::{Caller, Callers};
use crate::lane::outgoing::pool::OpenedFor;
use crate::lane::outgoing::pool::ToEndpoint;
use crate::lane::outgoing::replies::Watch;
use crate::lane::outgoing::sending::Gathering;
use crate::lane::outgoing::sending::Sender;
use crate::messaging::{Inbox, Message, Tracer};
use crate::profile::Origin;
use crate::protocol::Pair;
use punctual_cdr::{Block, CodeSets, GiopVersion};
use punctual_exec::{Deadline, LaneLock, Reactor};
use punctual_link::{Connection, Pending, SendError};
use punctual_sys::clock::coarse_nanos;
use std::io::IoSlice;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

/// How long a look at a connection that nobody uses may take.
const LOOK_AT_IDLE: Duration = Duration::from_millis(5);
/// How long buffered requests may take to be sent when their protocol is retired.
const FLUSH_AT_END: Duration = Duration::from_secs(1);

/// A client's connection to one endpoint.
#[derive(Debug)]
pub(crate) struct ClientConnection {
    pub(crate) link: Arc<dyn Connection>,
    pub(crate) pair: Arc<Pair>,
    pub(crate) wire: WireFormat,
    /// Held while a message is sent.
    pub(super) sender: LaneLock<Sender>,
    /// Requests that wait to be sent together.
    pub(super) buffer: Buffer,
    /// Whether one-ways may be put together by the transport ([`crate::lane::outgoing::sending`]).
    pub(super) gathers: bool,
    /// Those who wait for replies, and the inbox, which one of them reads.
    pub(crate) callers: Callers<Inbox, Delivered>,
    pub(crate) usable: AtomicBool,
    /// Whether a call has it for itself.
    claimed: AtomicBool,
    /// Whether no request is to carry the CodeSets context any more (CORBA 3.3 part 2, §7.10.2.6).
    code_sets_told: AtomicBool,
    /// Whether the server has been told of its band, if it has one ([`crate::lane::outgoing::pool`]). Relaxed: a flag by itself.
    is_bound_to_band: AtomicBool,
    pub(crate) tracer: Tracer,
    /// When the last call began, in nanoseconds of the coarse clock.
    last_used: AtomicU64,
    /// Quiet for so many nanoseconds, it is looked at before it is used again (`timeouts.quiet`).
    quiet: u64,
    /// How long that look may take (`timeouts.drain`).
    pub(super) drain: Option<Duration>,
    /// How callers wait for their replies.
    pub(crate) waiting: WaitStrategy,
    /// Who reads for those that do not wait.
    pub(super) watch: Watch,
    /// Whether a thread sends one-ways here, so that it keeps to this one. Relaxed: a flag by itself.
    is_kept_to: AtomicBool,
    origin: Origin,
    /// See [`ClientConnection::spreads`].
    spreads: Option<u64>,
    /// What serves requests that come by it, if anything does.
    pub(super) requests: parking_lot::Mutex<Option<Arc<dyn ServesRequests>>>,
    /// What its first request tells the server of where the client listens.
    pub(super) listen_points: OnceLock<Vec<u8>>,
    /// All to the same endpoint.
    pub(in crate::lane) to: Weak<ToEndpoint<ClientConnection>>,
}

/// A connection that no other call uses, until dropped.
#[derive(Debug)]
pub(crate) struct Claim(Arc<ClientConnection>);

impl Claim {
    pub(crate) fn connection(&self) -> &Arc<ClientConnection> {
        &self.0
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // Release pairs with the Acquire in `claim`: the next caller sees what this one did.
        self.0.claimed.store(false, Ordering::Release);
    }
}

/// A caller's place in the reply table, given back when dropped.
#[derive(Debug)]
pub(crate) struct PendingReply<'c> {
    connection: &'c ClientConnection,
    pub(crate) caller: Caller<'c, Delivered>,
}

impl ClientConnection {
    pub(super) fn new(
        link: Arc<dyn Connection>,
        pair: &Arc<Pair>,
        (version, code_sets): (GiopVersion, CodeSets),
        (lane, to): (&OpenedFor<'_>, &Arc<ToEndpoint<ClientConnection>>),
        waiting: WaitStrategy,
    ) -> Self {
        let wire = WireFormat::new(pair, version, code_sets, lane.broker);
        let timeouts = lane.broker.config().timeouts;
        let quiet = timeouts.quiet.map(|quiet| quiet.as_nanos());
        let gather = match link.gatherer() {
            Some(_) => lane.broker.config().one_way_gather,
            None => Duration::ZERO,
        };
        let inbox = Inbox::new(wire.session.clone(), wire.limits.clone());
        let tells_code_sets = wire.carries_contexts();
        Self {
            callers: Callers::of(inbox),
            origin: Origin::of(&*pair.link, &*link),
            link,
            pair: pair.clone(),
            wire,
            sender: LaneLock::new(
                lane.locks,
                Sender {
                    gathering: Gathering::new(gather),
                    spare: Block::default(),
                },
            ),
            buffer: Buffer::new(lane.locks),
            gathers: !gather.is_zero(),
            usable: AtomicBool::new(true),
            claimed: AtomicBool::new(false),
            code_sets_told: AtomicBool::new(!tells_code_sets),
            is_bound_to_band: AtomicBool::new(false),
            tracer: lane.broker.tracer(),
            quiet: quiet.map_or(u64::MAX, |quiet| quiet.try_into().unwrap_or(u64::MAX)),
            drain: timeouts.drain,
            last_used: AtomicU64::new(coarse_nanos()),
            waiting,
            watch: Watch::default(),
            is_kept_to: AtomicBool::new(false),
            spreads: to.spreads().then_some(to.number),
            requests: parking_lot::Mutex::new(None),
            listen_points: OnceLock::new(),
            to: Arc::downgrade(to),
        }
    }

    /// One by which a server calls the client that has opened it. `link` sends by the server's sending lock, and receives
    /// nothing: replies are passed on by who reads for the server.
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
        this.callers = Callers::of_other_side(inbox);
        this
    }

    /// A request of the server's is to be served: the connection closes behind its reply.
    pub(crate) fn begins_serving(&self) {
        self.callers.begins_serving();
    }

    /// It has been.
    pub(crate) fn ends_serving(&self) {
        if self.callers.ends_serving() {
            self.link.close();
        }
    }

    /// Sends a message of the side that serves requests.
    pub(crate) fn send_parts(
        &self,
        parts: &[IoSlice<'_>],
        deadline: Deadline,
    ) -> Result<(), SendError> {
        let _sending = self.lock_sender(deadline)?;
        self.link.send(parts, deadline)
    }

    /// What comes here counts as received by the ORB, before anybody reads.
    pub(super) fn watch_inbox(self: &Arc<Self>, received: &Arc<Received>) {
        let this: Weak<Self> = Arc::downgrade(self);
        let from = host_of(&*self.pair.link, self.link.peer());
        let account = received.account(from, this);
        if let Some(mut inbox) = self.callers.read() {
            // How long a reply may take is its call's to say.
            inbox.watch(account, None);
            // It is new.
            let _watched = self.callers.hand_on(inbox);
        }
    }

    /// A thread keeps to it, for its one-ways.
    pub(super) fn keep_to(&self) {
        self.is_kept_to.store(true, Ordering::Relaxed);
    }

    /// Whether some thread keeps to it.
    pub(super) fn is_kept_to(&self) -> bool {
        self.is_kept_to.load(Ordering::Relaxed)
    }

    /// The endpoint's number, where callers spread over several connections to it.
    pub(in crate::lane) fn spreads(&self) -> Option<u64> {
        self.spreads
    }

    /// Where references come from that come by it.
    #[inline]
    pub(crate) fn origin(&self) -> Origin {
        self.origin
    }

    /// Until when a call may wait here that may block for `bound` at most, as others may need its thread:
    /// not where that serves them meanwhile.
    #[inline]
    pub(crate) fn bounded(&self, deadline: Deadline, bound: Option<Duration>) -> Deadline {
        match bound {
            Some(bound) if !self.waiting.serves_meanwhile() => {
                deadline.earlier(Deadline::after(bound))
            }
            _ => deadline,
        }
    }

    /// The reactor that its callers serve, if they serve one.
    #[cfg(test)]
    pub(crate) fn reactor(&self) -> Option<&punctual_exec::Reactor> {
        self.waiting.served()
    }

    /// What its sending lock does for the thread that has it.
    #[cfg(test)]
    pub(crate) fn send_lock(&self) -> punctual_exec::LockProtocol {
        self.sender.protocol()
    }

    /// Lends a block to marshal a request into.
    pub(crate) fn lend(&self) -> Block {
        self.link.lend(0)
    }

    /// Has it for one call alone; `None` when another call does.
    pub(crate) fn claim(self: &Arc<Self>) -> Option<Claim> {
        // Acquire pairs with the Release of the claim's end: this call sees what the one before did.
        let is_free = !self.claimed.swap(true, Ordering::Acquire);
        is_free.then(|| Claim(self.clone()))
    }

    /// Whether it was not broken off, without a look at it.
    pub(crate) fn may_be_used(&self) -> bool {
        self.usable.load(Ordering::Acquire)
    }

    /// Whether a new request may be sent on it. Costs a system call only after a quiet spell, and blocks
    /// only where the peer has begun a message and not ended it.
    #[inline]
    pub(crate) fn is_usable(&self, deadline: Deadline) -> bool {
        // Acquire pairs with the Release in `break_off`.
        if !self.usable.load(Ordering::Acquire) {
            return false;
        }
        let now = coarse_nanos();
        now == self.last_used.load(Ordering::Relaxed) || self.is_usable_after(now, deadline)
    }

    /// The same where the clock has gone on since the last call.
    #[inline(never)]
    fn is_usable_after(&self, now: u64, deadline: Deadline) -> bool {
        let last = self.last_used.load(Ordering::Relaxed);
        // Until the look is over, others look too.
        let is_quiet = now.saturating_sub(last) >= self.quiet;
        let usable = !is_quiet || !self.callers.is_idle() || self.look(deadline);
        self.last_used.store(now, Ordering::Relaxed);
        usable
    }

    /// Looks at what a quiet connection has to say; false when that was the end of it.
    fn look(&self, deadline: Deadline) -> bool {
        match self.link.pending() {
            Pending::Nothing => true,
            Pending::End => {
                self.break_off(&Broken::off("closed by the peer"));
                false
            }
            Pending::Data => {
                self.drain(deadline);
                self.usable.load(Ordering::Acquire)
            }
        }
    }

    /// Whether it is open, as far as what has come from the peer tells.
    pub(crate) fn is_open(&self) -> bool {
        self.usable.load(Ordering::Acquire)
            && (!self.callers.is_idle() || self.look(Deadline::after(LOOK_AT_IDLE)))
    }

    /// Whether no call uses it, and nothing waits on it, at this moment.
    pub(crate) fn is_idle(&self) -> bool {
        // A server may call back at any time.
        if self.listen_points.get().is_some() {
            return false;
        }
        let nothing_waits = self.try_lock_sender().is_some() && self.buffer.is_empty();
        nothing_waits && self.callers.is_idle() && !self.claimed.load(Ordering::Acquire)
    }

    /// When the last call began, in nanoseconds of the coarse clock.
    pub(crate) fn last_used(&self) -> u64 {
        self.last_used.load(Ordering::Relaxed)
    }

    /// How many replies may come yet whose callers have given up.
    pub(crate) fn owed(&self) -> u32 {
        self.callers.owed()
    }

    /// Whether requests here carry service contexts.
    #[inline]
    pub(crate) fn carries_contexts(&self) -> bool {
        self.wire.carries_contexts()
    }

    /// Whether this request is still to carry the CodeSets context.
    pub(crate) fn must_tell_code_sets(&self) -> bool {
        !self.code_sets_told.load(Ordering::Relaxed)
    }

    /// A place for a caller; `None` when too many wait already.
    pub(crate) fn register(&self) -> Option<PendingReply<'_>> {
        Some(PendingReply {
            connection: self,
            caller: self.callers.register()?,
        })
    }

    /// The place of a caller that has put its call away.
    pub(super) fn pending(&self, id: u32) -> Option<PendingReply<'_>> {
        Some(PendingReply {
            connection: self,
            caller: self.callers.registered(id)?,
        })
    }

    /// Remembers that a request with the CodeSets context has gone out.
    pub(crate) fn code_sets_are_told(&self) {
        self.code_sets_told.store(true, Ordering::Relaxed);
    }

    /// Whether the server has been told of its band.
    pub(crate) fn is_bound_to_band(&self) -> bool {
        self.is_bound_to_band.load(Ordering::Relaxed)
    }

    /// The server has been told of its band, or knows none.
    pub(crate) fn has_bound_to_band(&self) {
        self.is_bound_to_band.store(true, Ordering::Relaxed);
    }

    /// Ends the connection: whoever waits on it learns why, and nobody uses it again.
    pub(crate) fn break_off(&self, broken: &Broken) {
        self.usable.store(false, Ordering::Release);
        self.link.close();
        self.lose_what_waits();
        let requests = self.requests.lock().take();
        if let Some(requests) = requests {
            requests.has_ended();
        }
        // A reply that has arrived is not taken away again.
        self.callers.deliver_to_all(
            || Delivered::Broken(broken.clone()),
            // Nor is the news that a buffered request has not left.
            |there| matches!(there, Delivered::Broken(broken) if !broken.orderly),
        );
        self.waiting.wake(None);
    }

    /// No new calls; closes when the last one in progress has ended.
    pub(crate) fn retire(&self) {
        self.let_none_begin();
        // What waits was accepted before.
        self.buffer.close();
        self.flush(Deadline::after(FLUSH_AT_END));
        self.close_with_the_last();
    }

    /// No new calls.
    pub(super) fn let_none_begin(&self) {
        self.usable.store(false, Ordering::Release);
    }

    /// Closes when the last call in progress has ended.
    pub(super) fn close_with_the_last(&self) {
        if self.callers.retire() {
            self.link.close();
        }
    }

    pub(crate) fn link(&self) -> &dyn Connection {
        &*self.link
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
        self.lose_what_waits();
        self.log_lost();
    }
}

impl PendingReply<'_> {
    /// Gives the place back once the caller has read its own reply.
    #[inline]
    pub(crate) fn end(self) {
        let pending = ManuallyDrop::new(self);
        let connection = pending.connection;
        if connection.callers.leave_with_its_own(&pending.caller) {
            connection.link.close();
        }
    }

    /// What has come, without waiting.
    pub(crate) fn take(&self) -> Result<Message, NoReply> {
        match self.caller.place.slot.poll() {
            Some(Delivered::Reply(message)) => Ok(message),
            Some(Delivered::Broken(broken)) => Err(NoReply::Broken(broken)),
            Some(Delivered::Late) => Err(NoReply::NotSent),
            None => Err(NoReply::TimedOut),
        }
    }

    /// The id of the request.
    pub(crate) fn id(&self) -> u32 {
        self.caller.place.id
    }
}

impl Drop for PendingReply<'_> {
    #[inline]
    fn drop(&mut self) {
        let connection = self.connection;
        if connection.callers.leave(&self.caller) {
            connection.link.close();
        }
        connection.has_unread_read();
    }
}
