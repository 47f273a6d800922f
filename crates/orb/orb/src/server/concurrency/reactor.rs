//! What a connection has that a reactor serves: *reactive* and *Leader/Followers* endpoints.
//!
//! The reactor's threads wait in `epoll`, and whichever is told of a connection owns it until it has served what
//! has come ([`super::ready`]). While it serves a request, the connection can be taken from it: by itself, when the
//! upcall is about to wait for a call of its own, or by whoever looks for upcalls that take long. `in_hand`
//! says which request that is, and one exchange decides: either the thread is still the owner when it has
//! served it, or another is. The thread waits for no peer: what is not taken of its replies is queued
//! ([`super::outbox`]).

use super::outbox::{Outbox, Sent};
use super::strategy::{ConcurrencyStrategy, Followed};
use crate::config::Timeouts;
use crate::lane::RequestBuffer;
use crate::messaging;
use crate::probe::{self, Point};
use crate::server::conversation::Conversation;
use crate::server::reader::Reader;
use punctual_cdr::Block;
use punctual_exec::LeaderFollowers;
use punctual_exec::lane_lock::{LaneGuard, LaneLock, LockError, LockProtocol};
use punctual_exec::reactor::{Handler, Readiness, Token};
use punctual_giop::MessageKind;
use punctual_link::{Connection, LinkError, Phase, SendError};
use punctual_sys::clock::coarse_millis;
use punctual_sys::epoll::Interest;
use std::io::{self, IoSlice};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// See the module.
#[derive(Debug)]
pub(in crate::server) struct OnReactor {
    pool: Arc<LeaderFollowers>,
    /// Where requests wait for one of its threads, if they do.
    buffer: Option<Arc<RequestBuffer>>,
    timeouts: Timeouts,
    pub(super) token: OnceLock<Token>,
    /// The request that the owner serves: 0 for none, else its number among those received, twice and 1.
    in_hand: AtomicU64,
    outbox: LaneLock<Outbox>,
    /// Whether the outbox holds much: read before each receive.
    congested: AtomicU32,
    terms: Terms,
}

/// Until when what is due, by the coarse clock; 0 for ever. Written by the owner, but for `write`, which is
/// under the outbox's lock.
#[derive(Debug, Default)]
struct Terms {
    /// The rest of a message, or the first.
    read: AtomicU64,
    /// Which message that is.
    of: AtomicU64,
    /// The reply that waits.
    write: AtomicU64,
    /// What the reactor was told.
    told: AtomicU64,
}

/// What has taken too long.
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
            congested: AtomicU32::new(0),
            terms: Terms::default(),
        }
    }

    #[inline]
    pub(super) fn buffer(&self) -> Option<&RequestBuffer> {
        self.buffer.as_deref()
    }

    /// Has the reactor tell of the connection.
    pub(super) fn register(&self, ready: Arc<dyn Handler>) -> io::Result<()> {
        self.pool.reactor().register(ready).map(drop)
    }

    /// The owner begins to serve the request of that number; what it is known by.
    #[inline]
    pub(super) fn take_in_hand(&self, number: u64) -> u64 {
        let mark = number << 1 | 1;
        self.in_hand.store(mark, Ordering::Release);
        mark
    }

    /// The request has been served; whether the thread is still the owner.
    #[inline]
    pub(super) fn put_down(&self, mark: u64) -> bool {
        self.in_hand
            .compare_exchange(mark, 0, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }

    /// Whether so many replies wait that no more requests are to be read.
    #[inline]
    pub(super) fn is_congested(&self) -> bool {
        self.congested.load(Ordering::Relaxed) != 0
    }

    /// Sends a message of these parts, now or when there is room; whether the connection is to be closed
    /// behind it.
    fn send_parts(&self, link: &dyn Connection, parts: &[IoSlice<'_>]) -> Result<bool, SendError> {
        let mut outbox = self.lock().map_err(unlocked)?;
        let had_waited = !outbox.is_empty();
        let sent = outbox.send(link, parts)?;
        self.resume_after_sending(&outbox, sent, had_waited);
        Ok(outbox.closes && sent == Sent::All)
    }

    /// Sends what waits; whether the connection is to be closed now.
    pub(super) fn flush(&self, link: &dyn Connection) -> Result<bool, SendError> {
        let mut outbox = self.lock().map_err(unlocked)?;
        if outbox.is_empty() {
            return Ok(false);
        }
        let sent = outbox.flush(link)?;
        self.resume_after_sending(&outbox, sent, true);
        Ok(outbox.closes && sent == Sent::All)
    }

    /// The connection is to be closed when all that waits has gone; whether that is now.
    fn closes_when_sent(&self) -> Result<bool, LockError> {
        let mut outbox = self.lock()?;
        outbox.closes = true;
        Ok(outbox.is_empty())
    }

    /// Notes what waits, has the reactor wait for room, and sets its term.
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
            // Fails for one that has been taken out meanwhile: it is closed.
            let _ = self.pool.reactor().set_interest(token, interest);
        }
        self.tell_term();
    }

    /// The owner has read what there was: what is due now.
    pub(super) fn rest(&self, wanted: Wanted) -> Result<(), LockError> {
        let timeouts = &self.timeouts;
        let terms = &self.terms;
        let read = match wanted {
            Wanted::Anything => 0,
            Wanted::First => match terms.read.load(Ordering::Relaxed) {
                0 => until(timeouts.first_message),
                begun => begun,
            },
            Wanted::Rest(number) => {
                let begun = terms.read.load(Ordering::Relaxed);
                // An octet now and then earns no new term.
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
            self.tell_term();
        }
        Ok(())
    }

    /// What has taken too long, if anything has.
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
        // What was told has been told; the next is another.
        let _outbox = self.lock()?;
        self.terms.told.store(0, Ordering::Relaxed);
        self.tell_term();
        Ok(None)
    }

    /// Has the reactor look when the next term ends. Under the outbox's lock.
    fn tell_term(&self) {
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
    /// Sends as much as goes without waiting; the rest goes when there is room.
    fn send(&self, to: &Conversation, message: &Block) {
        let tracer = to.broker().tracer();
        tracer.sent(to.link(), message);
        probe::begins!(Point::ServerSend);
        let send = |parts: &[IoSlice<'_>]| self.send_parts(to.link(), parts);
        let sent = messaging::with_parts(message, to.fragmenting, send);
        probe::begins!(Point::ServerTransportSend);
        conclude(to, sent);
    }

    fn send_together(&self, to: &Conversation, messages: &[u8]) {
        conclude(to, self.send_parts(to.link(), &[IoSlice::new(messages)]));
    }

    fn send_control(&self, to: &Conversation, kind: MessageKind) {
        let (link, session, version) = (to.link(), &*to.session, to.spoken());
        if let Some(message) = messaging::control(link, session, kind, version) {
            let tracer = to.broker().tracer();
            tracer.sent(link, &message);
            // The connection is closed next: a peer that is gone already hears nothing.
            let _ = self.send_parts(link, &[IoSlice::new(&message)]);
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

    fn has_unsent(&self) -> bool {
        !matches!(self.outbox.try_lock(), Ok(Some(outbox)) if outbox.is_empty())
    }

    /// Takes the connection from the thread that serves that request, and lets others have it. One comes
    /// at once to look: what that thread left unread, it was told of, and nobody is told again.
    fn hand_over(&self, _: &Arc<impl Followed>, in_hand: u64) {
        if in_hand == 0 || !self.put_down(in_hand) {
            return;
        }
        if let Some(&token) = self.token.get() {
            self.pool.reactor().hand_over(token, Readiness::READ);
        }
    }

    /// What the owner serves, if it serves a request. While a peer does not take its replies, no other thread is
    /// given its connection.
    fn stands_still_at(&self, _: &Reader, _: bool) -> Option<u64> {
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

/// Closes the connection if that was to be done when all had gone, or if it has not.
fn conclude(to: &Conversation, sent: Result<bool, SendError>) {
    match sent {
        Ok(false) => {}
        Ok(true) => to.link().close(),
        Err(error) => to.reply_failed(&error),
    }
}

/// Nothing was sent, for want of the outbox's lock.
#[cold]
fn unlocked(error: LockError) -> SendError {
    SendError {
        error: LinkError::os(Phase::Send, io::Error::other(error)),
        sent: 0,
    }
}

/// What a connection that has been read empty waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// A new message, whenever it comes.
    Anything,
    /// The peer's first message.
    First,
    /// The rest of the message behind so many.
    Rest(u64),
}

/// The end of a term that begins now; 0 for one that never ends.
fn until(term: Option<Duration>) -> u64 {
    term.map_or(0, |term| {
        let millis = u64::try_from(term.as_millis()).unwrap_or(u64::MAX);
        coarse_millis().saturating_add(millis.max(1))
    })
}
