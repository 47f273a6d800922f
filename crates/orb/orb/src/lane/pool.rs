//! Lanes of thread pools (Real-time CORBA 1.2, §5.10): each with threads of its own, which serve all its endpoints.

use super::counters::Counters;
use super::work::{Borrowers, BufferLimits, Lender, PoolWork, RequestBuffer, Visits};
use crate::broker::Broker;
use crate::config::{ListenEndpoint, PoolSize};
use crate::priority::Priority;
use crate::profile::LaneId;
use punctual_exec::leader_followers::ReserveOptions;
use punctual_exec::thread::Reservation;
use punctual_exec::{LockProtocol, Reactor, ThreadSpec};
use std::sync::Arc;
use std::time::Duration;

/// How long all threads of a lane that keeps requests or borrows threads have to be in upcalls until its reserve acts.
const MOMENT: Duration = Duration::from_millis(1);

/// A lane of a thread pool, as it is added to an ORB ([`crate::Orb::add_lane`]). For crates above.
#[derive(Clone, Debug)]
pub struct PoolLane {
    /// Which one it is.
    pub id: LaneId,
    /// The CORBA priority that references say it serves at; `None` where it serves at whatever priority.
    pub priority: Option<Priority>,
    /// How its threads are started.
    pub thread: ThreadSpec,
    /// How many they are.
    pub size: PoolSize,
    /// How many requests it keeps while they are all in upcalls. Without it, requests are refused then, or stay where they
    /// are, as the size's `reserve` says.
    pub buffer: Option<BufferLimits>,
    /// The lanes with which it shares threads, where it has a priority.
    pub borrowers: Option<Borrowers>,
    /// What each of those reserves that serve (`SCHED_DEADLINE`), if they do; a reserve thread is as `thread` says.
    pub reservation: Option<Reservation>,
    /// Where it listens; where the ORB does, but at ports and paths of its own, if none is given.
    pub endpoints: Vec<ListenEndpoint>,
}

impl PoolLane {
    /// Where it listens, in an ORB that is configured to listen at these.
    /// Links whose connections need a thread each are left out of those.
    pub(super) fn places(
        &self,
        of_orb: Vec<ListenEndpoint>,
        broker: &Broker,
    ) -> Vec<ListenEndpoint> {
        let protocols = broker.protocols.now();
        let serves = |one: &ListenEndpoint| {
            let pair = protocols.pair(&one.protocol);
            pair.is_ok_and(|pair| pair.link.serves_without_blocking())
        };
        let endpoints = match self.endpoints.is_empty() {
            false => self.endpoints.clone(),
            true => {
                let unprioritised = of_orb.into_iter().filter(|one| one.priority().is_none());
                let served = unprioritised.filter(serves);
                served.map(ListenEndpoint::elsewhere).collect()
            }
        };
        let at = |endpoint: ListenEndpoint| match self.priority {
            Some(priority) => endpoint.option("priority", priority),
            None => endpoint,
        };
        endpoints.into_iter().map(at).collect()
    }
}

/// The threads of a pool's lane, and what they do.
#[derive(Debug)]
pub(super) struct PoolThreads {
    size: PoolSize,
    reservation: Option<Reservation>,
    priority: Option<Priority>,
    borrowers: Option<Borrowers>,
    buffer: Option<Arc<RequestBuffer>>,
    visits: Arc<Visits>,
    counters: Arc<Counters>,
}

impl PoolThreads {
    pub(super) fn of(
        lane: &PoolLane,
        (broker, locks): (&Arc<Broker>, LockProtocol),
        counters: &Arc<Counters>,
    ) -> Self {
        let buffer = |limits| Arc::new(RequestBuffer::new(limits, locks));
        Self {
            size: lane.size,
            reservation: lane.reservation,
            priority: lane.priority,
            borrowers: lane.borrowers.clone(),
            buffer: lane.buffer.map(buffer),
            visits: Arc::new(Visits::new(broker.clone())),
            counters: counters.clone(),
        }
    }

    /// How many they are, and what each reserves, if they do.
    pub(super) fn size(&self) -> (PoolSize, Option<Reservation>) {
        (self.size, self.reservation)
    }

    /// Where requests wait for one of them, if they do.
    pub(super) fn buffer(&self) -> Option<&Arc<RequestBuffer>> {
        self.buffer.as_ref()
    }

    /// Gives the threads of this reactor their work, before they are started; what their reserve does.
    pub(super) fn set_up(&self, reactor: &Arc<Reactor>) -> Option<ReserveOptions> {
        let borrowing = self.borrowers.as_ref().zip(self.priority);
        if self.buffer.is_none() && borrowing.is_none() {
            return self.size.reserve.then(ReserveOptions::default);
        }
        let weak = Arc::downgrade(reactor);
        if let Some(buffer) = &self.buffer {
            buffer.set_reactor(weak.clone());
        }
        reactor.set_work(Arc::new(PoolWork {
            visits: self.visits.clone(),
            buffer: self.buffer.clone(),
        }));
        let borrow = borrowing.map(|(borrowers, priority)| {
            let lane = Lender::new(priority, weak, self.visits.clone());
            borrowers.join(lane, self.counters.clone())
        });
        Some(ReserveOptions {
            patience: MOMENT,
            serves: self.size.reserve || self.buffer.is_some(),
            borrow,
        })
    }
}
