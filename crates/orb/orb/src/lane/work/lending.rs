//! Borrowing of threads from lanes of lower priority in the same pool when all of a lane's own
//! threads are in upcalls (Real-time CORBA 1.2, §5.10: allow_borrowing).
//!
//! The reserve thread of a lane requests ([`Borrow`]) an idle thread of the next lower lane. That
//! thread works at the borrower's priority until it finds no more requests there, and then returns
//! to its own lane.

use crate::broker::Broker;
use crate::lane::counters::Counters;
use crate::priority::Priority;
use crossbeam_queue::SegQueue;
use parking_lot::Mutex;
use punctual_exec::leader_followers::Borrow;
use punctual_exec::reactor::Reactor;
use std::cmp::Reverse;
use std::fmt;
use std::sync::{Arc, Weak};

/// Lanes of one pool that borrow threads from each other. Clones share the same set.
#[derive(Clone, Debug, Default)]
pub struct Borrowers {
    lanes: Arc<Mutex<Vec<Arc<Lender>>>>,
}

/// Lane of a thread pool from which other lanes borrow threads.
#[derive(Debug)]
pub(crate) struct Lender {
    priority: Priority,
    reactor: Weak<Reactor>,
    visits: Arc<VisitRequests>,
}

/// Queue of lanes in which a lane's threads are to serve requests.
#[derive(Debug)]
pub(crate) struct VisitRequests {
    broker: Arc<Broker>,
    asked: SegQueue<Visit>,
}

struct Visit {
    priority: Priority,
    reactor: Weak<Reactor>,
}

/// Lane of a thread pool that borrows threads from other lanes.
#[derive(Debug)]
struct Borrower {
    own: Arc<Lender>,
    others: Borrowers,
    counters: Arc<Counters>,
}

impl Borrowers {
    /// Adds a lane; returns the object by which its reserve thread borrows threads.
    pub(crate) fn join(&self, lane: Lender, counters: Arc<Counters>) -> Arc<dyn Borrow> {
        let own = Arc::new(lane);
        let mut lanes = self.lanes.lock();
        lanes.push(own.clone());
        // Highest priority first: a lane borrows from the next lower one.
        lanes.sort_by_key(|lane| Reverse(lane.priority));
        drop(lanes);
        Arc::new(Borrower {
            own,
            others: self.clone(),
            counters,
        })
    }
}

impl Lender {
    pub(crate) fn new(
        priority: Priority,
        reactor: Weak<Reactor>,
        visits: Arc<VisitRequests>,
    ) -> Self {
        Self {
            priority,
            reactor,
            visits,
        }
    }

    /// Sends an idle thread of this lane to another lane; returns `false` if none is idle.
    fn lend(&self, to: &Self) -> bool {
        let Some(reactor) = self.reactor.upgrade().filter(|one| one.waiting() > 0) else {
            return false;
        };
        self.visits.asked.push(Visit {
            priority: to.priority,
            reactor: to.reactor.clone(),
        });
        reactor.notify_work();
        true
    }
}

impl Borrow for Borrower {
    fn borrow(&self) -> bool {
        let lanes = self.others.lanes.lock();
        let mut below = lanes
            .iter()
            .filter(|lane| lane.priority < self.own.priority);
        let is_lent = below.any(|lane| lane.lend(&self.own));
        drop(lanes);
        if is_lent {
            self.counters.record_borrowed();
        }
        is_lent
    }
}

impl VisitRequests {
    pub(crate) fn new(broker: Arc<Broker>) -> Self {
        Self {
            broker,
            asked: SegQueue::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }

    /// Serves another lane's requests once, if a lane has borrowed a thread; returns `true` if one
    /// had.
    pub(super) fn make_next_visit(&self) -> bool {
        let Some(visit) = self.asked.pop() else {
            return false;
        };
        let (Some(reactor), Some(priorities)) = (visit.reactor.upgrade(), &self.broker.priorities)
        else {
            return true;
        };
        match priorities.run_at(visit.priority) {
            Ok(before) => {
                reactor.run_pending();
                priorities.run_again_at(before);
            }
            Err(error) => tracing::warn!("no thread is lent to another lane: {error}"),
        }
        true
    }
}

impl fmt::Debug for Visit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Visit")
            .field("priority", &self.priority)
            .finish_non_exhaustive()
    }
}
