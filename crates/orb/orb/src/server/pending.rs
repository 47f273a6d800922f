//! Requests of a connection whose replies are made after their upcalls have returned.
//!
//! A connection counts each of them twice: among its requests in progress, so that closing waits
//! for them, and here, so that their number is limited and that the answering code learns when the
//! reply is no longer awaited: the client has cancelled it (CancelRequest, CORBA 3.3 part 2,
//! §9.4.4), or the connection has ended.

use super::conversation::Conversation;
use crate::budget::{FREE, Hold, NoRoom};
use crate::lane::Alarm;
use crate::sync::{Mutex, lock};
use punctual_cdr::Block;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::task::Waker;
use std::time::Duration;

/// Operations of a connection that its pending replies need.
pub(super) trait PendingReplySender: Send + Sync {
    fn conversation(&self) -> &Conversation;

    fn pending(&self) -> &PendingReplies;

    /// Charges bytes of requests, which their servants may keep until they are answered, to the
    /// budget of received data.
    ///
    /// # Errors
    /// [`NoRoom`] if the budget is exhausted.
    fn charge(&self, octets: usize) -> Result<Hold, NoRoom>;

    /// Changes the number of bytes of a charge.
    ///
    /// # Errors
    /// [`NoRoom`] if it grows and the budget is exhausted; it is unchanged then.
    fn charge_more(&self, hold: &Hold, from: usize, to: usize) -> Result<(), NoRoom>;

    /// Charges a long reply to the memory budget, as
    /// [`super::call::EarlyReplySender::charge_reply`] does.
    fn charge_reply(&self, octets: usize) -> (Hold, Result<(), NoRoom>);

    /// Sends the delayed replies of the connection, followed by the given reply.
    fn send(&self, reply: &Block);

    /// Counts a request of the connection as ended.
    fn ends_request(&self);

    /// Sets an alarm that wakes `waker` after `time`. Dropping the alarm cancels it.
    ///
    /// # Errors
    /// If no alarm can be set.
    fn wake_after(&self, time: Duration, waker: &Waker) -> io::Result<Option<Alarm>>;

    /// Counts a request that was not answered in time.
    fn time_out(&self);
}

/// Pending replies of one connection, which servants send later.
#[derive(Debug, Default)]
pub(super) struct PendingReplies {
    /// Number of pending replies, including those that are not in the table because a later request
    /// has reused their id, or because no reply is awaited.
    count: AtomicUsize,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    by_id: HashMap<u32, Arc<Awaited>>,
    /// True if the connection has ended.
    is_closed: bool,
    /// Number of bytes of the requests, and of their records.
    octets: usize,
    /// Charge of these bytes, if they are many, and its number of bytes.
    charge: Option<(Hold, usize)>,
}

/// State of a pending reply: whether it is still awaited.
#[derive(Debug)]
pub(super) struct Awaited {
    state: AtomicU8,
    /// Waker to be woken when the reply is no longer awaited.
    watcher: Mutex<Option<Waker>>,
}

const WAITS: u8 = 0;
const CANCELLED: u8 = 1;
const CLOSED: u8 = 2;
const TIMED_OUT: u8 = 3;

/// Reason why a request may not be answered later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TooMany {
    OfConnection(usize),
    OfOrb(usize),
    Octets(NoRoom),
}

/// Bytes by which the charge for pending replies grows and shrinks: most requests change no charge.
const STEP: usize = 64 * 1024;
/// Bytes of a pending reply's own records, with what its servant keeps to answer it.
pub(super) const RECORD: usize = 512;

impl PendingReplies {
    /// Adds a pending reply, whose request and records occupy `octets` bytes. `is_awaited` is false
    /// for a one-way.
    ///
    /// # Errors
    /// [`TooMany`].
    pub(super) fn add(
        &self,
        sender: &dyn PendingReplySender,
        (request_id, octets): (u32, usize),
        is_awaited: bool,
    ) -> Result<Arc<Awaited>, TooMany> {
        let broker = sender.conversation().broker();
        let budgets = &broker.config().budgets;
        let of_connection = budgets.pending_replies_per_connection;
        if !count_one(&self.count, of_connection) {
            return Err(TooMany::OfConnection(of_connection));
        }
        if !count_one(&broker.pending_replies, budgets.pending_replies) {
            self.count.fetch_sub(1, Ordering::Relaxed);
            return Err(TooMany::OfOrb(budgets.pending_replies));
        }
        let mut table = lock(&self.table);
        if let Err(full) = table.occupy(sender, octets) {
            drop(table);
            self.count.fetch_sub(1, Ordering::Relaxed);
            broker.pending_replies.fetch_sub(1, Ordering::Relaxed);
            return Err(TooMany::Octets(full));
        }
        let is_awaited = is_awaited && !table.is_closed;
        let awaited = Arc::new(Awaited {
            state: AtomicU8::new(if is_awaited { WAITS } else { CLOSED }),
            watcher: Mutex::new(None),
        });
        if is_awaited {
            table.by_id.insert(request_id, awaited.clone());
        }
        Ok(awaited)
    }

    /// Removes a pending reply from the connection's table.
    pub(super) fn remove(
        &self,
        sender: &dyn PendingReplySender,
        (request_id, octets): (u32, usize),
        awaited: &Arc<Awaited>,
    ) {
        let broker = sender.conversation().broker();
        let mut table = lock(&self.table);
        table.vacate(sender, octets);
        let by_id = &mut table.by_id;
        // A peer may have reused the id, in violation of the rules (§9.4.2).
        if by_id
            .get(&request_id)
            .is_some_and(|one| Arc::ptr_eq(one, awaited))
        {
            by_id.remove(&request_id);
            if by_id.is_empty() && by_id.capacity() > KEPT {
                *by_id = HashMap::new();
            }
        }
        drop(table);
        self.count.fetch_sub(1, Ordering::Relaxed);
        broker.pending_replies.fetch_sub(1, Ordering::Relaxed);
    }

    /// Returns `true` if the connection has no pending replies.
    pub(super) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Relaxed) == 0
    }

    /// Records that the client no longer waits for this reply.
    pub(super) fn cancel(&self, request_id: u32) {
        let cancelled = lock(&self.table).by_id.get(&request_id).cloned();
        if let Some(one) = cancelled {
            one.ends(CANCELLED);
        }
    }

    /// Records that the connection has ended: no reply is awaited any more.
    pub(super) fn close(&self) {
        let mut table = lock(&self.table);
        table.is_closed = true;
        let all = std::mem::take(&mut table.by_id);
        drop(table);
        for one in all.into_values() {
            one.ends(CLOSED);
        }
    }
}

impl Table {
    /// Counts bytes, and charges them to the budget if they are many.
    #[inline]
    fn occupy(&mut self, sender: &dyn PendingReplySender, octets: usize) -> Result<(), NoRoom> {
        let charged = self.charge.as_ref().map_or(FREE, |(_, charged)| *charged);
        if self.octets + octets > charged {
            self.charge(sender, (self.octets + octets).next_multiple_of(STEP))?;
        }
        self.octets += octets;
        Ok(())
    }

    #[inline]
    fn vacate(&mut self, sender: &dyn PendingReplySender, octets: usize) {
        self.octets -= octets.min(self.octets);
        if let Some((_, charged)) = &self.charge
            && self.octets + 2 * STEP <= *charged
        {
            // A decrease never fails.
            let _ = self.charge(sender, self.octets.next_multiple_of(STEP));
        }
        if self.octets == 0 {
            self.charge = None;
        }
    }

    #[cold]
    #[inline(never)]
    fn charge(&mut self, sender: &dyn PendingReplySender, octets: usize) -> Result<(), NoRoom> {
        match &mut self.charge {
            Some((hold, charged)) => {
                sender.charge_more(hold, *charged, octets)?;
                *charged = octets;
            }
            none => *none = Some((sender.charge(octets)?, octets)),
        }
        Ok(())
    }
}

/// Number of entries for which an empty table keeps memory.
const KEPT: usize = 1024;

/// Increments the count, if the limit allows it; returns whether it has.
fn count_one(count: &AtomicUsize, limit: usize) -> bool {
    // Relaxed: no other data depends on the number.
    let one_more = |count: usize| (count < limit).then_some(count + 1);
    count
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more)
        .is_ok()
}

impl Awaited {
    pub(super) fn is_awaited(&self) -> bool {
        self.state.load(Ordering::Acquire) == WAITS
    }

    /// Returns `true` if the connection has ended, so that no reply can be sent.
    pub(super) fn is_closed(&self) -> bool {
        self.state.load(Ordering::Acquire) == CLOSED
    }

    /// Records that the client was answered with TIMEOUT in place of the pending reply.
    pub(super) fn time_out(&self) {
        self.ends(TIMED_OUT);
    }

    /// Sets the waker for the time when the reply is no longer awaited; returns `true` if it is
    /// currently awaited.
    pub(super) fn watch(&self, watcher: &Waker) -> bool {
        let mut watching = lock(&self.watcher);
        // Under the lock: the ending thread changes the state first, and then takes the watcher
        // under it.
        if !self.is_awaited() {
            return false;
        }
        if !watching.as_ref().is_some_and(|one| one.will_wake(watcher)) {
            *watching = Some(watcher.clone());
        }
        true
    }

    fn ends(&self, how: u8) {
        self.state.fetch_max(how, Ordering::AcqRel);
        let watcher = lock(&self.watcher).take();
        if let Some(watcher) = watcher {
            watcher.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;
    use std::task::Wake;

    struct Woken(AtomicBool);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    fn awaited() -> Awaited {
        Awaited {
            state: AtomicU8::new(WAITS),
            watcher: Mutex::new(None),
        }
    }

    #[test]
    fn whoever_watches_is_woken_once_nobody_waits() {
        let one = awaited();
        let woken = Arc::new(Woken(AtomicBool::new(false)));
        assert!(one.watch(&Waker::from(woken.clone())));
        one.ends(CANCELLED);
        assert!(woken.0.load(Ordering::Relaxed));
        assert!(!one.watch(&Waker::from(woken)));
        assert!(!one.is_closed(), "a cancelled request is answered still");
    }

    #[test]
    fn a_connection_that_ends_ends_what_was_cancelled_before() {
        let one = awaited();
        one.ends(CANCELLED);
        one.ends(CLOSED);
        assert!(one.is_closed());
        one.ends(CANCELLED);
        assert!(one.is_closed());
    }

    #[test]
    fn no_more_are_counted_than_there_may_be() {
        let count = AtomicUsize::new(0);
        assert!(count_one(&count, 2) && count_one(&count, 2));
        assert!(!count_one(&count, 2));
        count.fetch_sub(1, Ordering::Relaxed);
        assert!(count_one(&count, 2));
    }
}
