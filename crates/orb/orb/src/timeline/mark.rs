//! Identity of a connection in timelines, and its description in the running one.

use super::connections::{RecordedConnection, Side};
use super::record::RequestId;
use super::session;
use punctual_link::Connection;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Identity of a connection in timelines.
#[derive(Debug, Default)]
pub(crate) struct ConnectionMark {
    /// Number of the last timeline that describes the connection; 0 if none does.
    described: AtomicU64,
    lane: u32,
    number: u32,
}

impl ConnectionMark {
    /// Makes the mark of a connection that this process opens, with the next number.
    pub(crate) fn of_client(lane: u64) -> Self {
        // Relaxed: only uniqueness matters.
        static NUMBERS: AtomicU32 = AtomicU32::new(1);
        Self {
            described: AtomicU64::new(0),
            lane: u32::try_from(lane).unwrap_or(u32::MAX),
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Returns the identifier of a request of a connection that this process has opened.
    pub(crate) fn request(&self, request: u32) -> RequestId {
        RequestId {
            lane: self.lane,
            connection: self.number,
            request,
        }
    }

    /// Describes the connection in the running timeline, unless it has been described there. Allocates and locks, once
    /// for a timeline.
    pub(crate) fn describe(&self, side: Side, of: RequestId, link: &dyn Connection) {
        let current = session::current();
        // Relaxed: two threads at once may describe it twice, which does no harm.
        if self.described.load(Ordering::Relaxed) == current {
            return;
        }
        self.described.store(current, Ordering::Relaxed);
        session::add_connection(
            current,
            RecordedConnection {
                side,
                lane: of.lane,
                connection: of.connection,
                local: link.local().to_string(),
                peer: link.peer().to_string(),
            },
        );
    }
}
