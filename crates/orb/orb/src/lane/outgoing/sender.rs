//! What is under a connection's sending lock.

use super::gathering::Gathering;
use punctual_cdr::Block;

/// See the module.
#[derive(Debug)]
pub(super) struct Sender {
    /// Of one-ways that are not buffered.
    pub(super) gathering: Gathering,
    /// Memory for those that are.
    pub(super) spare: Block,
}
