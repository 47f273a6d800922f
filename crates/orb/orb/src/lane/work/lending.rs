//! Lanes of a pool that have threads of lanes with lower priority when all of their own are in upcalls (Real-time CORBA
//! 1.2, §5.10: allow_borrowing).
//!
//! The reserve of a lane asks ([`Borrow`]): an idle thread of the lane that is next below is sent to visit it. It runs at
//! the borrower's priority until it finds nothing there to do, and goes back.

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

/// The lanes of one pool that borrow threads from each other. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Borrowers {
    lanes: Arc<Mutex<Vec<Arc<Lender>>>>,
}

/// A lane, as others know it that borrow from it.
#[derive(Debug)]
pub(crate) struct Lender {
    priority: Priority,
    reactor: Weak<Reactor>,
    visits: Arc<Visits>,
}

/// Where a lane's threads are to help out.
#[derive(Debug)]
pub(crate) struct Visits {
    broker: Arc<Broker>,
    asked: SegQueue<Visit>,
}

struct Visit {
    priority: Priority,
    reactor: Weak<Reactor>,
}

/// A lane that borrows.
#[derive(Debug)]
struct Borrower {
    own: Arc<Lender>,
    others: Borrowers,
    counters: Arc<Counters>,
}

impl Borrowers {
    /// One more lane; whom its reserve asks for threads.
    pub(crate) fn join(&self, lane: Lender, counters: Arc<Counters>) -> Arc<dyn Borrow> {
        let own = Arc::new(lane);
        let mut lanes = self.lanes.lock();
        lanes.push(own.clone());
        // The highest first: a lane borrows from the next below.
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
    pub(crate) fn new(priority: Priority, reactor: Weak<Reactor>, visits: Arc<Visits>) -> Self {
        Self {
            priority,
            reactor,
            visits,
        }
    }

    /// Sends an idle thread to another lane; `false` where none is idle.
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

impl Visits {
    pub(crate) fn new(broker: Arc<Broker>) -> Self {
        Self {
            broker,
            asked: SegQueue::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }

    /// Makes one, if the lane's threads are asked for; whether they were.
    pub(super) fn make_one(&self) -> bool {
        let Some(visit) = self.asked.pop() else {
            return false;
        };
        let (Some(reactor), Some(priorities)) = (visit.reactor.upgrade(), &self.broker.priorities)
        else {
            return true;
        };
        match priorities.run_at(visit.priority) {
            Ok(before) => {
                reactor.lend_a_hand();
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
