//! Waiting for a reply, according to the connection's strategy.

use super::strategy::WaitStrategy;
use crate::lane::outgoing::calls::PendingReply;
use crate::lane::outgoing::calls::{NoReply, Waited};
use crate::lane::outgoing::connection::ClientConnection;
use crate::messaging::Message;
use punctual_cdr::Block;
use punctual_exec::Deadline;

impl ClientConnection {
    /// Waits for a reply. Blocks until it has arrived, the connection breaks, or `deadline` passes.
    pub(crate) fn wait(
        &self,
        pending: &PendingReply<'_>,
        deadline: Deadline,
    ) -> Result<Message, NoReply> {
        match &self.waiting {
            WaitStrategy::Read => self.read(pending, deadline),
            WaitStrategy::Reactor(reactor) => reactor.wait(&pending.caller.place, deadline),
        }
    }

    /// Waits for a reply, which may be received into `block`. Blocks as [`ClientConnection::wait`]
    /// does.
    ///
    /// `KIND` changes nothing but the number of callers: each kind of call has an instance of this
    /// function, so that the compiler inlines it in all of them.
    #[inline]
    pub(crate) fn wait_with<const KIND: u8>(
        &self,
        block: &mut Block,
        pending: &PendingReply<'_>,
        deadline: Deadline,
    ) -> Waited {
        match &self.waiting {
            WaitStrategy::Read => self.read_with::<KIND>(block, pending, deadline),
            WaitStrategy::Reactor(reactor) => {
                Waited::Otherwise(reactor.wait(&pending.caller.place, deadline))
            }
        }
    }
}
