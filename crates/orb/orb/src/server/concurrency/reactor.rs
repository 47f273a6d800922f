//! What a connection has that a reactor serves: *reactive* and *Leader/Followers* endpoints.
//!
//! The reactor's threads wait in `epoll`, and whichever is told of a connection owns it for a turn
//! ([`super::ready`]). While it serves a request, the connection can be taken from it: by itself, when the
//! upcall is about to wait for a call of its own, or by whoever looks for upcalls that take long. `in_hand`
//! says which request that is, and one exchange decides: either the thread is still the owner when it has
//! served it, or another is. The thread waits for no peer: what is not taken of its replies is queued
//! ([`super::outbox`]).

use super::outbox::{Outbox, Sent};
use crate::config::Timeouts;
use punctual_exec::LeaderFollowers;
use punctual_exec::reactor::{Readiness, Token};
use punctual_link::{Connection, SendError};
use punctual_sys::clock::coarse_millis;
use punctual_sys::epoll::Interest;
use std::io::IoSlice;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// See the module.
#[derive(Debug)]
pub(in crate::server) struct OnReactor {
    pool: Arc<LeaderFollowers>,
    timeouts: Timeouts,
    pub(super) token: OnceLock<Token>,
    /// The request that the owner serves: 0 for none, else its number among those received, twice and 1.
    in_hand: AtomicU64,
    outbox: Mutex<Outbox>,
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
    of: AtomicU32,
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
    pub(in crate::server) fn new(pool: Arc<LeaderFollowers>, timeouts: Timeouts) -> Self {
        Self {
            pool,
            timeouts,
            token: OnceLock::new(),
            in_hand: AtomicU64::new(0),
            outbox: Mutex::default(),
            congested: AtomicU32::new(0),
            terms: Terms::default(),
        }
    }

    /// Whether one thread serves all connections of its kind.
    pub(in crate::server) fn is_served_alone(&self) -> bool {
        self.pool.is_alone()
    }

    /// The owner begins to serve the request of that number; what it is known by.
    #[inline]
    pub(super) fn take_in_hand(&self, number: u32) -> u64 {
        let mark = u64::from(number) << 1 | 1;
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

    /// What the owner serves, if it serves a request.
    pub(in crate::server) fn in_hand(&self) -> u64 {
        self.in_hand.load(Ordering::Acquire)
    }

    /// Takes the connection from the thread that serves that request, and lets others have it. One comes
    /// at once to look: what that thread left unread, it was told of, and nobody is told again.
    pub(in crate::server) fn give_way(&self, mark: u64) {
        if mark == 0 || !self.put_down(mark) {
            return;
        }
        if let Some(&token) = self.token.get() {
            self.pool.reactor().hand_over(token, Readiness::READ);
        }
    }

    /// Whether so many replies wait that no more requests are to be read.
    #[inline]
    pub(super) fn is_congested(&self) -> bool {
        self.congested.load(Ordering::Relaxed) != 0
    }

    /// Sends a message of these parts, now or when there is room; whether the connection is to be closed
    /// behind it.
    pub(in crate::server) fn send(
        &self,
        link: &dyn Connection,
        parts: &[IoSlice<'_>],
    ) -> Result<bool, SendError> {
        let mut outbox = self.lock();
        let had_waited = !outbox.is_empty();
        let sent = outbox.send(link, parts)?;
        self.has_sent(&outbox, sent, had_waited);
        Ok(outbox.closes && sent == Sent::All)
    }

    /// Sends what waits; whether the connection is to be closed now.
    pub(super) fn flush(&self, link: &dyn Connection) -> Result<bool, SendError> {
        let mut outbox = self.lock();
        if outbox.is_empty() {
            return Ok(false);
        }
        let sent = outbox.flush(link)?;
        self.has_sent(&outbox, sent, true);
        Ok(outbox.closes && sent == Sent::All)
    }

    /// The connection is to be closed when all that waits has gone; whether that is now.
    pub(in crate::server) fn close_when_sent(&self) -> bool {
        let mut outbox = self.lock();
        outbox.closes = true;
        outbox.is_empty()
    }

    /// Notes what waits, has the reactor wait for room, and sets its term.
    fn has_sent(&self, outbox: &Outbox, sent: Sent, had_waited: bool) {
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
    pub(super) fn rest(&self, wanted: Wanted) {
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
            let _outbox = self.lock();
            self.tell_term();
        }
    }

    /// What has taken too long, if anything has.
    pub(super) fn late(&self) -> Option<Late> {
        let now = coarse_millis();
        let is_late = |term: &AtomicU64| {
            let term = term.load(Ordering::Relaxed);
            term != 0 && term <= now
        };
        if is_late(&self.terms.read) {
            return Some(Late::Reading);
        }
        if is_late(&self.terms.write) {
            return Some(Late::Writing);
        }
        // What was told has been told; the next is another.
        let _outbox = self.lock();
        self.terms.told.store(0, Ordering::Relaxed);
        self.tell_term();
        None
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

    fn lock(&self) -> MutexGuard<'_, Outbox> {
        self.outbox.lock().unwrap_or_else(PoisonError::into_inner)
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
    Rest(u32),
}

/// The end of a term that begins now; 0 for one that never ends.
fn until(term: Option<Duration>) -> u64 {
    term.map_or(0, |term| {
        let millis = u64::try_from(term.as_millis()).unwrap_or(u64::MAX);
        coarse_millis().saturating_add(millis.max(1))
    })
}
