//! Lanes of thread pools (Real-time CORBA 1.2, §5.10): each with threads of its own, which serve all its endpoints.

use crate::broker::Broker;
use crate::config::{ListenEndpoint, PoolSize};
use crate::priority::Priority;
use crate::profile::LaneId;
use punctual_exec::ThreadSpec;
use punctual_exec::thread::Reservation;

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
