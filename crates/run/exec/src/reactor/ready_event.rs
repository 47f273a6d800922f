//! Operations that a handler may call on the event that it was passed.

use super::nesting::is_in_one_event;
use super::owner::Readiness;
use super::state::{Reactor, ReadyEvent, Role};
use super::table::Token;
use punctual_sys::epoll::Interest;
use std::io;
use std::sync::Arc;
use std::time::Duration;

impl ReadyEvent<'_> {
    /// Returns the set of events that occurred for the registration.
    #[must_use]
    pub fn readiness(&self) -> Readiness {
        self.readiness
    }

    /// Returns the token of the registration for which the event occurred.
    #[must_use]
    pub fn token(&self) -> Token {
        self.token
    }

    /// Returns the reactor to which the registration belongs.
    #[must_use]
    pub fn reactor(&self) -> &Arc<Reactor> {
        self.reactor
    }

    /// Returns the role of the thread that serves the event.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// Returns whether this thread still owns the registration, that is, has not handed it over.
    #[must_use]
    pub fn owns(&self) -> bool {
        self.owns
    }

    /// Returns whether this thread may stay with the registration, that is, wait a moment for its next data without
    /// the reactor: it still owns the registration, waits for nothing else, and another thread waits for events.
    /// Without a lock, and without a system call.
    #[must_use]
    pub fn may_stay(&self) -> bool {
        self.owns && is_in_one_event() && self.reactor.waiting() > 0 && !self.reactor.is_stopped()
    }

    /// Hands the registration to the next thread that receives an event, before this one does
    /// something that takes long. Work named in `left` is reported to another thread at once. The
    /// handler must be ready for that thread.
    pub fn hand_over(&mut self, left: Readiness) {
        if std::mem::take(&mut self.owns) {
            self.reactor.hand_over(self.token, left);
        }
    }

    /// Records that another thread has already handed over the registration on this thread's behalf
    /// ([`Reactor::hand_over`]).
    pub fn disown(&mut self) {
        self.owns = false;
    }

    /// Changes the awaited events, see [`Reactor::set_interest`].
    ///
    /// # Errors
    /// Those of [`Reactor::set_interest`].
    pub fn set_interest(&self, interest: Interest) -> io::Result<()> {
        self.reactor.set_interest(self.token, interest)
    }

    /// Sets the registration's deadline, see [`Reactor::set_deadline`].
    pub fn set_deadline(&self, after: Option<Duration>) {
        self.reactor.set_deadline(self.token, after);
    }

    /// Removes the registration, see [`Reactor::deregister`]. The handler is dropped after this
    /// event.
    pub fn deregister(&self) {
        self.reactor.deregister(self.token);
    }
}
