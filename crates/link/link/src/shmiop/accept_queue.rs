//! Connections whose handshake has succeeded, until they are accepted.

use crate::{Connection, LinkError, Phase};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Upper bound of the connections that wait in the kernel's listen queue, and of those that wait to
/// be accepted after their handshake.
pub(super) const BACKLOG: u16 = 128;

/// Queue of accepted connections, or errors, from the handshake thread to `accept`.
#[derive(Debug, Default)]
pub(super) struct AcceptQueue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

type Accepted = Result<Arc<dyn Connection>, LinkError>;

#[derive(Debug, Default)]
struct Waiting {
    accepted: VecDeque<Accepted>,
    closed: bool,
}

impl AcceptQueue {
    /// Hands over a connection, or an error of the operating system. Blocks while the queue is
    /// full, and, after an error, until that was taken: the caller of `accept` decides when to
    /// retry. Returns whether the acceptor is still open.
    pub(super) fn put(&self, accepted: Accepted) -> bool {
        let is_error = accepted.is_err();
        let mut waiting = self.waiting();
        waiting = self.until(waiting, |waiting| {
            waiting.accepted.len() < usize::from(BACKLOG)
        });
        if waiting.closed {
            return false;
        }
        waiting.accepted.push_back(accepted);
        self.changed.notify_all();
        if is_error {
            waiting = self.until(waiting, |waiting| waiting.accepted.is_empty());
        }
        !waiting.closed
    }

    pub(super) fn take(&self) -> Accepted {
        let mut waiting = self.waiting();
        waiting = self.until(waiting, |waiting| !waiting.accepted.is_empty());
        if waiting.closed {
            return Err(LinkError::closed(Phase::Accept));
        }
        let accepted = waiting.accepted.pop_front();
        self.changed.notify_all();
        accepted.unwrap_or_else(|| Err(LinkError::closed(Phase::Accept)))
    }

    /// Closes the queue of accepted connections; returns `false` if it was closed already.
    pub(super) fn close(&self) -> bool {
        let mut waiting = self.waiting();
        let first = !std::mem::replace(&mut waiting.closed, true);
        let dropped = std::mem::take(&mut waiting.accepted);
        self.changed.notify_all();
        drop(waiting);
        // Connections that will not be accepted are closed outside of the lock.
        drop(dropped);
        first
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `done` returns `true` or the queue is closed.
    fn until<'w>(
        &self,
        waiting: MutexGuard<'w, Waiting>,
        done: impl Fn(&Waiting) -> bool,
    ) -> MutexGuard<'w, Waiting> {
        self.changed
            .wait_while(waiting, |waiting| !waiting.closed && !done(waiting))
            .unwrap_or_else(PoisonError::into_inner)
    }
}
