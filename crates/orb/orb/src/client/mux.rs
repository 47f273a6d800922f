//! A connection that any number of calling threads share.
//!
//! Each request is one send under the sending lock; replies are read by one of the callers that wait
//! (see [`super::wait`]), who passes on what is not its own. No lock is held across the upcalls of
//! anybody, and none is shared with another connection.

use super::buffer::Queue;
use super::callers::{Caller, Callers};
use super::delivered::{Broken, Delivered};
use super::endpoint_select::{Binding, Endpoint};
use super::on_reactor::OnReactor;
use crate::messaging::{
    self, Abilities, Direction, Fragmenting, Inbox, InboxError, Message, Session, Taken, Tracer,
};
use crate::policy::Mux;
use crate::probe::{self, Point};
use crate::protocol::Pair;
use punctual_cdr::{Block, CodeSets, GiopVersion, Limits};
use punctual_exec::Deadline;
use punctual_giop::MessageKind;
use punctual_link::{Cause, Connection, LinkError, Pending, Phase, SendError};
use punctual_sys::clock::coarse_millis;
use std::io::IoSlice;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A connection quiet for longer than this, in milliseconds, is looked at before it is used again: its
/// peer may have closed it meanwhile, and a request sent into that would be neither answered nor safe to
/// repeat.
const QUIET: u64 = 50;

/// How long a look at a connection that nobody uses may take.
const GLANCE: Duration = Duration::from_millis(5);
/// How long buffered requests may take to be sent when their protocol is retired.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// How long this side takes for what nobody waits for.
const AT_LEISURE: Duration = Duration::from_millis(100);

/// A client's connection to one endpoint.
#[derive(Debug)]
pub(crate) struct ClientConnection {
    pub(super) link: Arc<dyn Connection>,
    /// How messages are laid out here.
    pub(super) session: Arc<dyn Session>,
    pub(crate) pair: Arc<Pair>,
    pub(crate) abilities: Abilities,
    pub(crate) version: GiopVersion,
    pub(crate) code_sets: CodeSets,
    /// The largest message that the link carries in one piece, if there is one.
    pub(super) largest: Option<usize>,
    pub(super) limits: Arc<Limits>,
    /// Held while a message is sent: one-ways that wait to be, in order.
    sender: parking_lot::Mutex<Queue>,
    /// Those who wait for replies, and the inbox, which one of them reads.
    pub(super) callers: Callers<Inbox, Delivered>,
    usable: AtomicBool,
    /// Whether a call has it for itself.
    claimed: AtomicBool,
    /// Whether a request with the CodeSets context has been sent (CORBA 3.3 part 2, §7.10.2.6).
    code_sets_told: AtomicBool,
    pub(super) fragmenting: Fragmenting,
    pub(super) tracer: Tracer,
    /// When the last call began, by the coarse clock.
    last_used: AtomicU64,
    /// Where callers serve a reactor while they wait.
    pub(super) on_reactor: OnceLock<Box<OnReactor>>,
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
        // Release pairs with the Acquire in `bind`: the next caller sees what this one did.
        self.0.claimed.store(false, Ordering::Release);
    }
}

/// A caller's place in the reply table, given back when dropped.
#[derive(Debug)]
pub(crate) struct PendingReply<'c> {
    connection: &'c ClientConnection,
    pub(super) caller: Caller<'c, Delivered>,
}

impl ClientConnection {
    pub(crate) fn new(
        link: Arc<dyn Connection>,
        pair: &Arc<Pair>,
        (version, code_sets): (GiopVersion, CodeSets),
        limits: Arc<Limits>,
        fragmenting: Fragmenting,
        tracer: Tracer,
    ) -> Self {
        let session = pair.messaging.session();
        let abilities = pair.messaging.abilities();
        let largest = pair.link.guarantees().largest;
        Self {
            callers: Callers::of(Inbox::new(session.clone(), limits.clone())),
            link,
            session,
            pair: pair.clone(),
            abilities,
            version,
            code_sets,
            largest,
            limits: limits.clone(),
            sender: parking_lot::Mutex::new(Queue::default()),
            usable: AtomicBool::new(true),
            claimed: AtomicBool::new(false),
            code_sets_told: AtomicBool::new(false),
            fragmenting: if abilities.fragments {
                fragmenting
            } else {
                Fragmenting::NEVER
            },
            tracer,
            last_used: AtomicU64::new(coarse_millis()),
            on_reactor: OnceLock::new(),
        }
    }

    /// Until when a call may wait here that may block for `bound` at most, as others may need its thread:
    /// not where that serves them meanwhile.
    #[inline]
    pub(super) fn bounded(&self, deadline: Deadline, bound: Option<Duration>) -> Deadline {
        match bound {
            Some(bound) if self.on_reactor.get().is_none() => {
                deadline.earlier(Deadline::after(bound))
            }
            _ => deadline,
        }
    }

    /// Lends a block to marshal a request into.
    pub(crate) fn lend(&self) -> Block {
        self.link.lend(0)
    }

    /// Binds a call to it: shared with others, or alone. `None` when it is not usable, or another call
    /// has it.
    pub(crate) fn bind(
        self: &Arc<Self>,
        endpoint: &Arc<Endpoint>,
        mux: Mux,
        deadline: Deadline,
    ) -> Option<Binding> {
        match mux {
            Mux::Shared => self
                .is_usable(deadline)
                .then(|| Binding::shared(self.clone(), endpoint.clone())),
            Mux::Exclusive => {
                if self.claimed.swap(true, Ordering::Acquire) {
                    return None;
                }
                let claim = Claim(self.clone());
                self.is_usable(deadline)
                    .then(|| Binding::claimed(claim, endpoint.clone()))
            }
        }
    }

    /// Whether it was not broken off, without a look at it.
    pub(crate) fn may_be_used(&self) -> bool {
        self.usable.load(Ordering::Acquire)
    }

    /// Whether a new request may be sent on it. Costs a system call only after a quiet spell, and blocks
    /// only where the peer has begun a message and not ended it.
    pub(crate) fn is_usable(&self, deadline: Deadline) -> bool {
        // Acquire pairs with the Release in `break_off`.
        if !self.usable.load(Ordering::Acquire) {
            return false;
        }
        let now = coarse_millis();
        let last = self.last_used.load(Ordering::Relaxed);
        if now == last {
            return true;
        }
        // Until the look is over, others look too.
        let is_quiet = now.saturating_sub(last) >= QUIET;
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
            && (!self.callers.is_idle() || self.look(Deadline::after(GLANCE)))
    }

    /// Whether no call uses it, and nothing waits on it, at this moment.
    pub(crate) fn is_idle(&self) -> bool {
        let nothing_waits = self.sender.try_lock().is_some_and(|queue| queue.is_empty());
        nothing_waits && self.callers.is_idle() && !self.claimed.load(Ordering::Acquire)
    }

    /// When the last call began, by the coarse clock.
    pub(crate) fn last_used(&self) -> u64 {
        self.last_used.load(Ordering::Relaxed)
    }

    /// How many replies may come yet whose callers have given up.
    pub(super) fn owed(&self) -> u32 {
        self.callers.owed()
    }

    /// Whether this request is still to carry the CodeSets context.
    pub(crate) fn must_tell_code_sets(&self) -> bool {
        self.abilities.contexts
            && self.version > GiopVersion::V1_0
            && !self.code_sets_told.load(Ordering::Relaxed)
    }

    /// A place for a caller; `None` when too many wait already.
    pub(crate) fn register(&self) -> Option<PendingReply<'_>> {
        Some(PendingReply {
            connection: self,
            caller: self.callers.register()?,
        })
    }

    /// The same as [`ClientConnection::send`], of a message that is the same whenever it leaves. Without
    /// ado where nobody else sends and nothing waits.
    #[inline(always)]
    pub(super) fn send_plainly(
        &self,
        message: &mut Block,
        deadline: Deadline,
    ) -> Result<(), SendError> {
        probe::begins!(Point::ClientTransportSend);
        let is_plain = message.lent().is_empty() && !self.tracer.is_on();
        if is_plain
            && !self.fragmenting.applies_to(message)
            && let Some(sending) = self.sender.try_lock()
            && sending.is_empty()
        {
            probe::begins!(Point::ClientSend);
            let sent = self.link.send(&[IoSlice::new(message)], deadline);
            probe::begins!(Point::ClientTransportSend);
            drop(sending);
            return match sent {
                Ok(()) => Ok(()),
                Err(error) => Err(self.has_not_sent(error)),
            };
        }
        self.send(message, deadline)
    }

    /// Breaks off after an error in mid-message.
    #[cold]
    fn has_not_sent(&self, error: SendError) -> SendError {
        let was_begun = error.sent > 0;
        if was_begun || !matches!(error.error.cause, Cause::TimedOut | Cause::TooLarge(_)) {
            let reason = format!("the connection broke off while a request was sent: {error}");
            self.break_off(&Broken::off(reason));
        }
        error
    }

    /// Sends one message; after an error in mid-message the connection is broken off.
    pub(crate) fn send(&self, message: &mut Block, deadline: Deadline) -> Result<(), SendError> {
        probe::begins!(Point::ClientTransportSend);
        let Some(mut sending) = self.lock_sender(deadline) else {
            let error = LinkError::timed_out(Phase::Send);
            return Err(SendError { error, sent: 0 });
        };
        // What waits may not be overtaken.
        if !sending.is_empty() && self.flush_locked(&mut sending, deadline).is_err() {
            let error = LinkError::closed(Phase::Send);
            return Err(SendError { error, sent: 0 });
        }
        self.session.stamp(message);
        probe::begins!(Point::ClientSend);
        let result = messaging::send(
            &*self.link,
            message,
            self.fragmenting,
            self.tracer,
            deadline,
        );
        probe::begins!(Point::ClientTransportSend);
        drop(sending);
        result.map_err(|error| self.has_not_sent(error))
    }

    /// Sends a message of little worth, if nobody is sending and it does not take long.
    pub(super) fn send_at_leisure(&self, message: &Block) {
        if let Some(_sending) = self.sender.try_lock() {
            let (none, soon) = (Fragmenting::NEVER, Deadline::after(AT_LEISURE));
            if messaging::send(&*self.link, message, none, self.tracer, soon).is_err() {
                self.break_off(&Broken::off("the peer takes nothing any more"));
            }
        }
    }

    pub(super) fn lock_sender(
        &self,
        deadline: Deadline,
    ) -> Option<parking_lot::MutexGuard<'_, Queue>> {
        match deadline.end() {
            None => Some(self.sender.lock()),
            Some(end) => self.sender.try_lock_until(end),
        }
    }

    /// Remembers that a request with the CodeSets context has gone out.
    pub(crate) fn code_sets_are_told(&self) {
        self.code_sets_told.store(true, Ordering::Relaxed);
    }

    /// Ends the connection: whoever waits on it learns why, and nobody uses it again.
    pub(crate) fn break_off(&self, broken: &Broken) {
        self.usable.store(false, Ordering::Release);
        self.link.close();
        // A reply that has arrived is not taken away again.
        self.callers.deliver_to_all(
            || Delivered::Broken(broken.clone()),
            |there| matches!(there, Delivered::Broken(_)),
        );
        if let Some(on) = self.on_reactor.get() {
            on.wake(None);
        }
    }

    /// No new calls; closes when the last one in progress has ended.
    pub(crate) fn retire(&self) {
        self.usable.store(false, Ordering::Release);
        // What waits was accepted before.
        self.flush(Deadline::after(LAST_WORDS));
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

    /// Reads what waits on a quiet connection: late replies, or the peer's goodbye.
    fn drain(&self, deadline: Deadline) {
        let Some(mut inbox) = self.callers.read() else {
            return;
        };
        let until = deadline.earlier(Deadline::after(AT_LEISURE));
        while self.usable.load(Ordering::Acquire) && self.link.pending() != Pending::Nothing {
            match self.read_one(&mut inbox, until.from_now()) {
                Ok(()) if until.has_passed() => break,
                Ok(()) => {}
                // What has come so far stays in the inbox, for whoever reads next.
                Err(InboxError::Link(error)) if matches!(error.cause, Cause::TimedOut) => break,
                Err(error) => self.break_off(&Broken::of(&error)),
            }
        }
        // Callers that came meanwhile found the inbox taken, as did the reactor.
        self.callers.hand_on(inbox);
        if let Some(on) = self.on_reactor.get() {
            on.nudge();
        }
    }

    fn read_one(&self, inbox: &mut Inbox, deadline: Deadline) -> Result<(), InboxError> {
        match inbox.take(&*self.link)? {
            Taken::Message(message) => drop(self.route(message, None)),
            Taken::Need(need) => inbox.receive(&*self.link, need, deadline)?,
        }
        Ok(())
    }

    /// Gives a message to whom it concerns; the reply to `own` is given back to the reader, who need
    /// not wake itself.
    pub(super) fn route(&self, message: Message, own: Option<u32>) -> Option<Message> {
        self.tracer
            .show(Direction::Received, self.link.peer(), &message.block);
        match message.header.kind {
            MessageKind::Reply | MessageKind::LocateReply => return self.deliver(message, own),
            MessageKind::CloseConnection => {
                self.break_off(&Broken {
                    orderly: true,
                    reason: "closed by the peer".into(),
                });
            }
            MessageKind::MessageError => {
                let reason = "the peer says that a message of ours was malformed (MessageError)";
                self.break_off(&Broken::off(reason));
            }
            kind => {
                self.refuse(&format!(
                    "the peer sent a {kind}, which is a client's to send"
                ));
            }
        }
        None
    }

    #[inline]
    fn deliver(&self, mut message: Message, own: Option<u32>) -> Option<Message> {
        let glance = message
            .plain()
            .and_then(|octets| self.session.glance_at_reply(&message.header, octets));
        message.reply = glance;
        let id = match glance {
            Some(head) => head.request_id,
            None => match super::reply::request_id(&message, &*self.session) {
                Some(id) => id,
                None => {
                    self.refuse("the peer sent a reply whose header does not decode");
                    return None;
                }
            },
        };
        if Some(id) == own {
            return Some(message);
        }
        if !self.callers.deliver(id, Delivered::Reply(message)) {
            tracing::debug!(peer = %self.peer(), id, "a reply came that nobody waits for");
        } else if let Some(on) = self.on_reactor.get() {
            on.wake(Some(id));
        }
        None
    }

    /// Tells a peer that broke the protocol, and breaks off.
    pub(super) fn refuse(&self, reason: &str) {
        tracing::warn!(peer = %self.peer(), "{reason}; the connection is closed");
        let sending = self.sender.try_lock();
        if sending.is_some() {
            let soon = Deadline::after(AT_LEISURE);
            let kind = MessageKind::MessageError;
            // The peer may be gone already; it is told nothing then.
            let (link, session) = (&*self.link, &*self.session);
            let _ = messaging::send_control(link, session, kind, self.version, self.tracer, soon);
        }
        drop(sending);
        self.break_off(&Broken::off(reason));
    }
}

impl PendingReply<'_> {
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
    }
}
