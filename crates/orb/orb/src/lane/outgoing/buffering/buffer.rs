//! Buffer of a connection: its queue of requests ([`super::queue`]), their number, and the threads
//! that wait for room.

use super::queue::{Queue, TakenRequests, Waiting};
use crate::policy::{BufferTerms, WhenFull};
use parking_lot::{Condvar, Mutex};
use punctual_cdr::Block;
use punctual_exec::lane_lock::{LaneLock, LockError};
use punctual_exec::{Deadline, LockProtocol};
use punctual_link::{LinkError, Phase, SendError};
use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::time::{Duration, Instant};

/// Requests of one connection that wait to be sent together.
#[derive(Debug)]
pub(in crate::lane::outgoing) struct Buffer {
    queue: LaneLock<Queue>,
    /// Number of requests in the queue, written under the lock. Relaxed: a thread only needs to see
    /// its own requests.
    len: AtomicUsize,
    /// Bytes that have been taken out of the queue and are being sent.
    under_way: AtomicUsize,
    /// Requests that were lost with the connection and are not yet logged.
    lost: AtomicUsize,
    /// Number of threads that wait for room, or until all requests have been sent.
    waiters: AtomicUsize,
    changed: (Mutex<()>, Condvar),
}

/// Result of putting a request into a connection's buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lane::outgoing) enum Put {
    /// The request is queued. If it is the first in the buffer, contains the time within which the
    /// flusher must send the buffer.
    Waits(Option<Duration>),
    /// The request is queued, and a condition of its buffering terms is met: all requests are to be
    /// sent now.
    Due,
    /// The request is refused because the buffer is full.
    Full,
    /// The request is refused because the connection accepts no more requests.
    Closed,
}

/// Reason why a request could not be buffered.
#[derive(Debug)]
pub(crate) enum NotBuffered {
    /// There is no room, and the caller receives an exception.
    Full,
    /// Error in sending the requests that the buffer already held.
    NotSent(SendError),
}

impl From<SendError> for NotBuffered {
    fn from(error: SendError) -> Self {
        Self::NotSent(error)
    }
}

/// A request that is to be put into a buffer.
pub(in crate::lane::outgoing) enum New<'m> {
    /// Message that is sent unchanged, and the function that allocates the queue's memory for the
    /// first such message.
    AsIs(&'m [u8], &'m dyn Fn() -> Block),
    Waiting(Waiting),
}

impl New<'_> {
    /// Returns the length of the new request in bytes.
    #[inline]
    pub(in crate::lane::outgoing) fn octets(&self) -> usize {
        match self {
            Self::AsIs(message, _) => message.len(),
            Self::Waiting(waiting) => waiting.octets(),
        }
    }
}

impl Buffer {
    pub(in crate::lane::outgoing) fn new(locks: LockProtocol) -> Self {
        Self {
            queue: LaneLock::new(locks, Queue::default()),
            len: AtomicUsize::new(0),
            under_way: AtomicUsize::new(0),
            lost: AtomicUsize::new(0),
            waiters: AtomicUsize::new(0),
            changed: (Mutex::new(()), Condvar::new()),
        }
    }

    /// Returns whether the buffer holds no requests.
    #[inline]
    pub(in crate::lane::outgoing) fn is_empty(&self) -> bool {
        self.len.load(Ordering::Relaxed) == 0
    }

    /// Returns whether no request is queued and none that was is being sent. Takes the queue's lock.
    #[cold]
    pub(in crate::lane::outgoing) fn is_unused(&self) -> bool {
        let is_unused =
            |queue: &Queue| queue.is_empty() && self.under_way.load(Ordering::Acquire) == 0;
        self.queue.lock().is_ok_and(|queue| is_unused(&queue))
    }

    /// Puts a request into the buffer, or returns it if there is no room.
    #[inline]
    pub(in crate::lane::outgoing) fn put<'m>(
        &self,
        new: New<'m>,
        terms: &BufferTerms,
        deadline: Deadline,
    ) -> Result<(Put, Option<New<'m>>), LockError> {
        let mut queue = self.queue.lock_until(deadline)?;
        if queue.is_closed {
            return Ok((Put::Closed, None));
        }
        if !self.has_room(&queue, new.octets(), terms) {
            if terms.sends_when_full() {
                queue.due = Some(Instant::now());
            }
            return Ok((Put::Full, Some(new)));
        }
        let is_first = queue.is_empty();
        match new {
            New::AsIs(message, memory) if queue.takes_as_is() => queue.append(message, memory),
            New::AsIs(message, memory) => {
                let mut copy = memory();
                copy.extend_from_slice(message);
                queue.push(Waiting::message(copy, None).on(terms, Deadline::NEVER));
            }
            New::Waiting(waiting) => queue.push(waiting),
        }
        self.len.store(queue.len(), Ordering::Relaxed);
        if !queue.is_due(terms) {
            let delay = terms.when.delay.filter(|_| is_first);
            return Ok((Put::Waits(queue.set_due_after(delay)), None));
        }
        if terms.capacity.when_full != WhenFull::Flush {
            queue.due = Some(Instant::now());
        }
        Ok((Put::Due, None))
    }

    fn has_room(&self, queue: &Queue, octets: usize, terms: &BufferTerms) -> bool {
        // Acquire pairs with the Release in `finish_sending`.
        let there = queue.octets + self.under_way.load(Ordering::Acquire);
        there == 0 || there.saturating_add(octets) <= terms.capacity.octets
    }

    /// Takes all requests out. To be called under the sending lock, so that they are sent in the
    /// order in which they were added.
    pub(in crate::lane::outgoing) fn take(&self, spare: Block) -> TakenRequests {
        let Ok(mut queue) = self.queue.lock() else {
            return TakenRequests::default();
        };
        self.under_way.fetch_add(queue.octets, Ordering::Relaxed);
        self.len.store(0, Ordering::Relaxed);
        queue.take(spare)
    }

    /// Records that the requests taken out have been sent, or are lost.
    pub(in crate::lane::outgoing) fn finish_sending(&self) {
        self.under_way.store(0, Ordering::Release);
        self.tell();
    }

    /// Removes the request with this id; returns whether it was still queued.
    pub(in crate::lane::outgoing) fn withdraw(&self, id: u32) -> bool {
        if self.is_empty() {
            return false;
        }
        let Ok(mut queue) = self.queue.lock() else {
            return false;
        };
        let was_there = queue.withdraw(id);
        self.len.store(queue.len(), Ordering::Relaxed);
        drop(queue);
        self.tell();
        was_there
    }

    /// Returns whether the request with this id is queued.
    #[inline]
    pub(in crate::lane::outgoing) fn holds(&self, id: u32) -> bool {
        !self.is_empty() && self.queue.lock().is_ok_and(|queue| queue.holds(id))
    }

    /// Returns the latest time at which the queued requests are to be sent.
    pub(in crate::lane::outgoing) fn due(&self) -> Option<Instant> {
        self.queue.lock().ok()?.due
    }

    /// Makes all requests due now, and returns whether there are any.
    pub(in crate::lane::outgoing) fn make_due(&self) -> bool {
        let Ok(mut queue) = self.queue.lock() else {
            return false;
        };
        queue.due = Some(Instant::now());
        !queue.is_empty()
    }

    /// Refuses further requests. Those already queued can still be sent.
    pub(in crate::lane::outgoing) fn close(&self) {
        if let Ok(mut queue) = self.queue.lock() {
            queue.is_closed = true;
        }
        self.tell();
    }

    /// Refuses further requests and discards those that are queued. Returns the ids of the
    /// discarded requests whose callers wait for replies.
    pub(in crate::lane::outgoing) fn lose_all(&self) -> Vec<u32> {
        let Ok(mut queue) = self.queue.lock() else {
            return Vec::new();
        };
        queue.is_closed = true;
        self.len.store(0, Ordering::Relaxed);
        let taken = queue.take(Block::default());
        drop(queue);
        self.tell();
        let ids: Vec<u32> = taken.waiting.iter().filter_map(Waiting::id).collect();
        let one_ways = taken.count - ids.len();
        self.lost.fetch_add(one_ways, Ordering::Relaxed);
        ids
    }

    /// Returns how many requests were lost with the connection since the last call.
    pub(in crate::lane::outgoing) fn take_lost(&self) -> usize {
        match self.lost.load(Ordering::Relaxed) {
            0 => 0,
            _ => self.lost.swap(0, Ordering::Relaxed),
        }
    }

    /// Waits until there is room for `octets` more bytes, or further requests are refused.
    ///
    /// # Errors
    /// TIMEOUT once the deadline has passed.
    #[cold]
    pub(in crate::lane::outgoing) fn wait_for_room(
        &self,
        octets: usize,
        terms: &BufferTerms,
        deadline: Deadline,
    ) -> Result<(), SendError> {
        let has_room = |queue: &Queue| queue.is_closed || self.has_room(queue, octets, terms);
        match self.wait_until(deadline, has_room) {
            true => Ok(()),
            false => Err(SendError {
                error: LinkError::timed_out(Phase::Send),
                sent: 0,
            }),
        }
    }

    /// Waits until all requests have been sent; returns `false` if the deadline passes first.
    pub(in crate::lane::outgoing) fn wait_until_sent(&self, deadline: Deadline) -> bool {
        let is_sent =
            |queue: &Queue| queue.is_empty() && self.under_way.load(Ordering::Acquire) == 0;
        self.wait_until(deadline, is_sent)
    }

    fn wait_until(&self, deadline: Deadline, is_so: impl Fn(&Queue) -> bool) -> bool {
        let is_so = || self.queue.lock().is_ok_and(|queue| is_so(&queue));
        let (lock, changed) = &self.changed;
        let end = deadline.end();
        let mut held = lock.lock();
        self.waiters.fetch_add(1, Ordering::SeqCst);
        // Pairs with the fence in `tell`.
        fence(Ordering::SeqCst);
        let mut so = is_so();
        while !so && !deadline.has_passed() {
            match end {
                Some(end) => drop(changed.wait_until(&mut held, end)),
                None => changed.wait(&mut held),
            }
            so = is_so();
        }
        self.waiters.fetch_sub(1, Ordering::SeqCst);
        so
    }

    /// Makes the threads that wait on the buffer check their conditions again.
    fn tell(&self) {
        // Pairs with the fence in `wait_until`: either this thread sees the waiting thread, or that
        // one sees the change.
        fence(Ordering::SeqCst);
        if self.waiters.load(Ordering::SeqCst) > 0 {
            drop(self.changed.0.lock());
            self.changed.1.notify_all();
        }
    }
}
