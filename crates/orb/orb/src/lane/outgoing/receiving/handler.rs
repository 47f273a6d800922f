//! Handler of a reactor's events on a connection.

use crate::lane::outgoing::connection::ClientConnection;
use punctual_exec::reactor::{Handler, ReadyEvent};
use punctual_link::{Connection, Waitable};
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Weak};

/// Handler of a connection's readiness. It holds a weak reference, as the lane owns the connection.
pub(in crate::lane::outgoing) struct ReadinessHandler {
    connection: Weak<ClientConnection>,
    link: Arc<dyn Connection>,
    read: fn(&ClientConnection, &mut ReadyEvent<'_>),
}

impl ReadinessHandler {
    /// Returns a handler that calls `read` when there is data to be read.
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
