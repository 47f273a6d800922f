//! Connections that wait to be accepted.

use super::connection::InprocConnection;
use crate::{Cause, LinkError, Phase};
use punctual_exec::Deadline;
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Upper bound of the connections that wait to be accepted; further clients wait.
const BACKLOG: usize = 128;

/// Queue of the connections that wait to be accepted by one acceptor.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Arc<InprocConnection>>,
    closed: bool,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a connection, and waits for room until `deadline`.
    pub(super) fn put(
        &self,
        server: Arc<InprocConnection>,
        deadline: Deadline,
    ) -> Result<(), LinkError> {
        let mut state = self.lock();
        loop {
            if state.closed {
                return Err(refusal(Phase::Connect, io::ErrorKind::ConnectionRefused));
            }
            if state.waiting.len() < BACKLOG {
                state.waiting.push_back(server);
                drop(state);
                self.changed.notify_all();
                return Ok(());
            }
            state = match deadline.remaining() {
                None => self.changed.wait(state),
                Some(left) if left.is_zero() => return Err(LinkError::timed_out(Phase::Connect)),
                Some(left) => {
                    let waited = self.changed.wait_timeout(state, left);
                    Ok(waited.unwrap_or_else(PoisonError::into_inner).0)
                }
            }
            .unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(super) fn take(&self) -> Option<Arc<InprocConnection>> {
        let mut state = self.lock();
        loop {
            if state.closed {
                return None;
            }
            if let Some(next) = state.waiting.pop_front() {
                drop(state);
                self.changed.notify_all();
                return Some(next);
            }
            let waited = self.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        let forgotten = std::mem::take(&mut state.waiting);
        drop(state);
        self.changed.notify_all();
        // Dropping them notifies their ends, so no lock may be held.
        drop(forgotten);
    }
}

/// Makes an operating system error of the given kind.
pub(super) fn refusal(phase: Phase, kind: io::ErrorKind) -> LinkError {
    let cause = Cause::Os(kind.into());
    LinkError { phase, cause }
}
