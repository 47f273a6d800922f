//! Queue of the requests that come by a client's connection.

use crate::messaging::Message;
use parking_lot::Mutex;
use std::fmt::Debug;
use std::sync::Arc;

/// Queue of the requests that come by one connection of a client's.
pub(crate) trait ServesRequests: Send + Sync + Debug {
    /// Takes a request without blocking; `false` where too many wait already.
    fn take(self: Arc<Self>, message: Message) -> bool;

    /// Called when the connection has ended: requests that wait are not served.
    fn connection_ended(&self);
}

/// Queue of a connection's requests, if they are served.
#[derive(Debug, Default)]
pub(in crate::lane::outgoing) struct Callbacks(Mutex<Option<Arc<dyn ServesRequests>>>);

impl Callbacks {
    /// Puts requests into this queue from now on.
    pub(super) fn begin(&self, queue: Arc<dyn ServesRequests>) {
        *self.0.lock() = Some(queue);
    }

    /// Returns the queue of the requests that come.
    pub(in crate::lane::outgoing) fn queue(&self) -> Option<Arc<dyn ServesRequests>> {
        self.0.lock().clone()
    }

    /// Ends serving, as the connection has ended.
    pub(in crate::lane::outgoing) fn end(&self) {
        let queue = self.0.lock().take();
        if let Some(queue) = queue {
            queue.connection_ended();
        }
    }
}
