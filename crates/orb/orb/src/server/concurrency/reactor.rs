//! State of a connection that a reactor serves: *reactive* and *Leader/Followers* endpoints.
//!
//! The reactor's threads wait in `epoll`. The thread that receives an event of a connection owns
//! the connection until it has served the received data ([`super::ready`]). While it serves a
//! request, it can lose the ownership: it gives it up when the upcall is about to wait for a call
//! of its own, and the thread that watches for long upcalls may take it away. `in_hand` identifies
//! the request, and one atomic exchange decides whether, after the upcall, the thread is still the
//! owner. The thread never waits for a peer: unsent parts of its replies are queued
//! ([`super::outbox`]).
//!
//! A thread of a pool may *stay* with a connection whose peer sends its next request soon, and poll
//! for it as a thread of its own would, while other threads of the pool wait in `epoll`. Meanwhile
//! the reactor does not watch the connection ([`OnReactor::stay`]), as each request would wake
//! another thread in vain.

use super::outbox::{Outbox, Sent};
use super::strategy::{ConcurrencyStrategy, Followed};
use crate::budget::Account;
use crate::config::Timeouts;
use crate::lane::RequestBuffer;
use crate::messaging;
use crate::probe::{self, Point};
use crate::server::conversation::Conversation;
use crate::server::reader::Reader;
use punctual_cdr::{Block, Charge};
use punctual_exec::LeaderFollowers;
use punctual_exec::lane_lock::{LaneGuard, LaneLock, LockError, LockProtocol};
use punctual_exec::reactor::{Handler, Readiness, Token};
use punctual_giop::MessageKind;
use punctual_link::{Connection, LinkError, Phase, SendError};
use punctual_sys::clock::coarse_millis;
use punctual_sys::epoll::Interest;
use std::io::{self, IoSlice};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// State that the server keeps for a connection served by a reactor.
#[derive(Debug)]
pub(in crate::server) struct OnReactor {
    pool: Arc<LeaderFollowers>,
    /// Buffer of the requests that wait for a thread of the pool, if there is one.
    buffer: Option<Arc<RequestBuffer>>,
    timeouts: Timeouts,
    pub(super) token: OnceLock<Token>,
    /// Request that the owner serves: 0 for none, otherwise 2·n + 1 for the n-th received request.
    in_hand: AtomicU64,
    outbox: LaneLock<Outbox>,
    /// Set while the reactor does not watch the connection for data. Written under the outbox's
    /// lock.
    unwatched: AtomicBool,
    /// Nonzero if too many replies are queued in the outbox; read before each receive.
    congested: AtomicU32,
    terms: Terms,
}

/// Deadlines by the coarse clock; 0 for none. Written by the owner, except `write`, which is
/// written under the outbox's lock.
#[derive(Debug, Default)]
struct Terms {
    /// Deadline for the rest of a message, or for the first message.
    read: AtomicU64,
    /// Number of the message to which the deadline `read` belongs, counted from 1; 0 before any has begun.
    of: AtomicU64,
    /// Deadline for sending the first of the queued replies.
    write: AtomicU64,
    /// Deadline of the connection that was last set in the reactor.
    told: AtomicU64,
}

/// Kind of deadline that a connection has missed: for reading or for writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Late {
    Reading,
    Writing,
}

impl OnReactor {
    pub(super) fn new(
        (pool, buffer): (Arc<LeaderFollowers>, Option<Arc<RequestBuffer>>),
        timeouts: Timeouts,
        locks: LockProtocol,
    ) -> Self {
        Self {
            pool,
            buffer,
            timeouts,
            token: OnceLock::new(),
            in_hand: AtomicU64::new(0),
            outbox: LaneLock::new(locks, Outbox::default()),
            unwatched: AtomicBool::new(false),
            congested: AtomicU32::new(0),
            terms: Terms::default(),
        }
    }

    #[inline]
    pub(super) fn buffer(&self) -> Option<&RequestBuffer> {
        self.buffer.as_deref()
    }

    /// Registers the connection with the reactor, which then calls the given handler.
    pub(super) fn register(&self, ready: Arc<dyn Handler>) -> io::Result<()> {
        self.pool.reactor().register(ready).map(drop)
    }

    /// Records that the owner begins to serve the request with this number; returns the mark to be
    /// passed to [`OnReactor::finish_current`].
    #[inline]
    pub(super) fn begin_current(&self, number: u64) -> u64 {
        let mark = number << 1 | 1;
        self.in_hand.store(mark, Ordering::Release);
        mark
    }

    /// Records that the request has been served; returns `true` if the thread is still the owner.
    #[inline]
    pub(super) fn finish_current(&self, mark: u64) -> bool {
        self.in_hand
            .compare_exchange(mark, 0, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }

    /// Returns `true` if so many replies are queued that no more requests should be read.
    #[inline]
    pub(super) fn is_congested(&self) -> bool {
        self.congested.load(Ordering::Relaxed) != 0
    }

    /// Sends a message of these parts, now or when there is room; returns `true` if the connection
    /// is to be closed afterwards.
    fn send_parts(
        &self,
        link: &dyn Connection,
        parts: &[IoSlice<'_>],
        charge: Option<&Charge>,
    ) -> Result<bool, SendError> {
        let mut outbox = self.lock().map_err(unlocked)?;
        let had_waited = !outbox.is_empty();
        let sent = outbox.send(link, parts, charge);
        let evicted = outbox.take_evicted();
        let result = match sent {
            Ok(sent) => {
                self.resume_after_sending(&outbox, sent, had_waited);
                Ok(outbox.closes && sent == Sent::All)
            }
            Err(error) => {
                self.discard(&mut outbox);
                Err(error)
            }
        };
        drop(outbox);
        // Logged under no lock.
        drop(evicted);
        result
    }

    /// Sends queued messages; returns `true` if the connection is to be closed now.
    pub(super) fn flush(&self, link: &dyn Connection) -> Result<bool, SendError> {
        let mut outbox = self.lock().map_err(unlocked)?;
        if outbox.is_empty() {
            return Ok(false);
        }
        let sent = outbox.flush(link);
        let sent = sent.inspect_err(|_| self.discard(&mut outbox))?;
        self.resume_after_sending(&outbox, sent, true);
        Ok(outbox.closes && sent == Sent::All)
    }

    /// Frees the queued messages of a closed connection, so that its end is read: nothing is read
    /// while too many messages are queued.
    fn discard(&self, outbox: &mut Outbox) {
        outbox.discard();
        self.congested.store(0, Ordering::Relaxed);
        self.terms.write.store(0, Ordering::Relaxed);
    }

    /// Marks the connection to be closed when everything has been sent; returns `true` if
    /// everything has been sent already.
    fn closes_when_sent(&self) -> Result<bool, LockError> {
        let mut outbox = self.lock()?;
        outbox.closes = true;
        Ok(outbox.is_empty())
    }

    /// Records the result of sending: if messages are left, makes the reactor wait until the socket
    /// accepts more, and updates the deadline.
    fn resume_after_sending(&self, outbox: &Outbox, sent: Sent, had_waited: bool) {
        let waits = sent != Sent::All;
        if !waits && !had_waited {
            return;
        }
        self.congested
            .store(outbox.is_congested().into(), Ordering::Relaxed);
        let term = self.timeouts.reply;
        match (had_waited, sent) {
            (_, Sent::All) => self.terms.write.store(0, Ordering::Relaxed),
            (true, Sent::Stuck) => return,
            _ => self.terms.write.store(until(term), Ordering::Relaxed),
        }
        if had_waited != waits
            && let Some(&token) = self.token.get()
        {
            let interest = match waits {
                true => Interest::ReadAndWrite,
                false => Interest::Read,
            };
            // Fails for a connection that was deregistered meanwhile: it is closed.
            let _ = self.pool.reactor().set_interest(token, interest);
            self.unwatched.store(false, Ordering::Relaxed);
        }
        self.set_reactor_deadline();
    }

    /// Makes the reactor no longer watch the connection, with which its owner stays. A reply that
    /// waits until the peer accepts more makes the reactor watch it again.
    pub(super) fn stay(&self) {
        if let Ok(outbox) = self.lock()
            && outbox.is_empty()
            && let Some(&token) = self.token.get()
        {
            let reactor = self.pool.reactor();
            let unwatched = reactor.set_interest(token, Interest::Nothing).is_ok();
            self.unwatched.store(unwatched, Ordering::Relaxed);
        }
    }

    /// Makes the reactor watch the connection again, if it does not. What has arrived meanwhile is
    /// reported at once.
    pub(super) fn watch(&self) {
        // Relaxed: the owner has set it, and hands the registration over with an exchange.
        if self.unwatched.load(Ordering::Relaxed)
            && let Ok(_outbox) = self.lock()
            && self.unwatched.swap(false, Ordering::Relaxed)
            && let Some(&token) = self.token.get()
        {
            // Fails for a connection that was deregistered meanwhile: it is closed.
            let _ = self.pool.reactor().set_interest(token, Interest::Read);
        }
    }

    /// Records that the owner has read all available data, and sets the deadlines for the data in
    /// `wanted`.
    pub(super) fn rest(&self, wanted: AwaitedData) -> Result<(), LockError> {
        let timeouts = &self.timeouts;
        let terms = &self.terms;
        let read = match wanted {
            AwaitedData::Anything => 0,
            AwaitedData::First => match terms.read.load(Ordering::Relaxed) {
                0 => until(timeouts.first_message),
                begun => begun,
            },
            AwaitedData::Rest(received) => {
                let number = received + 1;
                let begun = terms.read.load(Ordering::Relaxed);
                // Receiving a byte now and then does not extend the deadline.
                let is_known = begun != 0 && terms.of.load(Ordering::Relaxed) == number;
                terms.of.store(number, Ordering::Relaxed);
                match is_known {
                    true => begun,
                    false => until(timeouts.message),
                }
            }
        };
        if terms.read.swap(read, Ordering::Relaxed) != read {
            let _outbox = self.lock()?;
            self.set_reactor_deadline();
        }
        Ok(())
    }

    /// Returns the deadline that the connection has missed, if any.
    pub(super) fn late(&self) -> Result<Option<Late>, LockError> {
        let now = coarse_millis();
        let is_late = |term: &AtomicU64| {
            let term = term.load(Ordering::Relaxed);
            term != 0 && term <= now
        };
        if is_late(&self.terms.read) {
            return Ok(Some(Late::Reading));
        }
        if is_late(&self.terms.write) {
            return Ok(Some(Late::Writing));
        }
        // The reactor has reported its deadline; the next one must be set again.
        let _outbox = self.lock()?;
        self.terms.told.store(0, Ordering::Relaxed);
        self.set_reactor_deadline();
        Ok(None)
    }

    /// Sets the earliest deadline in the reactor. To be called under the outbox's lock.
    fn set_reactor_deadline(&self) {
        let (read, write) = (&self.terms.read, &self.terms.write);
        let terms = [read, write].map(|term| term.load(Ordering::Relaxed));
        let next = terms.into_iter().filter(|&term| term != 0).min();
        let next = next.unwrap_or_default();
        if self.terms.told.swap(next, Ordering::Relaxed) == next {
            return;
        }
        let after = match next {
            0 => None,
            term => Some(Duration::from_millis(term.saturating_sub(coarse_millis()))),
        };
        if let Some(&token) = self.token.get() {
            self.pool.reactor().set_deadline(token, after);
        }
    }

    fn lock(&self) -> Result<LaneGuard<'_, Outbox>, LockError> {
        self.outbox.lock()
    }
}

impl ConcurrencyStrategy for OnReactor {
    /// Sends as much as possible without waiting; the rest is sent when the socket accepts more.
    fn send(&self, to: &Conversation, message: &Block) {
        let tracer = to.broker().tracer();
        tracer.sent(to.link(), message);
        probe::begins!(Point::ServerSend);
        let charge = message.charge();
        let send = |parts: &[IoSlice<'_>]| self.send_parts(to.link(), parts, charge);
        let sent = messaging::with_parts(message, to.fragmenting, send);
        probe::begins!(Point::ServerTransportSend);
        conclude(to, sent);
    }

    fn send_together(&self, to: &Conversation, messages: &[u8]) {
        conclude(
            to,
            self.send_parts(to.link(), &[IoSlice::new(messages)], None),
        );
    }

    fn send_control(&self, to: &Conversation, kind: MessageKind) {
        let (link, session, version) = (to.link(), &*to.session, to.spoken());
        if let Some(message) = messaging::control(link, session, kind, version) {
            let tracer = to.broker().tracer();
            tracer.sent(link, &message);
            // The connection is closed next: if the peer is gone already, the message is lost.
            let _ = self.send_parts(link, &[IoSlice::new(&message)], None);
        }
    }

    fn close_when_sent(&self, connection: &Conversation) {
        match self.closes_when_sent() {
            Ok(false) => {}
            Ok(true) => connection.link().close(),
            Err(error) => connection.lock_failed(error),
        }
    }

    fn sends_without_waiting(&self) -> bool {
        true
    }

    fn watch_unsent(&self, account: impl FnOnce() -> Account) {
        if let Ok(mut outbox) = self.lock() {
            outbox.watch(account());
        }
    }

    fn discard_unsent(&self) {
        if let Ok(Some(mut outbox)) = self.outbox.try_lock() {
            self.discard(&mut outbox);
        }
    }

    fn has_unsent(&self) -> bool {
        !matches!(self.outbox.try_lock(), Ok(Some(outbox)) if outbox.is_empty())
    }

    /// Takes the connection from the thread that serves this request, so that other threads can
    /// receive on it. Notifies one at once, as the reactor does not repeat the event for data that
    /// the first thread has not read.
    fn hand_over(&self, _: &Arc<impl Followed>, in_hand: u64) {
        if in_hand == 0 || !self.finish_current(in_hand) {
            return;
        }
        self.watch();
        if let Some(&token) = self.token.get() {
            self.pool.reactor().hand_over(token, Readiness::READ);
        }
    }

    /// Returns the mark of the request that the owner serves, if any. While a peer does not accept
    /// its replies, its connection is not handed over.
    fn stalled_at(&self, _: &Reader, _: bool) -> Option<u64> {
        let in_hand = self.in_hand.load(Ordering::Acquire);
        (in_hand != 0).then_some(in_hand)
    }

    fn longest_block(&self, timeouts: &Timeouts) -> Option<Duration> {
        timeouts.nested_call
    }

    fn is_served_alone(&self) -> bool {
        self.pool.is_alone()
    }
}

/// Closes the connection if it was to be closed after sending, or if sending failed.
fn conclude(to: &Conversation, sent: Result<bool, SendError>) {
    match sent {
        Ok(false) => {}
        Ok(true) => to.link().close(),
        Err(error) => to.reply_failed(&error),
    }
}

/// Returns the error for a message that was not sent because the outbox's lock has failed.
#[cold]
fn unlocked(error: LockError) -> SendError {
    SendError {
        error: LinkError::os(Phase::Send, io::Error::other(error)),
        sent: 0,
    }
}

/// Data that a connection waits for after all available data has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AwaitedData {
    /// Start of a new message, for which there is no deadline.
    Anything,
    /// First message of the peer on this connection.
    First,
    /// Rest of a message that has come in part, after so many that have come.
    Rest(u64),
}

/// Returns the deadline for a period that begins now, by the coarse clock; 0 for no deadline.
fn until(term: Option<Duration>) -> u64 {
    term.map_or(0, |term| {
        let millis = u64::try_from(term.as_millis()).unwrap_or(u64::MAX);
        coarse_millis().saturating_add(millis.max(1))
    })
}
