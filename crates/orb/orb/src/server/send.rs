//! Sending of replies to a client.
//!
//! If several requests arrived with one receive, their short replies are sent together: each is
//! delayed while there is another request to be served at once. Delayed replies are sent before a
//! receive that may block, and when an upcall is about to block in a call of its own. If an upcall
//! takes long, the watcher (`timeouts.hand_over`) sends the delayed replies or makes another thread
//! do so; after upcalls that were not short, replies are sent one by one for a while. Without a
//! watcher no reply is delayed.

use super::concurrency::{ConcurrencyStrategy, Strategy};
use super::conversation::Conversation;
use punctual_cdr::Block;
use punctual_exec::Deadline;
use punctual_exec::lane_lock::{LaneGuard, LaneLock, LockProtocol};
use punctual_giop::MessageKind;
use punctual_link::{LinkError, Phase, SendError};
use punctual_sys::clock;
use std::io::IoSlice;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// Maximum length of a reply that may be delayed, in bytes.
const SHORT: usize = 2048;
/// Maximum total length of the delayed replies of a connection, in bytes.
const MANY: usize = 16 * 1024;
/// Delay of a reply, in nanoseconds, that counts as too long.
const LONG: u64 = 50_000;
/// Number of replies that are sent one by one after a delay that was too long.
const APART: u32 = 256;

/// Sender of a connection's messages, one at a time.
#[derive(Debug)]
pub(super) struct ReplySender {
    /// Delayed replies, to be sent together. Locked while anything is sent.
    pending: LaneLock<Block>,
    has_pending: AtomicBool,
    /// Time at which the first delayed reply was encoded.
    since: AtomicU64,
    /// Number of replies still to be sent one by one, as upcalls have taken long.
    apart: AtomicU32,
}

impl ReplySender {
    pub(super) fn new(locks: LockProtocol) -> Self {
        Self {
            pending: LaneLock::new(locks, Block::default()),
            has_pending: AtomicBool::new(false),
            since: AtomicU64::new(0),
            apart: AtomicU32::new(0),
        }
    }

    /// Returns `true` if a thread is sending on the connection.
    pub(super) fn is_sending(&self) -> bool {
        !matches!(self.pending.try_lock(), Ok(Some(_)))
    }

    /// Runs `what` if no thread is sending and no reply is delayed, and prevents both meanwhile;
    /// returns `None` otherwise.
    pub(super) fn while_nothing_waits<R>(&self, what: impl FnOnce() -> R) -> Option<R> {
        match self.pending.try_lock() {
            Ok(Some(pending)) if pending.is_empty() => Some(what()),
            _ => None,
        }
    }

    /// Returns `true` if the connection has delayed replies.
    #[inline]
    pub(super) fn has_pending(&self) -> bool {
        self.has_pending.load(Ordering::Relaxed)
    }

    /// Returns `true` if a reply may be delayed, to be sent with the next one. Relaxed: approximate
    /// counts, on which no other data depends.
    fn may_wait(&self) -> bool {
        let apart = self.apart.load(Ordering::Relaxed);
        if apart > 0 {
            self.apart.store(apart - 1, Ordering::Relaxed);
        }
        apart == 0
    }

    /// Locks the delayed replies. If the lock has failed, closes the connection and returns `None`.
    #[inline(always)]
    fn lock(&self, to: &Conversation) -> Option<LaneGuard<'_, Block>> {
        match self.pending.lock() {
            Ok(pending) => Some(pending),
            Err(error) => {
                to.lock_failed(error);
                None
            }
        }
    }
}

impl ReplySender {
    /// Sends a reply, or delays it if further requests of the client have already arrived.
    #[inline]
    pub(super) fn answer(
        &self,
        to: &Conversation,
        by: &Strategy,
        reply: &Block,
        more_have_come: bool,
    ) {
        match more_have_come {
            false => self.send(to, by, reply),
            true => self.send_soon(to, by, reply),
        }
    }

    fn send_soon(&self, to: &Conversation, by: &Strategy, reply: &Block) {
        let is_watched = to.broker().config().timeouts.hand_over.is_some();
        let is_plain = reply.lent().is_empty() && !to.broker().tracer().is_on();
        if !is_watched || !is_plain || reply.len() > SHORT || !self.may_wait() {
            return self.send(to, by, reply);
        }
        let Some(mut pending) = self.lock(to) else {
            return;
        };
        let mut is_late = false;
        if pending.is_empty() {
            if pending.capacity() == 0 {
                *pending = to.link().lend(0);
            }
            self.since.store(clock::nanos(), Ordering::Relaxed);
            self.has_pending.store(true, Ordering::Relaxed);
        } else {
            let since = self.since.load(Ordering::Relaxed);
            is_late = clock::nanos().saturating_sub(since) > LONG;
        }
        pending.extend_from_slice(reply);
        if is_late {
            self.apart.store(APART, Ordering::Relaxed);
        }
        if is_late || pending.len() > MANY {
            self.transmit_pending(to, by, &mut pending);
        }
    }

    /// Sends the delayed replies, if there are any. To be called by the thread that made them
    /// before it waits, and by a thread that takes over the connection.
    #[inline]
    pub(super) fn send_pending(&self, to: &Conversation, by: &Strategy) {
        if self.has_pending()
            && let Some(mut pending) = self.lock(to)
        {
            self.transmit_pending(to, by, &mut pending);
        }
    }

    /// Sends a reply after the delayed replies; closes the connection if the peer does not accept
    /// it in time.
    pub(super) fn send(&self, to: &Conversation, by: &Strategy, message: &Block) {
        let Some(mut pending) = self.lock(to) else {
            return;
        };
        if !pending.is_empty() {
            self.transmit_pending(to, by, &mut pending);
        }
        by.send(to, message);
    }

    /// Sends a request to the client after the delayed replies.
    pub(super) fn send_request(
        &self,
        to: &Conversation,
        by: &Strategy,
        parts: &[IoSlice<'_>],
        deadline: Deadline,
    ) -> Result<(), SendError> {
        let Some(mut pending) = self.lock(to) else {
            let error = LinkError::closed(Phase::Send);
            return Err(SendError { error, sent: 0 });
        };
        self.transmit_pending(to, by, &mut pending);
        if !by.sends_without_waiting() {
            return to.link().send(parts, deadline);
        }
        let message: Vec<u8> = parts.iter().flat_map(|part| part.iter().copied()).collect();
        by.send_together(to, &message);
        Ok(())
    }

    #[cold]
    fn transmit_pending(&self, to: &Conversation, by: &Strategy, pending: &mut Block) {
        self.has_pending.store(false, Ordering::Relaxed);
        if !pending.is_empty() {
            by.send_together(to, pending);
            *pending = Block::default();
        }
    }

    /// Sends a message without a body, before the connection is closed, after the delayed replies.
    pub(super) fn send_control(&self, to: &Conversation, by: &Strategy, kind: MessageKind) {
        if let Some(mut pending) = self.lock(to) {
            self.transmit_pending(to, by, &mut pending);
            by.send_control(to, kind);
        }
    }
}
