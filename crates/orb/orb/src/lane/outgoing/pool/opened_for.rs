//! Parts of a lane that its connections need.

use crate::broker::Broker;
use crate::lane::reactors::Reactors;
use punctual_exec::LockProtocol;

/// The parts of a lane that a connection needs when it is opened for the lane.
#[derive(Debug)]
pub(in crate::lane) struct OpenedFor<'l> {
    pub(in crate::lane) broker: &'l Broker,
    pub(in crate::lane) reactors: &'l Reactors,
    /// Number of the lane.
    pub(in crate::lane) number: u64,
    /// Protocol (with or without priority inheritance) of the connection's sending lock.
    pub(in crate::lane) locks: LockProtocol,
}
