//! Parts of a lane that its connections need.

use crate::broker::Broker;
use crate::config::NetworkDirection;
use crate::lane::reactors::Reactors;
use crate::priority::Priority;
use punctual_exec::LockProtocol;
use punctual_link::Connection;

/// The parts of a lane that a connection needs when it is opened for the lane.
#[derive(Debug)]
pub(in crate::lane) struct OpenedFor<'l> {
    pub(in crate::lane) broker: &'l Broker,
    pub(in crate::lane) reactors: &'l Reactors,
    /// CORBA priority of the threads that call through the lane.
    pub(in crate::lane) priority: Option<Priority>,
    /// Number of the lane.
    pub(in crate::lane) number: u64,
    /// Protocol (with or without priority inheritance) of the connection's sending lock.
    pub(in crate::lane) locks: LockProtocol,
}

impl OpenedFor<'_> {
    /// Gives a new connection's packets the DSCP for the priority of its requests: the lowest of its band, or that of the
    /// lane's threads. A connection whose packets cannot be marked serves all the same, after a warning.
    pub(super) fn mark(&self, link: &dyn Connection, lowest_of_band: Option<Priority>) {
        let Some(priority) = lowest_of_band.or(self.priority) else {
            return;
        };
        self.broker.mark(link, priority, NetworkDirection::Requests);
    }
}
