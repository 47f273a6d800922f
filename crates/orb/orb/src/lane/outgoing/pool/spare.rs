//! Additional connections to an endpoint, which are closed when they are not needed.

use crate::lane::outgoing::connection::ClientConnection;
use punctual_exec::Deadline;
use punctual_sys::clock::coarse_nanos;
use std::sync::Arc;
use std::time::Duration;

/// Number of checks of an additional connection during the time after which it is closed.
pub(in crate::lane) const LOOKS: u32 = 4;

impl ClientConnection {
    /// Sends the buffered requests of this and all other connections to the same endpoint.
    pub(crate) fn flush_all(&self, deadline: Deadline) {
        let to = self.membership.to.upgrade();
        let others = to.map(|to| to.held.lock().clone()).unwrap_or_default();
        self.flush(deadline);
        let others = others.iter().filter(|one| !std::ptr::eq(&***one, self));
        others.for_each(|one| one.flush(deadline));
    }

    /// Closes the connection if it is an additional one that either was unused for a while, or that
    /// another one could replace and no thread has to keep using. Otherwise returns the time after
    /// which to check again.
    pub(in crate::lane::outgoing) fn look_whether_needed(self: &Arc<Self>) -> Option<Duration> {
        let to = self.membership.to.upgrade()?;
        let spare = to.spare.filter(|_| to.spreads())?;
        let (now, longest) = (coarse_nanos(), spare.as_nanos());
        let is_idle = |one: &ClientConnection| {
            one.is_idle() && u128::from(now.saturating_sub(one.last_used())) >= longest
        };
        let again = Some(spare / LOOKS);
        // Another thread may be opening a connection, which takes time.
        let Some(mut held) = to.held.try_lock() else {
            return again;
        };
        let place = held.iter().position(|one| Arc::ptr_eq(one, self))?;
        if place == 0 {
            return None;
        }
        let has_stand_in = || !self.membership.is_kept_to() && held.iter().any(|one| is_idle(one));
        if !is_idle(self) && !has_stand_in() {
            return again;
        }
        held.remove(place);
        drop(held);
        self.retire();
        None
    }
}
