//! What a handler is called with: what happened at its descriptor, and what it may do about it.

use super::Reactor;
use super::owner::Readiness;
use super::table::Token;
use punctual_sys::epoll::Interest;
use std::cell::Cell;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::Duration;

/// Serves what happens at one descriptor.
///
/// It is called by one thread at a time, and by whichever has been told; but for an event that was handed
/// over ([`ReadyEvent::hand_over`]), which may overlap with the next. One that panics is taken out.
pub trait Handler: Send + Sync {
    /// The descriptor; the same one for as long as it is registered. What has none cannot be.
    fn descriptor(&self) -> Option<BorrowedFd<'_>>;

    /// Something happened: takes all there is to take, since it is told of a change only once. It may be
    /// called for no reason.
    fn ready(self: Arc<Self>, event: &mut ReadyEvent<'_>);
}

/// Which thread it is that serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// One of those that may be kept busy: by an upcall, by a call of its own.
    Worker,
    /// The reserve, which serves when all workers are busy: whatever takes long is to be refused.
    Reserve,
}

thread_local! {
    /// Events that this thread serves, one within the other.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// How many events the calling thread serves, one within the other: 1 in a handler, more in one that is
/// served while an outer one waits ([`Reactor::run_until`]).
#[must_use]
pub fn depth() -> u32 {
    DEPTH.get()
}

/// Counts an event for as long as it is served.
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

/// What a handler is called with.
#[derive(Debug)]
pub struct ReadyEvent<'r> {
    pub(super) reactor: &'r Arc<Reactor>,
    pub(super) token: Token,
    pub(super) readiness: Readiness,
    pub(super) role: Role,
    /// Whether this thread is still the registration's owner.
    pub(super) owns: bool,
}

impl ReadyEvent<'_> {
    /// What happened.
    #[must_use]
    pub fn readiness(&self) -> Readiness {
        self.readiness
    }

    /// The registration.
    #[must_use]
    pub fn token(&self) -> Token {
        self.token
    }

    /// Where it is registered.
    #[must_use]
    pub fn reactor(&self) -> &Arc<Reactor> {
        self.reactor
    }

    /// Which thread this is.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// Whether it has not been handed over.
    #[must_use]
    pub fn owns(&self) -> bool {
        self.owns
    }

    /// Hands the registration to whichever thread is told next, before this one does something that
    /// takes long; with what is left to do, if anything: another thread is told of that at once. The
    /// handler must be ready for that thread.
    pub fn hand_over(&mut self, left: Readiness) {
        if std::mem::take(&mut self.owns) {
            self.reactor.hand_over(self.token, left);
        }
    }

    /// Says that the registration has been handed over already, by whoever stood in for this thread
    /// ([`Reactor::hand_over`]).
    pub fn disown(&mut self) {
        self.owns = false;
    }

    /// Changes what is waited for, see [`Reactor::set_interest`].
    ///
    /// # Errors
    /// As there.
    pub fn set_interest(&self, interest: Interest) -> io::Result<()> {
        self.reactor.set_interest(self.token, interest)
    }

    /// Sets its deadline, see [`Reactor::set_deadline`].
    pub fn set_deadline(&self, after: Option<Duration>) {
        self.reactor.set_deadline(self.token, after);
    }

    /// Takes it out of the reactor, see [`Reactor::deregister`]. The handler is let go after this event.
    pub fn deregister(&self) {
        self.reactor.deregister(self.token);
    }
}
