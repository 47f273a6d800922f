//! Serving of a connection on the calling thread, for fuzzing: no thread is started or woken, and
//! nothing blocks.

use super::concurrency::Followed;
use super::connection::ServerConnection;
use super::host::Host;
use crate::lane::{Lane, OpenEndpoint};
use punctual_link::Connection;
use std::sync::Arc;

/// Serves `link`, as a connection accepted at an endpoint, until it ends. It is not counted among
/// the lane's connections.
pub(crate) fn serve_here(
    lane: &Arc<Lane>,
    host: &Host,
    at: &OpenEndpoint,
    link: Arc<dyn Connection>,
) {
    let spoken = (at.pair.messaging.session(), at.pair.messaging.abilities());
    ServerConnection::new((lane, host), link, spoken, at).follow();
}
