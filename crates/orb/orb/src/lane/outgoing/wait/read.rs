//! Wait-on-read: one of the callers that wait on a connection reads it for all of them.
//!
//! The caller that finds the inbox free reads, passes replies to their callers, and stops at its
//! own; then another takes over ([`crate::lane::outgoing::calls`] has the hand-over). With one
//! caller there is no hand-over at all: one send, one receive. (Arulanthu et al. 2000, §3.1, call
//! it Leader/Followers on the client.)
//!
//! If waiting threads run reply handlers (`ReplyHandlers::Callers`), the reading caller releases
//! the inbox, runs them, and then waits again.

use crate::lane::outgoing::calls::Followed;
use crate::lane::outgoing::calls::PendingReply;
use crate::lane::outgoing::calls::{Broken, Delivered, NoReply, Waited};
use crate::lane::outgoing::connection::ClientConnection;
use crate::lane::outgoing::receiving::ReadReport;
use crate::messaging::{Inbox, InboxError, InboxStep, Message};
use crate::probe::{self, Point};
use crate::sync::MutexGuard;
use punctual_cdr::Block;
use punctual_exec::Deadline;
use punctual_link::{Cause, LinkError};

/// Next step of a caller that waits for a reply.
enum Turn<'c> {
    /// The caller reads messages from the connection.
    Reads(MutexGuard<'c, Inbox>),
    /// The caller waits while another caller reads.
    Follows,
    /// The caller runs the reply handlers that are due.
    Handlers,
    EndTimes(Result<Message, NoReply>),
}

impl ClientConnection {
    /// Waits as [`ClientConnection::read`] does, but if there is only one caller and its reply is a
    /// single plain message, receives that directly into `block`.
    #[inline]
    pub(super) fn read_with<const KIND: u8>(
        &self,
        block: &mut Block,
        pending: &PendingReply<'_>,
        deadline: Deadline,
    ) -> Waited {
        let Some(inbox) = self.callers.read() else {
            return Waited::Otherwise(self.take_turns(Turn::Follows, pending, deadline));
        };
        if !inbox.is_empty() || self.wire.tracer.is_on() || pending.caller.place.slot.has_content()
        {
            return Waited::Otherwise(self.take_turns(Turn::Reads(inbox), pending, deadline));
        }
        // Sending may have taken a while.
        let deadline = deadline.refreshed();
        block.clear();
        probe::begins!(Point::ClientReceive);
        let received = self.link.receive(block, inbox.least(), deadline);
        probe::begins!(Point::ClientMessagingReceive);
        if received.is_ok()
            && block.lent().is_empty()
            && block.len() <= self.wire.longest_plain_reply
            && let Some(own) = self.wire.session.match_plain_reply(block, pending.id())
        {
            probe::begins!(Point::ClientTransportReceive);
            pending.caller.end_with_own_reply();
            if self.callers.hand_on(inbox) {
                self.pass_on_unread();
            }
            return Waited::Own(own);
        }
        Waited::Otherwise(self.continue_reading(
            inbox,
            std::mem::take(block),
            received,
            pending,
            deadline,
        ))
    }

    /// Continues, after the direct attempt, with the data that was received into a block.
    #[cold]
    fn continue_reading(
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
                self.let_another_read(inbox);
                return Err(NoReply::TimedOut);
            }
            Err(error) => self.break_off(&Broken::of(&error.into())),
        }
        self.take_turns(Turn::Reads(inbox), pending, deadline.from_now())
    }

    /// Waits for a reply. Blocks until it has arrived, the connection breaks, or `deadline` passes.
    pub(super) fn read(
        &self,
        pending: &PendingReply<'_>,
        deadline: Deadline,
    ) -> Result<Message, NoReply> {
        self.take_turns(self.turn(), pending, deadline)
    }

    /// Returns the first step of a caller that starts to wait.
    fn turn(&self) -> Turn<'_> {
        self.callers.read().map_or(Turn::Follows, Turn::Reads)
    }

    #[inline(never)]
    fn take_turns<'c>(
        &'c self,
        mut turn: Turn<'c>,
        pending: &PendingReply<'_>,
        deadline: Deadline,
    ) -> Result<Message, NoReply> {
        loop {
            turn = match turn {
                Turn::Reads(inbox) => self.lead(inbox, pending, deadline),
                Turn::Follows => self.follow(pending, deadline),
                Turn::Handlers => {
                    if let Some(handlers) = self.watch.handlers.get() {
                        handlers.run_some();
                    }
                    self.turn()
                }
                Turn::EndTimes(read) => return read,
            }
        }
    }

    /// Reads for all callers until this caller's wait ends, and then makes another caller read.
    fn lead<'c>(
        &'c self,
        mut inbox: MutexGuard<'c, Inbox>,
        pending: &PendingReply<'_>,
        deadline: Deadline,
    ) -> Turn<'c> {
        let mut report = ReadReport::default();
        let mut read = || self.read_until_own(&mut inbox, pending, deadline, &mut report);
        let read = match self.watch.handlers.get() {
            None => read(),
            Some(handlers) => {
                let read = handlers.defer_while(read);
                if read.is_some() {
                    handlers.leave_to_thread();
                }
                read
            }
        };
        report.take_evicted(&mut inbox);
        self.let_another_read(inbox);
        report.log(self);
        read.map_or(Turn::Handlers, Turn::EndTimes)
    }

    /// Releases the inbox. Data left in it is read by another caller, if one waits for it.
    pub(in crate::lane::outgoing) fn let_another_read(&self, inbox: MutexGuard<'_, Inbox>) {
        if !inbox.is_empty() {
            self.callers.leave_unread();
        }
        if self.callers.hand_on(inbox) {
            self.pass_on_unread();
        }
    }

    /// Waits while another caller reads, until this one is to read, has its reply, or must run
    /// reply handlers.
    fn follow(&self, pending: &PendingReply<'_>, deadline: Deadline) -> Turn<'_> {
        let falls_asleep = || probe::begins(Point::ClientReceive);
        match self.callers.follow(&pending.caller, deadline, falls_asleep) {
            Followed::Reads(inbox) => Turn::Reads(inbox),
            Followed::Delivered(Delivered::Reply(message)) => Turn::EndTimes(Ok(message)),
            Followed::Delivered(Delivered::Broken(broken)) => {
                Turn::EndTimes(Err(NoReply::Broken(broken)))
            }
            Followed::Delivered(Delivered::Late) => Turn::EndTimes(Err(NoReply::NotSent)),
            Followed::TimedOut => {
                self.pass_on_unread();
                Turn::EndTimes(Err(NoReply::TimedOut))
            }
        }
    }

    /// Reads until this caller's own reply has arrived; returns `None` if the caller must first run
    /// reply handlers.
    fn read_until_own(
        &self,
        inbox: &mut Inbox,
        pending: &PendingReply<'_>,
        deadline: Deadline,
        report: &mut ReadReport,
    ) -> Option<Result<Message, NoReply>> {
        // Sending, and waiting for another caller to read, may have taken a while.
        let mut bound = deadline.refreshed();
        loop {
            match pending.caller.place.slot.poll() {
                None => {}
                Some(Delivered::Reply(message)) => return Some(Ok(message)),
                Some(Delivered::Broken(broken)) => return Some(Err(NoReply::Broken(broken))),
                Some(Delivered::Late) => return Some(Err(NoReply::NotSent)),
            }
            let step = match inbox.take(&*self.link) {
                Ok(InboxStep::Message(message)) => {
                    match self.route(message, Some(pending.id()), report) {
                        Some(mine) => {
                            pending.caller.end_with_own_reply();
                            return Some(Ok(mine));
                        }
                        None if self.has_handlers_to_run() => return None,
                        None => Ok(()),
                    }
                }
                Ok(InboxStep::Need(need)) => {
                    probe::begins!(Point::ClientReceive);
                    let received = inbox.receive(&*self.link, need, bound);
                    probe::begins!(Point::ClientTransportReceive);
                    // The message may have been for another caller: only the rest of the time is
                    // left for the next wait.
                    bound = deadline.from_now();
                    received
                }
                Err(error) => Err(error),
            };
            match step {
                Ok(())
                    if inbox.has_no_complete_message()
                        && bound.timeout().is_some_and(|left| left.is_zero()) =>
                {
                    return Some(Err(NoReply::TimedOut));
                }
                Ok(()) => {}
                Err(InboxError::Link(error)) if matches!(error.cause, Cause::TimedOut) => {
                    return Some(Err(NoReply::TimedOut));
                }
                Err(error) if error.is_protocol_error() => {
                    inbox.abandon();
                    let reason = format!("the peer broke the protocol: {error}");
                    self.refuse(&reason, report);
                }
                Err(error) => {
                    inbox.abandon();
                    self.break_off(&Broken::of(&error));
                }
            }
        }
    }
    /// Returns `true` if the calling thread must run reply handlers before it continues to read.
    fn has_handlers_to_run(&self) -> bool {
        let handlers = self.watch.handlers.get();
        handlers.is_some_and(|handlers| handlers.has_continuations())
    }
}
