//! Lanes of thread pools (Real-time CORBA 1.2, §5.10): each with threads of its own, which serve all its endpoints.

use super::counters::Counters;
use super::work::{Borrowers, BufferLimits, Lender, PoolWork, RequestBuffer, VisitRequests};
use crate::broker::Broker;
use crate::config::{ListenEndpoint, PoolSize};
use crate::priority::Priority;
use crate::profile::LaneId;
use punctual_exec::leader_followers::ReserveOptions;
use punctual_exec::thread::Reservation;
use punctual_exec::{LockProtocol, Reactor, ThreadSpec};
use std::sync::Arc;
use std::time::Duration;

/// Time for which all threads of a lane that buffers requests or borrows threads must be busy in
/// upcalls before its reserve thread acts.
const MOMENT: Duration = Duration::from_millis(1);

/// Description of a thread pool's lane, to be added to an ORB ([`crate::Orb::add_lane`]). For
/// crates built on this one.
#[derive(Clone, Debug)]
pub struct PoolLane {
    /// Identifier of the lane, with the number of the thread pool.
    pub id: LaneId,
    /// CORBA priority that references announce; `None` if the lane serves at any priority.
    pub priority: Option<Priority>,
    /// Specification of the threads of the lane.
    pub thread: ThreadSpec,
    /// Initial and maximum number of threads of the lane.
    pub size: PoolSize,
    /// Limits of the buffer for requests that arrive while all threads are in upcalls. Without a
    /// buffer, such requests are refused or left unread, according to the size's `reserve`.
    pub buffer: Option<BufferLimits>,
    /// Set of lanes with which this one shares threads by borrowing, if it has a priority.
    pub borrowers: Option<Borrowers>,
    /// Reservation (`SCHED_DEADLINE`) of each serving thread, if there is one; a reserve thread is
    /// scheduled as `thread` says.
    pub reservation: Option<Reservation>,
    /// Endpoints of the lane. If empty, the lane listens at the ORB's endpoints, but with ports and
    /// paths of its own.
    pub endpoints: Vec<ListenEndpoint>,
}

impl PoolLane {
    /// Returns the lane's endpoints; if it has none of its own, derived from the ORB's endpoints,
    /// without those of links whose connections need a thread each.
    pub(super) fn places(
        &self,
        of_orb: Vec<ListenEndpoint>,
        broker: &Broker,
    ) -> Vec<ListenEndpoint> {
        let protocols = broker.protocols.now();
        let served = |one: ListenEndpoint| {
            let link = protocols.pair(&one.protocol).ok()?.link;
            let served = link.serves_without_blocking();
            served.then(|| one.elsewhere(&*link))
        };
        let endpoints = match self.endpoints.is_empty() {
            false => self.endpoints.clone(),
            true => {
                let unprioritised = of_orb.into_iter().filter(|one| one.priority().is_none());
                unprioritised.filter_map(served).collect()
            }
        };
        let at = |endpoint: ListenEndpoint| match self.priority {
            Some(priority) => endpoint.option("priority", priority),
            None => endpoint,
        };
        endpoints.into_iter().map(at).collect()
    }
}

/// Threads of a pool's lane, and the work that they do beside receiving.
#[derive(Debug)]
pub(super) struct PoolThreads {
    size: PoolSize,
    reservation: Option<Reservation>,
    priority: Option<Priority>,
    borrowers: Option<Borrowers>,
    buffer: Option<Arc<RequestBuffer>>,
    visits: Arc<VisitRequests>,
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
            visits: Arc::new(VisitRequests::new(broker.clone())),
            counters: counters.clone(),
        }
    }

    /// Returns the number of threads, and the reservation of each, if there is one.
    pub(super) fn size(&self) -> (PoolSize, Option<Reservation>) {
        (self.size, self.reservation)
    }

    /// Returns the buffer of requests that wait for a thread, if there is one.
    pub(super) fn buffer(&self) -> Option<&Arc<RequestBuffer>> {
        self.buffer.as_ref()
    }

    /// Sets the work that the reactor's threads do beside receiving, before they are started;
    /// returns the options of the reserve thread.
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
