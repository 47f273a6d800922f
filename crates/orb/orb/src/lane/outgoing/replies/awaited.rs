//! Replies to suspended calls.

use super::watching::Watching;
use crate::lane::outgoing::calls::PendingReply;
use crate::lane::outgoing::connection::ClientConnection;
use crate::lane::replies::Replies;
use punctual_exec::Deadline;
use std::io;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::task::Waker;

/// Entry in the reply table of a caller that has suspended its call until the reply arrives.
/// Dropping it abandons the call.
#[derive(Debug)]
pub(crate) struct AwaitedReply {
    connection: Arc<ClientConnection>,
    id: u32,
    /// True if the call has been resumed.
    is_taken_up: bool,
    /// Present while a watcher is to be notified of the reply.
    watching: Option<Watching>,
}

impl AwaitedReply {
    /// Returns the connection over which the request was sent.
    pub(crate) fn connection(&self) -> &Arc<ClientConnection> {
        &self.connection
    }

    /// Returns `true` if the reply has arrived, or the reason why none will.
    pub(crate) fn has_come(&self) -> bool {
        let place = self.connection.callers.place(self.id);
        place.is_none_or(|place| place.slot.has_content())
    }

    /// Sends the requests that are buffered, if that of the call is one of them.
    pub(crate) fn flush_if_it_waits(&self, deadline: Deadline) {
        self.connection.flush_if_it_waits(self.id, deadline);
    }

    /// Resumes the call: calls `wait` to wait for the reply. Returns `None` if the reply table has
    /// no such entry, which cannot happen while this value exists.
    pub(crate) fn with<R>(
        mut self,
        wait: impl FnOnce(&ClientConnection, &PendingReply<'_>) -> R,
    ) -> Option<R> {
        self.is_taken_up = true;
        self.stop_watching();
        if !self.has_come() {
            self.connection.end_row();
        }
        let pending = self.connection.pending(self.id)?;
        Some(wait(&self.connection, &pending))
    }

    /// Resumes the call, and suspends it again if `wait` returns `None`. Returns `Ok(None)` if the
    /// entry does not exist.
    ///
    /// # Errors
    /// The call itself, suspended again.
    pub(crate) fn with_or_again<R>(
        mut self,
        wait: impl FnOnce(&ClientConnection, &PendingReply<'_>) -> Option<R>,
    ) -> Result<Option<R>, Self> {
        self.stop_watching();
        if !self.has_come() {
            self.connection.end_row();
        }
        let connection = self.connection.clone();
        let Some(pending) = connection.pending(self.id) else {
            self.is_taken_up = true;
            return Ok(None);
        };
        let Some(came) = wait(&connection, &pending) else {
            let _kept = ManuallyDrop::new(pending);
            return Err(self);
        };
        self.is_taken_up = true;
        Ok(Some(came))
    }

    /// Arranges that `watcher` is woken when something has been delivered, or the deadline has
    /// passed; returns `true` if either has happened already. From then on a thread of the lane
    /// reads the connection.
    ///
    /// # Errors
    /// If no thread can be made to read it.
    pub(crate) fn watch(
        &mut self,
        readers: &Arc<Replies>,
        watcher: &Waker,
        deadline: Deadline,
    ) -> io::Result<bool> {
        self.connection.watch.record_use();
        let Some(place) = self.connection.callers.place(self.id) else {
            return Ok(true);
        };
        if place.slot.has_content() || place.slot.watch(watcher) || deadline.has_passed() {
            return Ok(true);
        }
        if self.watching.is_none() {
            let watching = Watching::begin(&self.connection, readers, self.id, deadline)?;
            self.watching = Some(watching);
        }
        self.connection.end_row();
        Ok(false)
    }

    /// Stops the notification of the watcher of this reply.
    fn stop_watching(&mut self) {
        if let Some(watching) = self.watching.take() {
            watching.end(&self.connection, self.id);
        }
    }
}

impl Drop for AwaitedReply {
    fn drop(&mut self) {
        self.stop_watching();
        if !self.is_taken_up {
            // The drop of `pending` gives the place back.
            if let Some(pending) = self.connection.pending(self.id) {
                self.connection.abandon(&pending);
            }
        }
    }
}

impl PendingReply<'_> {
    /// Suspends the call, and keeps its entry in the reply table until it is resumed.
    pub(crate) fn put_away(self, connection: &Arc<ClientConnection>) -> AwaitedReply {
        let pending = ManuallyDrop::new(self);
        AwaitedReply {
            connection: connection.clone(),
            id: pending.id(),
            is_taken_up: false,
            watching: None,
        }
    }
}
