//! Link of a connection whose sending lock and reader belong to its client or server side, used by
//! the opposite side (bidirectional GIOP).

use punctual_cdr::Block;
use punctual_exec::Deadline;
use punctual_link::{Address, Connection, LinkError, Pending, Phase, SendError, Waitable};
use punctual_sys::dscp::Dscp;
use std::fmt::Debug;
use std::io::{self, IoSlice};
use std::sync::{Arc, Weak};

/// Side of a connection that owns its sending lock.
pub(super) trait PartSender: Send + Sync + Debug {
    /// Sends a message that consists of these parts, under the sending lock.
    ///
    /// # Errors
    /// Those of [`Connection::send`].
    fn send_parts(&self, parts: &[IoSlice<'_>], deadline: Deadline) -> Result<(), SendError>;
}

/// Link that sends through the side of the connection that owns the sending lock.
#[derive(Debug)]
pub(super) struct SharedLink {
    by: Weak<dyn PartSender>,
    link: Arc<dyn Connection>,
}

impl SharedLink {
    pub(super) fn new(by: Weak<dyn PartSender>, link: Arc<dyn Connection>) -> Self {
        Self { by, link }
    }
}

impl Connection for SharedLink {
    fn lend(&self, capacity: usize) -> Block {
        self.link.lend(capacity)
    }

    fn send(&self, parts: &[IoSlice<'_>], deadline: Deadline) -> Result<(), SendError> {
        match self.by.upgrade() {
            Some(by) => by.send_parts(parts, deadline),
            None => Err(SendError {
                error: LinkError::closed(Phase::Send),
                sent: 0,
            }),
        }
    }

    /// Fails, as the other side of the connection reads.
    fn receive(&self, _: &mut Block, _: usize, _: Deadline) -> Result<usize, LinkError> {
        Err(LinkError::closed(Phase::Receive))
    }

    /// Returns that nothing is pending, as this side does not read.
    fn pending(&self) -> Pending {
        Pending::Nothing
    }

    fn close(&self) {
        self.link.close();
    }

    fn peer(&self) -> &Address {
        self.link.peer()
    }

    fn local(&self) -> &Address {
        self.link.local()
    }

    fn napi_id(&self) -> Option<u32> {
        self.link.napi_id()
    }

    fn set_dscp(&self, dscp: Option<Dscp>) -> io::Result<()> {
        self.link.set_dscp(dscp)
    }

    fn waitable(&self) -> Waitable<'_> {
        self.link.waitable()
    }

    fn peer_certificates(&self) -> Vec<Vec<u8>> {
        self.link.peer_certificates()
    }

    fn peer_is_owner(&self) -> bool {
        self.link.peer_is_owner()
    }

    fn peer_user(&self) -> Option<u32> {
        self.link.peer_user()
    }
}
