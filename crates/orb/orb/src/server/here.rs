//! Serving a connection on the calling thread, for fuzzing: no thread is started or woken, and nothing waits.

use super::concurrency::Followed;
use super::connection::ServerConnection;
use super::host::Host;
use crate::lane::{Lane, OpenEndpoint};
use punctual_link::Connection;
use std::fmt::{self, Write};
use std::sync::Arc;

/// Serves `link` as one that was accepted at an endpoint, until it ends. The lane does not count it among its
/// connections.
pub(crate) fn serve_here(
    lane: &Arc<Lane>,
    host: &Host,
    at: &OpenEndpoint,
    link: Arc<dyn Connection>,
) {
    let spoken = (at.pair.messaging.session(), at.pair.messaging.abilities());
    let connection = ServerConnection::new((lane, host), link, spoken, at);
    connection.clone().follow();
    // As people would see it.
    let shown = write!(Nowhere, "{connection:?}");
    debug_assert!(shown.is_ok());
}

/// Takes text, and keeps none.
struct Nowhere;

impl fmt::Write for Nowhere {
    fn write_str(&mut self, _: &str) -> fmt::Result {
        Ok(())
    }
}
