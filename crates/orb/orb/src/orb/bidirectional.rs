//! Requests from servers that arrive over connections opened by this ORB as a client (bidirectional
//! GIOP).

use super::handle::{Orb, WeakOrb};
use crate::lane::{
    Back, ClientConnection, Lane, ListenPoint, ServesConnections, ServesRequests,
    encode_listen_points,
};
use crate::policy::Bidirectional;
use crate::server;
use std::sync::Arc;

/// Factory of servers for requests that arrive over outgoing connections, as long as the ORB
/// exists.
struct Serves(WeakOrb);

impl Orb {
    /// Enables the serving of requests that arrive over outgoing connections, where policies allow
    /// it.
    pub(super) fn serve_back(&self) {
        if !Bidirectional::IS_BUILT_IN {
            return;
        }
        let serves: Arc<dyn ServesConnections> = Arc::new(Serves(self.downgrade()));
        // The ORB is new, so that it is not set yet.
        let _ = self.broker().back.set(Arc::new(Back(serves)));
    }
}

impl ServesConnections for Serves {
    fn serve(
        &self,
        lane: &Arc<Lane>,
        connection: &Arc<ClientConnection>,
    ) -> Option<(Arc<dyn ServesRequests>, Vec<u8>)> {
        let orb = self.0.upgrade()?;
        let link = connection.wire.pair.link.name();
        let lanes = orb.lanes().all();
        let points: Vec<ListenPoint> = lanes
            .flat_map(|lane| lane.incoming.endpoints.published_by(link))
            .map(|address| ListenPoint::of(&address))
            .collect();
        if points.is_empty() {
            // Without listen points there is nothing to announce.
            return None;
        }
        let told = encode_listen_points(&points).ok()?;
        Some((server::serve_back(lane, &orb.host(), connection), told))
    }
}
