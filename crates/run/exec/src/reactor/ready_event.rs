//! Event passed to a handler, and the operations that the handler may call on it.

use super::Reactor;
use super::owner::Readiness;
use super::table::Token;
use punctual_sys::epoll::Interest;
use std::cell::Cell;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::Duration;

/// Handler of the events of one descriptor.
///
/// It is called by one thread at a time, by whichever received the event. Only an event that was
/// handed over ([`ReadyEvent::hand_over`]) may overlap with the next. A handler that panics is
/// removed.
pub trait Handler: Send + Sync {
    /// Returns the descriptor, the same one while it is registered. A handler without one cannot be
    /// registered.
    fn descriptor(&self) -> Option<BorrowedFd<'_>>;

    /// Serves an event: takes all there is to take, since each change is reported once. May be
    /// called spuriously.
    fn ready(self: Arc<Self>, event: &mut ReadyEvent<'_>);
}

/// Role of the thread that serves an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Worker, which may block in an upcall or in a call of its own.
    Worker,
    /// Reserve thread, which serves when all workers are busy: long work must be refused.
    Reserve,
}

thread_local! {
    /// Number of events that this thread serves, nested.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Returns the number of events that the calling thread serves, nested: 1 in a handler, more in one
/// that is served while an outer one waits ([`Reactor::run_until`]).
#[must_use]
pub fn depth() -> u32 {
    DEPTH.get()
}

/// Guard that counts an event while it is served.
pub(super) struct Nesting;

impl Nesting {
    pub(super) fn new() -> Self {
        DEPTH.set(DEPTH.get() + 1);
        Self
    }
}

impl Drop for Nesting {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// Event of a registration, passed to its handler.
#[derive(Debug)]
pub struct ReadyEvent<'r> {
    pub(super) reactor: &'r Arc<Reactor>,
    pub(super) token: Token,
    pub(super) readiness: Readiness,
    pub(super) role: Role,
    /// `true` if this thread is still the registration's owner.
    pub(super) owns: bool,
}

impl ReadyEvent<'_> {
    /// Returns what happened.
    #[must_use]
    pub fn readiness(&self) -> Readiness {
        self.readiness
    }

    /// Returns the registration's token.
    #[must_use]
    pub fn token(&self) -> Token {
        self.token
    }

    /// Returns the reactor of the registration.
    #[must_use]
    pub fn reactor(&self) -> &Arc<Reactor> {
        self.reactor
    }

    /// Returns the role of the serving thread.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// Returns whether this thread still owns the registration, that is, has not handed it over.
    #[must_use]
    pub fn owns(&self) -> bool {
        self.owns
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
