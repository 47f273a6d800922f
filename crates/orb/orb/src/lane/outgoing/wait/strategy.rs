//! The strategies by name.

use super::reactor::ServingReactor;
use punctual_exec::Reactor;
use punctual_exec::reactor::Handler;
use std::io;
use std::sync::Arc;

/// How callers wait on one connection. It is chosen when the connection is opened.
#[derive(Debug)]
pub(crate) enum WaitStrategy {
    /// One of them reads for all.
    Read,
    /// They serve a reactor, which reads.
    Reactor(Box<ServingReactor>),
}

impl WaitStrategy {
    /// Callers serve this reactor meanwhile.
    pub(crate) fn reactor(reactor: Arc<Reactor>) -> Self {
        Self::Reactor(Box::new(ServingReactor::new(reactor)))
    }

    /// The reactor that callers serve, if they serve one.
    #[cfg(test)]
    pub(crate) fn served(&self) -> Option<&Reactor> {
        match self {
            Self::Read => None,
            Self::Reactor(serving) => Some(serving.reactor()),
        }
    }

    /// Whether a caller serves others while it waits.
    pub(crate) fn serves_meanwhile(&self) -> bool {
        matches!(self, Self::Reactor(_))
    }

    /// Has the reactor, if there is one, tell a reader what comes.
    pub(super) fn register(&self, reader: impl FnOnce() -> Arc<dyn Handler>) -> io::Result<()> {
        match self {
            Self::Read => Ok(()),
            Self::Reactor(reactor) => reactor.register(reader()),
        }
    }

    /// Has the connection read once more: somebody else held what is read into.
    pub(crate) fn nudge(&self) {
        if let Self::Reactor(reactor) = self {
            reactor.nudge();
        }
    }

    /// Something was delivered to the caller that waits for that reply, or to all. Those who read for one
    /// another need not be told.
    pub(crate) fn wake(&self, id: Option<u32>) {
        if let Self::Reactor(reactor) = self {
            reactor.wake(id);
        }
    }
}
