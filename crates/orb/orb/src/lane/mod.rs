//! A lane: all that calls of one priority use. An ORB without real-time needs has one.
//!
//! It owns its connections in both directions, its acceptors and their threads, so that two lanes
//! share nothing on a call's way.

mod cache;
mod flusher;

use crate::client::endpoint_select::{Binding, Endpoint};
use crate::orb::Orb;
use crate::server::Listening;
use cache::ConnectionCache;
pub(crate) use cache::Wanted;
use flusher::Flusher;
use punctual_exec::Deadline;
use punctual_link::LinkError;
use std::sync::Arc;
use std::time::Duration;

/// How long buffered requests may take to be sent when the ORB ends.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// One lane.
#[derive(Debug)]
pub(crate) struct Lane {
    outgoing: ConnectionCache,
    pub(crate) flusher: Flusher,
    pub(crate) listening: Listening,
}

impl Lane {
    pub(crate) fn new(max_connections: usize) -> Self {
        Self {
            outgoing: ConnectionCache::default(),
            flusher: Flusher::new(),
            listening: Listening::new(max_connections),
        }
    }

    /// A connection to an endpoint, opened if need be.
    pub(crate) fn bind(
        &self,
        orb: &Orb,
        endpoint: &Arc<Endpoint>,
        wanted: Wanted,
        deadline: Deadline,
    ) -> Result<Binding, LinkError> {
        self.outgoing.bind(orb, endpoint, wanted, deadline)
    }

    /// Lets the connections of retired protocols go, each when its last call has ended.
    pub(crate) fn retire(&self, part: &str) {
        self.outgoing.retire(part);
    }

    /// Sends the one-way requests that wait on any connection.
    pub(crate) fn flush(&self, deadline: Deadline) {
        self.outgoing.flush(deadline);
    }

    /// Closes every outgoing connection, after what waits on it; calls that wait on one fail.
    pub(crate) fn disconnect(&self) {
        self.flusher.close();
        self.flush(Deadline::after(LAST_WORDS));
        self.outgoing.close();
    }
}
