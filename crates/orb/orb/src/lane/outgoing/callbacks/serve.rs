//! Serving of requests on outgoing connections.

use super::queue::ServesRequests;
use crate::lane::outgoing::connection::ClientConnection;
use crate::policy::Bidirectional;
use crate::protocol::Pair;
use std::io;
use std::sync::Arc;

/// Serves requests that arrive over the outgoing connections of this ORB.
pub(crate) trait ServesBack: Send + Sync {
    /// Begins to serve the requests of a connection, before it is used.
    ///
    /// # Errors
    /// If no thread can read the requests.
    fn begin(&self, connection: &Arc<ClientConnection>) -> io::Result<()>;
}

/// Returns `true` if connections of this protocol can carry callbacks.
pub(crate) fn can_serve_back(pair: &Pair) -> bool {
    let by = ["iiop", "ssliop", "uiop"];
    Bidirectional::IS_BUILT_IN && pair.messaging.name() == "giop" && by.contains(&pair.link.name())
}

impl ClientConnection {
    /// Serves the server's requests from now on; the first request sent to the server announces
    /// `listen_points`.
    pub(in crate::lane) fn serve_requests(
        self: &Arc<Self>,
        by: Arc<dyn ServesRequests>,
        listen_points: Vec<u8>,
    ) {
        self.callbacks.begin(by);
        let _ = self.announced.listen_points.set(listen_points);
    }

    /// Counts a request of the server as being served: the connection closes after its reply.
    pub(crate) fn begin_serving(&self) {
        self.callers.begins_serving();
    }

    /// Records that a request counted by [`ClientConnection::begin_serving`] has been served.
    pub(crate) fn end_serving(&self) {
        if self.callers.ends_serving() {
            self.link.close();
        }
    }
}
