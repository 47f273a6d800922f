//! What is under a connection's sending lock.

use super::gathering::Gathering;
use punctual_cdr::Block;

/// See the module.
#[derive(Debug)]
pub(in crate::lane::outgoing) struct Sender {
    /// Of one-ways that are not buffered.
    pub(in crate::lane::outgoing) gathering: Gathering,
    /// Memory for those that are.
    pub(in crate::lane::outgoing) spare: Block,
}
