//! Checks of whether a call may use a connection now.

use super::ClientConnection;
use crate::lane::outgoing::calls::Broken;
use punctual_exec::Deadline;
use punctual_link::Pending;
use punctual_sys::clock::coarse_nanos;
use std::time::Duration;

/// Maximum time for the check of an idle connection.
const LOOK_AT_IDLE: Duration = Duration::from_millis(5);

impl ClientConnection {
    /// Returns `true` if new calls are accepted. Does not check the link.
    #[inline]
    pub(crate) fn may_be_used(&self) -> bool {
        self.usability.is_open()
    }

    /// Returns `true` if a new request may be sent on the connection. Makes a system call only
    /// after a quiet period, and blocks only if the peer has begun a message and not finished it.
    #[inline]
    pub(crate) fn is_usable(&self, deadline: Deadline) -> bool {
        if !self.usability.is_open() {
            return false;
        }
        let now = coarse_nanos();
        now == self.last_used() || self.is_usable_after(now, deadline)
    }

    /// Performs the check of [`ClientConnection::is_usable`]. Called only if the coarse clock has
    /// advanced since the last call.
    #[inline(never)]
    fn is_usable_after(&self, now: u64, deadline: Deadline) -> bool {
        let last = self.last_used();
        // Until the check is over, other callers check too.
        let is_quiet = self.usability.is_quiet(now.saturating_sub(last));
        let usable = !is_quiet || !self.callers.is_idle() || self.look(deadline);
        self.usability.record_use(now);
        usable
    }

    /// Reads the data that has arrived on an idle connection; returns `false` if the peer has
    /// closed it.
    fn look(&self, deadline: Deadline) -> bool {
        match self.link.pending() {
            Pending::Nothing => true,
            Pending::End => {
                self.break_off(&Broken::off("closed by the peer"));
                false
            }
            Pending::Data => {
                self.drain(deadline);
                self.usability.is_open()
            }
        }
    }

    /// Returns `true` if the connection is open, according to the data received from the peer.
    pub(crate) fn is_open(&self) -> bool {
        self.usability.is_open()
            && (!self.callers.is_idle() || self.look(Deadline::after(LOOK_AT_IDLE)))
    }

    /// Returns `true` if no call uses the connection and nothing is buffered at this moment.
    pub(crate) fn is_idle(&self) -> bool {
        // A server may call back at any time.
        if self.announced.listen_points().is_some() {
            return false;
        }
        let is_sending = !matches!(self.sender.try_lock(), Ok(Some(_)));
        let nothing_waits = !is_sending && self.buffer.is_empty();
        nothing_waits && self.callers.is_idle() && !self.usability.is_claimed()
    }

    /// Returns the time at which the last call began, in nanoseconds of the coarse clock.
    #[inline]
    pub(crate) fn last_used(&self) -> u64 {
        self.usability.last_used()
    }
}
