//! Sending lock of a connection, and requests that are lost under it.
//!
//! Lost requests are logged when the lock has been released: a log subscriber may make a call over
//! this connection, and would deadlock.

use super::sender::Sender;
use crate::lane::outgoing::calls::Broken;
use crate::lane::outgoing::connection::ClientConnection;
use punctual_exec::Deadline;
use punctual_exec::lane_lock::{LaneGuard, LockError};
use punctual_link::{LinkError, Phase, SendError};
use std::fmt::Display;

/// Buffered one-way requests that could not be sent.
#[derive(Debug, Default)]
pub(in crate::lane::outgoing) struct LostRequests {
    count: usize,
    /// Reason why the last of the lost requests was not sent.
    reason: String,
}

impl LostRequests {
    /// Adds `count` requests to the number of lost ones, with the reason.
    #[cold]
    pub(in crate::lane::outgoing) fn add(&mut self, count: usize, reason: &dyn Display) {
        self.count += count;
        self.reason = reason.to_string();
    }
}

impl ClientConnection {
    /// Runs `work` under the sending lock. Once the lock is released, logs the requests that were
    /// lost meanwhile.
    ///
    /// # Errors
    /// If the lock cannot be taken by the deadline.
    pub(in crate::lane::outgoing) fn with_sender<R>(
        &self,
        deadline: Deadline,
        work: impl FnOnce(&mut Sender, &mut LostRequests) -> R,
    ) -> Result<R, SendError> {
        match self.sender.lock_until(deadline) {
            Ok(sender) => Ok(self.run_locked(sender, work)),
            Err(error) => Err(self.lock_failed(error)),
        }
    }

    /// Runs `work` under the sending lock, if the lock is free.
    pub(in crate::lane::outgoing) fn try_with_sender<R>(
        &self,
        work: impl FnOnce(&mut Sender, &mut LostRequests) -> R,
    ) -> Option<R> {
        // Threads that wait for a lost lock receive an error.
        let sender = self.sender.try_lock().ok().flatten()?;
        Some(self.run_locked(sender, work))
    }

    fn run_locked<R>(
        &self,
        mut sender: LaneGuard<'_, Sender>,
        work: impl FnOnce(&mut Sender, &mut LostRequests) -> R,
    ) -> R {
        let mut lost = LostRequests::default();
        let done = work(&mut sender, &mut lost);
        drop(sender);
        if lost.count > 0 {
            let (peer, count, reason) = (self.peer(), lost.count, lost.reason);
            tracing::warn!(%peer, count, "buffered one-way requests are lost: {reason}");
        }
        self.log_discarded();
        done
    }

    /// Breaks the connection off if the lock's previous owner failed, as it may have sent a part of
    /// a message. Returns the error for the caller.
    #[cold]
    pub(in crate::lane::outgoing) fn lock_failed(&self, error: LockError) -> SendError {
        let error = match error {
            LockError::TimedOut => LinkError::timed_out(Phase::Send),
            lost => {
                self.break_off(&Broken::off(format!(
                    "the lock for sending is lost: {lost}"
                )));
                LinkError::closed(Phase::Send)
            }
        };
        SendError { error, sent: 0 }
    }
}
