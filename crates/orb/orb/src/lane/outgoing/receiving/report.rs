//! Events of reading that are to be logged.
//!
//! They are logged when the reading lock has been released: a log subscriber may make a call over
//! this connection, and would deadlock.

use crate::budget::Evicted;
use crate::lane::outgoing::connection::ClientConnection;
use crate::messaging::Inbox;

/// Events that occurred while messages were read under the reading lock.
#[derive(Debug, Default)]
pub(in crate::lane::outgoing) struct ReadReport {
    /// Number of replies for which there was no caller, and the last one's request id.
    unclaimed: Option<(u64, u32)>,
    /// Description of the peer's violation of the protocol, if there was one.
    violation: Option<String>,
    /// Other connections that were closed to make room for the received data.
    evicted: Vec<Evicted>,
}

impl ReadReport {
    /// Moves the record of connections that were closed to make room for this inbox into the
    /// report. To be called before the inbox is released.
    #[inline]
    pub(in crate::lane::outgoing) fn take_evicted(&mut self, inbox: &mut Inbox) {
        self.evicted = inbox.take_evicted();
    }

    /// Counts a reply for which there is no caller.
    #[cold]
    pub(super) fn count_unclaimed(&mut self, id: u32) {
        let before = self.unclaimed.map_or(0, |(count, _)| count);
        self.unclaimed = Some((before + 1, id));
    }

    /// Records a violation of the protocol by the peer.
    pub(super) fn record_violation(&mut self, violation: &str) {
        self.violation = Some(violation.to_owned());
    }

    /// Logs the events. To be called when the reading lock has been released.
    #[inline]
    pub(in crate::lane::outgoing) fn log(self, connection: &ClientConnection) {
        if self.unclaimed.is_some() || self.violation.is_some() {
            self.log_peer(connection);
        }
        connection.log_discarded();
    }

    #[cold]
    fn log_peer(&self, connection: &ClientConnection) {
        let peer = connection.peer();
        if let Some((count, id)) = self.unclaimed {
            tracing::debug!(%peer, id, count, "received a reply for which no caller waits");
        }
        if let Some(violation) = &self.violation {
            tracing::warn!(%peer, "{violation}; the connection is closed");
        }
    }
}
