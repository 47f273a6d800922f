//! What connections need of the lane that opens them.

use crate::broker::Broker;
use crate::lane::reactors::Reactors;
use punctual_exec::LockProtocol;

/// The lane that connections are opened for, as far as they need it.
#[derive(Debug)]
pub(in crate::lane) struct OpenedFor<'l> {
    pub(in crate::lane) broker: &'l Broker,
    pub(in crate::lane) reactors: &'l Reactors,
    /// What the connection's sending lock does for the thread that has it.
    pub(in crate::lane) locks: LockProtocol,
}
