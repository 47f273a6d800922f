//! Requests that come by a connection of a client's, from its server (bidirectional GIOP; CORBA 3.3 part 2, §9.8).

use super::serves::ServesRequests;
use crate::lane::outgoing::connection::ClientConnection;
use crate::protocol::Pair;
use std::io;
use std::sync::Arc;

/// Has the requests of connections served, each before it is used.
pub(crate) trait ServesBack: Send + Sync {
    /// Has those of this one served, from now on.
    ///
    /// # Errors
    /// What keeps them from being read.
    fn begin(&self, connection: &Arc<ClientConnection>) -> io::Result<()>;
}

/// Whether callbacks can go by connections of this protocol.
pub(crate) fn can_serve_back(pair: &Pair) -> bool {
    let by = ["iiop", "ssliop", "uiop"];
    pair.messaging.name() == "giop" && by.contains(&pair.link.name())
}

impl ClientConnection {
    /// Serves the server's requests from now on; its first request tells `listen_points`.
    pub(in crate::lane) fn serve_requests(
        self: &Arc<Self>,
        by: Arc<dyn ServesRequests>,
        listen_points: Vec<u8>,
    ) {
        *self.requests.lock() = Some(by);
        let _ = self.listen_points.set(listen_points);
    }

    /// What the first request tells the server of where the client listens, if it does.
    pub(crate) fn listen_points(&self) -> Option<&[u8]> {
        self.listen_points.get().map(|points| &**points)
    }
}
