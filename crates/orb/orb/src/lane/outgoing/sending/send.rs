//! Immediate sending of messages. Buffered requests are sent by
//! [`crate::lane::outgoing::buffering`].

use super::gathering::{LONGEST_MESSAGE, Leaving};
use super::sender::Sender;
use crate::lane::outgoing::calls::Broken;
use crate::lane::outgoing::connection::ClientConnection;
use crate::messaging::{self, Fragmenting};
use crate::probe::{self, Point};
use punctual_cdr::{Block, CallerMemory};
use punctual_exec::Deadline;
use punctual_exec::lane_lock::LaneLock;
use punctual_link::{Cause, LinkError, Phase, SendError};
use punctual_sys::pi_mutex::PiGuard;
use std::io::IoSlice;
use std::ops::Deref;
use std::time::{Duration, Instant};

/// Maximum time for sending messages that no caller waits for.
pub(in crate::lane::outgoing) const LOW_PRIORITY_LIMIT: Duration = Duration::from_millis(100);

impl ClientConnection {
    /// Sends a message of a protocol whose messages do not depend on the time of sending. Takes the
    /// fast path if no other thread is sending and nothing is buffered. Otherwise works as
    /// [`ClientConnection::send`].
    #[inline(always)]
    pub(crate) fn send_plainly(
        &self,
        message: &mut Block,
        out_of_band: bool,
        deadline: Deadline,
    ) -> Result<(), SendError> {
        probe::begins!(Point::ClientTransportSend);
        let is_plain = message.lent().is_empty() && !self.wire.tracer.is_on();
        if is_plain && !self.wire.fragmenting.applies_to(message) {
            match &self.sender {
                LaneLock::Plain(lock) => {
                    if let Some(sending) = lock.try_lock()
                        && self.buffer.is_empty()
                    {
                        return self.send_alone(sending, &[IoSlice::new(message)], deadline);
                    }
                }
                LaneLock::Inheriting(lock) => {
                    if let Ok(Some(sending)) = lock.try_lock()
                        && self.buffer.is_empty()
                    {
                        return self.send_inheriting(sending, message, &deadline);
                    }
                }
            }
        }
        self.send(message, out_of_band, deadline)
    }

    /// Sends a message as [`ClientConnection::send_plainly`] does, with the run that it lacks from the caller's memory. The run
    /// is copied if the message does not leave at once as it is.
    pub(crate) fn send_from(
        &self,
        (message, memory): (&mut Block, &CallerMemory<'_>),
        out_of_band: bool,
        deadline: Deadline,
    ) -> Result<(), SendError> {
        probe::begins!(Point::ClientTransportSend);
        let length = message.len() + memory.left_out();
        let is_whole = !self.wire.fragmenting.applies_to_long(message, length);
        if is_whole && !self.wire.tracer.is_on() {
            let parts = memory.parts(message).map(IoSlice::new);
            if let Ok(Some(sending)) = self.sender.try_lock()
                && self.buffer.is_empty()
            {
                return self.send_alone(sending, &parts, deadline);
            }
        }
        memory.complete(message);
        self.send(message, out_of_band, deadline)
    }

    /// Sends a one-way as [`ClientConnection::send_plainly`] does; in a flood the transport
    /// combines it with others ([`super::gathering`]). Returns the time within which the flusher is
    /// to check the connection, if it does not yet do so.
    ///
    /// A one-way is sent at once if locks inherit priorities.
    #[inline]
    pub(crate) fn send_one_way(
        &self,
        message: &mut Block,
        out_of_band: bool,
        deadline: Deadline,
    ) -> Result<Option<Duration>, SendError> {
        if self.wire.gathers
            && message.len() <= LONGEST_MESSAGE
            && message.lent().is_empty()
            && !self.wire.tracer.is_on()
            && let LaneLock::Plain(lock) = &self.sender
            && let Some(mut sending) = lock.try_lock()
            && self.buffer.is_empty()
            && let Leaving::BeforeMore(look) = sending.gathering.next(Instant::now())
            && let Some(gatherer) = self.link.gatherer()
        {
            probe::begins!(Point::ClientSend);
            let sent = gatherer.send_before_more(&[IoSlice::new(message)], deadline);
            probe::begins!(Point::ClientTransportSend);
            if sent.is_err() {
                // The flusher is not scheduled.
                sending.gathering.set_unwatched();
            }
            self.row.record_held_back();
            drop(sending);
            return match sent {
                Ok(()) => Ok(look),
                Err(error) => Err(self.send_failed(error)),
            };
        }
        self.send_plainly(message, out_of_band, deadline)
            .map(|()| None)
    }

    /// Sends the request of a deferred call; many in a row are gathered ([`super::row`]). Returns the
    /// time within which the flusher is to check the connection, if it does not yet do so.
    pub(crate) fn send_deferred(
        &self,
        request: &mut Block,
        out_of_band: bool,
        deadline: Deadline,
    ) -> Result<Option<Duration>, SendError> {
        match self.row.is_long_with_one_more() {
            true => self.send_one_way(request, out_of_band, deadline),
            false => self
                .send_plainly(request, out_of_band, deadline)
                .map(|()| None),
        }
    }

    /// Sends the deferred requests in a row that are held back, if there may be any. To be called
    /// before a caller waits for a reply that has not arrived.
    #[inline]
    pub(in crate::lane::outgoing) fn end_row(&self) {
        if self.row.end() {
            self.send_held_back();
        }
    }

    /// Sends the parts of a message under the sending lock, when no buffered message must be sent before it.
    #[inline(always)]
    fn send_alone(
        &self,
        sending: impl Deref<Target = Sender>,
        parts: &[IoSlice<'_>],
        deadline: Deadline,
    ) -> Result<(), SendError> {
        probe::begins!(Point::ClientSend);
        let sent = self.link.send(parts, deadline);
        probe::begins!(Point::ClientTransportSend);
        drop(sending);
        match sent {
            Ok(()) => Ok(()),
            Err(error) => Err(self.send_failed(error)),
        }
    }

    /// Sends with a sending lock that has priority inheritance. A separate function, so that other
    /// lanes skip it by one branch. Its arguments fit into registers.
    #[inline(never)]
    fn send_inheriting(
        &self,
        sending: PiGuard<'_, Sender>,
        message: &Block,
        deadline: &Deadline,
    ) -> Result<(), SendError> {
        self.send_alone(sending, &[IoSlice::new(message)], *deadline)
    }

    /// Breaks the connection off if the error occurred in the middle of a message.
    #[cold]
    fn send_failed(&self, error: SendError) -> SendError {
        let was_begun = error.sent > 0;
        if was_begun || !matches!(error.error.cause, Cause::TimedOut | Cause::TooLarge(_)) {
            let reason = format!("the connection broke off while a request was sent: {error}");
            self.break_off(&Broken::off(reason));
        }
        error
    }

    /// Sends one message, after the buffered ones unless it is `out_of_band`; after an error in the
    /// middle of a message the connection is broken off.
    ///
    /// Does not wait for other threads that are sending if the link and the protocol allow that: those may pause between
    /// the packets of a long message.
    pub(crate) fn send(
        &self,
        message: &mut Block,
        out_of_band: bool,
        deadline: Deadline,
    ) -> Result<(), SendError> {
        probe::begins!(Point::ClientTransportSend);
        let (fragmenting, tracer) = (self.wire.fragmenting, self.wire.tracer);
        if self.wire.sends_apart && !fragmenting.applies_to(message) && self.buffer.is_unused() {
            let sent = messaging::send(&*self.link, message, fragmenting, tracer, deadline);
            return sent.map_err(|error| self.send_failed(error));
        }
        let sent = self.with_sender(deadline, |sender, lost| {
            // Buffered requests must not be overtaken.
            let waits = !out_of_band && !self.buffer.is_empty();
            if waits && self.flush_locked(sender, lost, deadline).is_err() {
                return None;
            }
            self.wire.session.stamp(message);
            probe::begins!(Point::ClientSend);
            let sent = messaging::send(&*self.link, message, fragmenting, tracer, deadline);
            probe::begins!(Point::ClientTransportSend);
            Some(sent)
        })?;
        match sent {
            Some(sent) => sent.map_err(|error| self.send_failed(error)),
            // The connection has been broken off.
            None => Err(SendError {
                error: LinkError::closed(Phase::Send),
                sent: 0,
            }),
        }
    }

    /// Sends a message that may be omitted; omits it if another thread is sending. Blocks only for
    /// a short time.
    pub(crate) fn send_at_leisure(&self, message: &Block) {
        let (none, soon) = (Fragmenting::NEVER, Deadline::after(LOW_PRIORITY_LIMIT));
        let sent = self.try_with_sender(|_, _| {
            messaging::send(&*self.link, message, none, self.wire.tracer, soon)
        });
        if let Some(Err(_)) = sent {
            self.break_off(&Broken::off("the peer accepts no more data"));
        }
    }
}
