//! Queue of the requests that arrive over a client's connection.

use crate::messaging::Message;
use parking_lot::Mutex;
use std::fmt::Debug;
use std::sync::Arc;

/// Queue of the requests that arrive over one outgoing connection.
pub(crate) trait ServesRequests: Send + Sync + Debug {
    /// Takes a request without blocking; returns `false` if the queue is full.
    fn take(self: Arc<Self>, message: Message) -> bool;

    /// Handles the end of the connection: queued requests are not served.
    fn connection_ended(&self);
}

/// Queue of a connection's incoming requests, if they are served.
#[derive(Debug, Default)]
pub(in crate::lane::outgoing) struct Callbacks(Mutex<Option<Arc<dyn ServesRequests>>>);

impl Callbacks {
    /// Directs incoming requests to this queue from now on.
    pub(super) fn begin(&self, queue: Arc<dyn ServesRequests>) {
        *self.0.lock() = Some(queue);
    }

    /// Returns the queue of requests that arrive over the outgoing connection, if they are served.
    pub(in crate::lane::outgoing) fn queue(&self) -> Option<Arc<dyn ServesRequests>> {
        self.0.lock().clone()
    }

    /// Stops serving the server's requests, as the connection has ended.
    pub(in crate::lane::outgoing) fn end(&self) {
        let queue = self.0.lock().take();
        if let Some(queue) = queue {
            queue.connection_ended();
        }
    }
}
