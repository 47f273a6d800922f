//! Requests whose replies are made after their upcalls have returned, as their connection knows them.
//!
//! A connection counts each of them twice: among its requests in progress, so that a goodbye waits for them, and here,
//! so that their number is limited and that whoever is to answer one learns when nobody waits for it any more: the
//! client has cancelled it (CancelRequest, CORBA 3.3 part 2, §9.4.4), or the connection has ended.

use super::conversation::Conversation;
use crate::broker::Broker;
use crate::budget::{Hold, NoRoom};
use crate::lane::Alarm;
use crate::sync::{Mutex, lock};
use punctual_cdr::Block;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::task::Waker;
use std::time::Duration;

/// A connection, as what is answered later sees it.
pub(super) trait AnswersLater: Send + Sync {
    fn conversation(&self) -> &Conversation;

    fn pending(&self) -> &PendingReplies;

    /// Counts what a request has sent, which its servant may keep until it is answered: where it is much, until what this
    /// returns is dropped.
    ///
    /// # Errors
    /// There is no room for it.
    fn keeps(&self, octets: usize) -> Result<Option<Arc<Hold>>, NoRoom>;

    /// Sends a reply, behind those that wait.
    fn send(&self, reply: &Block);

    /// A request that was counted as in progress is over.
    fn ends_request(&self);

    /// Wakes somebody when that time has passed, unless the alarm is dropped before.
    ///
    /// # Errors
    /// Why nobody can.
    fn wake_after(&self, time: Duration, waker: &Waker) -> io::Result<Option<Alarm>>;

    /// A request was not answered in time. Counted.
    fn time_out(&self);
}

/// Those of one connection.
#[derive(Debug, Default)]
pub(super) struct PendingReplies {
    /// Those that are in the table, those whose id a later one has taken, and those for which nobody waits.
    count: AtomicUsize,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    by_id: HashMap<u32, Arc<Awaited>>,
    /// The connection has ended.
    is_closed: bool,
}

/// Whether somebody waits for one of them.
#[derive(Debug)]
pub(super) struct Awaited {
    state: AtomicU8,
    /// Whom to wake when nobody waits any more.
    watcher: Mutex<Option<Waker>>,
}

const WAITS: u8 = 0;
const CANCELLED: u8 = 1;
const CLOSED: u8 = 2;
const TIMED_OUT: u8 = 3;

/// Why one may not be answered later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TooMany {
    OfConnection(usize),
    OfOrb(usize),
}

impl PendingReplies {
    /// One more. Somebody may wait for it, or nobody does (a one-way).
    ///
    /// # Errors
    /// [`TooMany`].
    pub(super) fn add(
        &self,
        broker: &Broker,
        request_id: u32,
        is_awaited: bool,
    ) -> Result<Arc<Awaited>, TooMany> {
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

    /// One less.
    pub(super) fn remove(&self, broker: &Broker, request_id: u32, awaited: &Arc<Awaited>) {
        let mut table = lock(&self.table);
        let by_id = &mut table.by_id;
        // A peer may have used the id again, against the rules (§9.4.2).
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

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Relaxed) == 0
    }

    /// The client waits for one of them no longer.
    pub(super) fn cancel(&self, request_id: u32) {
        let cancelled = lock(&self.table).by_id.get(&request_id).cloned();
        if let Some(one) = cancelled {
            one.ends(CANCELLED);
        }
    }

    /// The connection has ended: nobody waits for any.
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

/// Entries that the table keeps room for when it is empty.
const KEPT: usize = 1024;

/// Counts one more where there is room; whether there is.
fn count_one(count: &AtomicUsize, limit: usize) -> bool {
    // Relaxed: nothing is read by the number.
    let one_more = |count: usize| (count < limit).then_some(count + 1);
    count
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more)
        .is_ok()
}

impl Awaited {
    pub(super) fn is_awaited(&self) -> bool {
        self.state.load(Ordering::Acquire) == WAITS
    }

    /// Whether the connection has ended, so that no reply can be sent.
    pub(super) fn is_closed(&self) -> bool {
        self.state.load(Ordering::Acquire) == CLOSED
    }

    /// Whoever waited was told that it takes too long.
    pub(super) fn time_out(&self) {
        self.ends(TIMED_OUT);
    }

    /// Has `watcher` woken when nobody waits any more; whether somebody does.
    pub(super) fn watch(&self, watcher: &Waker) -> bool {
        let mut watching = lock(&self.watcher);
        // Under the lock: who ends it takes the watcher under it, afterwards.
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
