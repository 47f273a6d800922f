//! Parts of a lane that its connections need.

use crate::broker::Broker;
use crate::lane::reactors::Reactors;
use punctual_exec::LockProtocol;

/// View of the lane for which a connection is opened, with the parts that the connection needs.
#[derive(Debug)]
pub(in crate::lane) struct OpenedFor<'l> {
    pub(in crate::lane) broker: &'l Broker,
    pub(in crate::lane) reactors: &'l Reactors,
    /// Protocol of the connection's sending lock.
    pub(in crate::lane) locks: LockProtocol,
}
