//! Wait-on-read: one of the callers that wait on a connection reads it for all.
//!
//! Whoever finds the inbox free reads, passes replies to their callers, and stops at its own. Then it
//! promotes another that waits. A caller says that it is willing before it looks whether the inbox is
//! free, and a reader promotes after it has let go of the inbox, so no caller is left waiting with
//! nobody reading: either it finds the inbox free, or the reader that held it finds the caller
//! willing. One that still sends is not promoted; it looks for itself when it comes to wait. With one
//! caller there is no hand-over at all: one send, one receive. (Paper 002, §3.1, calls it
//! Leader/Followers on the client.)

use super::mux::{ClientConnection, PendingReply};
use super::reply_table::{Broken, Woken};
use crate::messaging::{Inbox, InboxError, Message, Taken};
use punctual_exec::Deadline;
use punctual_link::Cause;
use std::sync::TryLockError;

/// Why a reply did not come.
pub(crate) enum NoReply {
    TimedOut,
    Broken(Broken),
}

impl ClientConnection {
    /// Waits for a reply. Blocks until it has come, the connection breaks, or `deadline`.
    pub(crate) fn wait(
        &self,
        pending: &PendingReply<'_>,
        deadline: Deadline,
    ) -> Result<Message, NoReply> {
        pending.slot().is_willing();
        let waited = self.wait_or_lead(pending, deadline);
        pending.slot().retire();
        waited
    }

    fn wait_or_lead(
        &self,
        pending: &PendingReply<'_>,
        deadline: Deadline,
    ) -> Result<Message, NoReply> {
        loop {
            let inbox = match self.inbox.try_lock() {
                Ok(inbox) => Some(inbox),
                Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => None,
            };
            if let Some(mut inbox) = inbox {
                let read = self.lead(&mut inbox, pending, deadline);
                drop(inbox);
                pending.slot().retire();
                self.table().promote_one();
                return read;
            }
            match pending.slot().wait(deadline) {
                Woken::Arrived(message) => return Ok(message),
                Woken::Broken(broken) => return Err(NoReply::Broken(broken)),
                Woken::TimedOut => return Err(NoReply::TimedOut),
                Woken::Promoted => {}
            }
        }
    }

    /// Reads until this caller's own reply is here.
    fn lead(
        &self,
        inbox: &mut Inbox,
        pending: &PendingReply<'_>,
        deadline: Deadline,
    ) -> Result<Message, NoReply> {
        let mut bound = deadline;
        loop {
            match pending.slot().poll() {
                Some(Woken::Arrived(message)) => return Ok(message),
                Some(Woken::Broken(broken)) => return Err(NoReply::Broken(broken)),
                Some(Woken::Promoted | Woken::TimedOut) | None => {}
            }
            let step = match inbox.take(&*self.link) {
                Ok(Taken::Message(message)) => match self.route(message, Some(pending.id)) {
                    Some(mine) => return Ok(mine),
                    None => Ok(()),
                },
                Ok(Taken::Need(need)) => {
                    let received = inbox.receive(&*self.link, need, bound);
                    // What came need not be this caller's: the next wait has only what is left.
                    bound = deadline.from_now();
                    received
                }
                Err(error) => Err(error),
            };
            match step {
                Ok(()) if inbox.is_dry() && bound.timeout().is_some_and(|left| left.is_zero()) => {
                    return Err(NoReply::TimedOut);
                }
                Ok(()) => {}
                Err(InboxError::Link(error)) if matches!(error.cause, Cause::TimedOut) => {
                    return Err(NoReply::TimedOut);
                }
                Err(error) if error.is_protocol_error() => {
                    self.refuse(&format!("the peer broke the protocol: {error}"));
                }
                Err(error) => self.break_off(&Broken::of(&error)),
            }
        }
    }
}
