//! Handler by which a reactor tells of what comes on a connection.

use crate::lane::outgoing::connection::ClientConnection;
use punctual_exec::reactor::{Handler, ReadyEvent};
use punctual_link::{Connection, Waitable};
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Weak};

/// Handler of a connection's readiness. It does not keep the connection: the lane holds that, and lets it go.
pub(in crate::lane::outgoing) struct ReadinessHandler {
    connection: Weak<ClientConnection>,
    link: Arc<dyn Connection>,
    read: fn(&ClientConnection, &mut ReadyEvent<'_>),
}

impl ReadinessHandler {
    /// Returns the handler that has `read` called when there is something to be read.
    pub(in crate::lane::outgoing) fn new(
        connection: &Arc<ClientConnection>,
        read: fn(&ClientConnection, &mut ReadyEvent<'_>),
    ) -> Self {
        Self {
            connection: Arc::downgrade(connection),
            link: connection.link.clone(),
            read,
        }
    }
}

impl Handler for ReadinessHandler {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match self.link.waitable() {
            Waitable::Descriptor(descriptor) => Some(descriptor),
            _ => None,
        }
    }

    fn ready(self: Arc<Self>, event: &mut ReadyEvent<'_>) {
        match self.connection.upgrade() {
            Some(connection) => (self.read)(&connection, event),
            None => event.deregister(),
        }
    }
}
