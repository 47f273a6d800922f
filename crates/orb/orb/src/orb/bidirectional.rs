//! Requests that come by connections that this ORB's clients have opened (bidirectional GIOP).

use super::handle::{Orb, WeakOrb};
use crate::lane::{
    Back, ClientConnection, Lane, ListenPoint, ServesConnections, ServesRequests,
    encode_listen_points,
};
use crate::server;
use std::sync::Arc;

/// Serves them as long as somebody holds the ORB.
struct Serves(WeakOrb);

impl Orb {
    /// Has such requests served, where policies allow them.
    pub(super) fn serve_back(&self) {
        let serves: Arc<dyn ServesConnections> = Arc::new(Serves(self.downgrade()));
        // It is new.
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
            // Its references lead nowhere that could be told.
            return None;
        }
        let told = encode_listen_points(&points).ok()?;
        Some((server::serve_back(lane, &orb.host(), connection), told))
    }
}
