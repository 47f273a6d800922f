//! State under a connection's sending lock.

use super::gathering::Gathering;
use punctual_cdr::Block;

/// State under a connection's sending lock.
#[derive(Debug)]
pub(in crate::lane::outgoing) struct Sender {
    /// One-ways that are not buffered.
    pub(in crate::lane::outgoing) gathering: Gathering,
    /// Memory for those that are.
    pub(in crate::lane::outgoing) spare: Block,
}
