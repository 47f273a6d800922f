//! State protected by a connection's sending lock.

use super::gathering::Gathering;
use punctual_cdr::Block;

/// State protected by a connection's sending lock.
#[derive(Debug)]
pub(in crate::lane::outgoing) struct Sender {
    /// State of the gathering of one-ways that are not buffered.
    pub(in crate::lane::outgoing) gathering: Gathering,
    /// Spare memory block for buffering one-way requests.
    pub(in crate::lane::outgoing) spare: Block,
}
