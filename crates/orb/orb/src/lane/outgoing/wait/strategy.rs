//! Enumeration of the waiting strategies.

use super::reactor::ServingReactor;
use punctual_exec::Reactor;
use punctual_exec::reactor::Handler;
use std::io;
use std::sync::Arc;

/// Strategy of the callers of one connection, chosen when the connection is opened.
#[derive(Debug)]
pub(crate) enum WaitStrategy {
    /// Strategy in which one of the callers reads for all of them.
    Read,
    /// Strategy in which the waiting callers serve a reactor that reads the replies.
    Reactor(Box<ServingReactor>),
}

impl WaitStrategy {
    /// Makes the strategy in which waiting callers serve the given reactor.
    pub(crate) fn reactor(reactor: Arc<Reactor>) -> Self {
        Self::Reactor(Box::new(ServingReactor::new(reactor)))
    }

    /// Returns the reactor that callers serve, if they serve one.
    #[cfg(test)]
    pub(crate) fn served(&self) -> Option<&Reactor> {
        match self {
            Self::Read => None,
            Self::Reactor(serving) => Some(serving.reactor()),
        }
    }

    /// Returns whether a caller serves other requests while it waits.
    pub(crate) fn serves_meanwhile(&self) -> bool {
        matches!(self, Self::Reactor(_))
    }

    /// Registers a reader with the reactor, if there is one.
    pub(super) fn register(&self, reader: impl FnOnce() -> Arc<dyn Handler>) -> io::Result<()> {
        match self {
            Self::Read => Ok(()),
            Self::Reactor(reactor) => reactor.register(reader()),
        }
    }

    /// Makes the reactor read the connection once more: when its last event occurred, another thread
    /// was reading, so the reactor left the message to that thread.
    pub(crate) fn nudge(&self) {
        if let Self::Reactor(reactor) = self {
            reactor.nudge();
        }
    }

    /// Wakes the caller that waits for the reply to request `id`, or all callers, after a delivery.
    /// Does nothing for callers that read for one another.
    pub(crate) fn wake(&self, id: Option<u32>) {
        if let Self::Reactor(reactor) = self {
            reactor.wake(id);
        }
    }
}
