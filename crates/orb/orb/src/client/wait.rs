//! Wait-on-read: one of the callers that wait on a connection reads it for all.
//!
//! Whoever finds the inbox free reads, passes replies to their callers, and stops at its own. Then it
//! promotes another that waits. A caller says that it waits before it looks whether the inbox is free,
//! and a reader looks for those who wait after it has let go of the inbox, so no caller is left waiting
//! with nobody reading: either it finds the inbox free, or the reader that held it finds the caller.
//! One that still sends is not promoted; it looks for itself when it comes to wait. With one caller there
//! is no hand-over at all: one send, one receive. (Paper 002, §3.1, calls it Leader/Followers on the
//! client.) The models in this folder run every interleaving of it.

use super::mux::{ClientConnection, PendingReply};
use super::reply_table::{Broken, Delivered};
use super::slot::Woken;
use crate::messaging::{Inbox, InboxError, Message, OwnReply, Taken};
use crate::probe::{self, Point};
use crate::sync::{self, MutexGuard, fence};
use punctual_cdr::Block;
use punctual_exec::Deadline;
use punctual_link::{Cause, LinkError};
use std::sync::atomic::Ordering;

/// Why a reply did not come.
pub(crate) enum NoReply {
    TimedOut,
    Broken(Broken),
}

/// What waiting with a block at hand has come to.
pub(crate) enum Waited {
    /// The block holds the reply, and nothing else.
    Own(OwnReply),
    /// As by [`ClientConnection::wait`].
    Otherwise(Result<Message, NoReply>),
}

impl ClientConnection {
    /// The same as [`ClientConnection::wait`], but that a lone caller's reply of the usual kind comes
    /// right into its own block: nothing is put together or passed on.
    #[inline]
    pub(crate) fn wait_with(
        &self,
        block: &mut Block,
        pending: &PendingReply<'_>,
        deadline: Deadline,
    ) -> Waited {
        if let Some(on) = self.on_reactor.get() {
            return Waited::Otherwise(on.wait(pending, deadline));
        }
        let Some(inbox) = sync::try_lock(&self.inbox) else {
            return Waited::Otherwise(self.follow(pending, deadline));
        };
        if !inbox.is_empty() || self.tracer.is_on() || pending.place.slot.has_content() {
            return Waited::Otherwise(self.lead(inbox, pending, deadline));
        }
        block.clear();
        probe::begins!(Point::ClientReceive);
        let received = self.link.receive(block, inbox.least(), deadline);
        probe::begins!(Point::ClientMessagingReceive);
        if received.is_ok()
            && block.lent().is_empty()
            && block.len() <= self.limits.message
            && let Some(own) = self.session.own_reply(block, pending.id())
        {
            probe::begins!(Point::ClientTransportReceive);
            pending.place.slot.end_as_reader();
            pending.has_read.set(true);
            drop(inbox);
            self.hand_on();
            return Waited::Own(own);
        }
        Waited::Otherwise(self.lead_on(inbox, std::mem::take(block), received, pending, deadline))
    }

    /// Goes on from what has been received into a block.
    #[cold]
    fn lead_on(
        &self,
        mut inbox: MutexGuard<'_, Inbox>,
        block: Block,
        received: Result<usize, LinkError>,
        pending: &PendingReply<'_>,
        deadline: Deadline,
    ) -> Result<Message, NoReply> {
        match received {
            Ok(_) => inbox.put(block),
            Err(error) if matches!(error.cause, Cause::TimedOut) => {
                drop(inbox);
                self.hand_on();
                return Err(NoReply::TimedOut);
            }
            Err(error) => self.break_off(&Broken::of(&error.into())),
        }
        self.lead(inbox, pending, deadline.from_now())
    }

    /// Waits for a reply. Blocks until it has come, the connection breaks, or `deadline`.
    pub(crate) fn wait(
        &self,
        pending: &PendingReply<'_>,
        deadline: Deadline,
    ) -> Result<Message, NoReply> {
        if let Some(on) = self.on_reactor.get() {
            return on.wait(pending, deadline);
        }
        match sync::try_lock(&self.inbox) {
            Some(inbox) => self.lead(inbox, pending, deadline),
            None => self.follow(pending, deadline),
        }
    }

    /// Reads, and lets another read after that.
    fn lead(
        &self,
        mut inbox: MutexGuard<'_, Inbox>,
        pending: &PendingReply<'_>,
        deadline: Deadline,
    ) -> Result<Message, NoReply> {
        let read = self.read_until_own(&mut inbox, pending, deadline);
        drop(inbox);
        self.hand_on();
        read
    }

    /// Waits while another reads, and reads when that one is done.
    fn follow(&self, pending: &PendingReply<'_>, deadline: Deadline) -> Result<Message, NoReply> {
        let slot = pending.place.slot;
        // Relaxed: the fences order it.
        self.followers.fetch_add(1, Ordering::Relaxed);
        let waited = loop {
            slot.will_wait();
            // Pairs with the one in `hand_on`.
            fence(Ordering::SeqCst);
            if let Some(inbox) = sync::try_lock(&self.inbox) {
                slot.stop_waiting();
                break self.lead(inbox, pending, deadline);
            }
            probe::begins!(Point::ClientReceive);
            match slot.sleep(deadline) {
                Woken::Delivered(Delivered::Reply(message)) => break Ok(message),
                Woken::Delivered(Delivered::Broken(broken)) => break Err(NoReply::Broken(broken)),
                Woken::Promoted => {}
                Woken::TimedOut => {
                    if slot.stop_waiting() {
                        self.hand_on();
                    }
                    break Err(NoReply::TimedOut);
                }
            }
        };
        self.followers.fetch_sub(1, Ordering::Relaxed);
        waited
    }

    /// Reads until this caller's own reply is here.
    fn read_until_own(
        &self,
        inbox: &mut Inbox,
        pending: &PendingReply<'_>,
        deadline: Deadline,
    ) -> Result<Message, NoReply> {
        let mut bound = deadline;
        loop {
            match pending.place.slot.poll() {
                None => {}
                Some(Delivered::Reply(message)) => return Ok(message),
                Some(Delivered::Broken(broken)) => return Err(NoReply::Broken(broken)),
            }
            let step = match inbox.take(&*self.link) {
                Ok(Taken::Message(message)) => match self.route(message, Some(pending.id())) {
                    Some(mine) => {
                        pending.place.slot.end_as_reader();
                        pending.has_read.set(true);
                        return Ok(mine);
                    }
                    None => Ok(()),
                },
                Ok(Taken::Need(need)) => {
                    probe::begins!(Point::ClientReceive);
                    let received = inbox.receive(&*self.link, need, bound);
                    probe::begins!(Point::ClientTransportReceive);
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
