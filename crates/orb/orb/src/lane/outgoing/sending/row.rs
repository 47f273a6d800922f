//! Requests of deferred calls that are sent in a row: one after the other, and no caller waits for
//! a reply meanwhile.
//!
//! In a long row, they are gathered like one-ways ([`super::gathering`]), as their replies are not
//! needed yet. They are sent at the latest when a caller begins to wait for a reply, or to watch for
//! it, so that a row never delays a reply that is waited for.

use crate::lane::outgoing::connection::ClientConnection;
use punctual_cdr::Block;
use punctual_exec::Deadline;
use punctual_link::SendError;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Number of requests in a row from which on they are gathered.
const LONG: u32 = 8;

/// Number of deferred calls whose requests were sent since a caller last waited.
///
/// Relaxed accesses, and not one step of counting: threads that use a connection at the same time may
/// lose the end of a row. A request that is held back then leaves with the next one, or by the
/// flusher.
#[derive(Debug, Default)]
pub(in crate::lane::outgoing) struct Row(AtomicU32);

impl ClientConnection {
    /// Sends the request of a deferred call. Returns the time within which the flusher is to check the
    /// connection, if it does not yet do so.
    pub(crate) fn send_deferred(
        &self,
        request: &mut Block,
        out_of_band: bool,
        deadline: Deadline,
    ) -> Result<Option<Duration>, SendError> {
        let before = self.row.0.load(Ordering::Relaxed);
        if before < LONG {
            self.row.0.store(before + 1, Ordering::Relaxed);
            let sent = self.send_plainly(request, out_of_band, deadline);
            return sent.map(|()| None);
        }
        self.send_one_way(request, out_of_band, deadline)
    }

    /// Ends a row: sends the requests that are held back, if there may be any. To be called before a
    /// caller waits for a reply that has not arrived.
    #[inline]
    pub(in crate::lane::outgoing) fn end_row(&self) {
        if self.row.0.load(Ordering::Relaxed) > 0 {
            let was = self.row.0.swap(0, Ordering::Relaxed);
            if was >= LONG {
                self.send_held_back();
            }
        }
    }
}
