//! A caller's entry in a connection's reply table, from its request to its reply.

use super::callers::Caller;
use super::delivered::{Delivered, NoReply};
use crate::lane::outgoing::connection::ClientConnection;
use crate::messaging::Message;
use std::mem::ManuallyDrop;

/// A caller's entry in the reply table; released when dropped.
#[derive(Debug)]
pub(crate) struct PendingReply<'c> {
    connection: &'c ClientConnection,
    pub(crate) caller: Caller<'c, Delivered>,
}

impl ClientConnection {
    /// Returns a new entry for a caller; `None` if too many already wait.
    #[inline(always)]
    pub(crate) fn register(&self) -> Option<PendingReply<'_>> {
        Some(PendingReply {
            connection: self,
            caller: self.callers.register()?,
        })
    }

    /// Returns the pending reply of a suspended call by the request id.
    pub(in crate::lane::outgoing) fn pending(&self, id: u32) -> Option<PendingReply<'_>> {
        Some(PendingReply {
            connection: self,
            caller: self.callers.registered(id)?,
        })
    }

    /// Returns the number of outstanding replies to abandoned calls.
    pub(crate) fn owed(&self) -> u32 {
        self.callers.owed()
    }
}

impl PendingReply<'_> {
    /// Releases the entry once the caller has read its own reply.
    #[inline]
    pub(crate) fn end(self) {
        let pending = ManuallyDrop::new(self);
        let connection = pending.connection;
        if connection.callers.leave_with_its_own(&pending.caller) {
            connection.link().close();
        }
    }

    /// Takes the reply if it has been delivered, without waiting, and releases the slot then.
    ///
    /// # Errors
    /// The reason for which there is no reply.
    pub(crate) fn take(&self) -> Result<Message, NoReply> {
        match self.caller.end_with_delivery() {
            Some(Delivered::Reply(message)) => Ok(message),
            Some(Delivered::Broken(broken)) => Err(NoReply::Broken(broken)),
            Some(Delivered::Late) => Err(NoReply::NotSent),
            None => Err(NoReply::TimedOut),
        }
    }

    /// Returns the request id of the pending reply.
    pub(crate) fn id(&self) -> u32 {
        self.caller.place.id
    }
}

impl Drop for PendingReply<'_> {
    #[inline]
    fn drop(&mut self) {
        let connection = self.connection;
        if connection.callers.leave(&self.caller) {
            connection.link().close();
        }
        connection.pass_on_unread();
    }
}
