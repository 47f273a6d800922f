//! Messages onto a connection, at once. Those that wait for others are in [`crate::lane::outgoing::buffering`].

use super::gathering::{LONGEST_MESSAGE, Leaving};
use super::sender::Sender;
use crate::lane::outgoing::calls::Broken;
use crate::lane::outgoing::connection::ClientConnection;
use crate::lane::outgoing::remarks::Sending;
use crate::messaging::{self, Fragmenting};
use crate::probe::{self, Point};
use punctual_cdr::Block;
use punctual_exec::Deadline;
use punctual_exec::lane_lock::{LaneLock, LockError};
use punctual_link::{Cause, LinkError, Phase, SendError};
use punctual_sys::pi_mutex::PiGuard;
use std::io::IoSlice;
use std::ops::Deref;
use std::time::{Duration, Instant};

/// How long this side takes for what nobody waits for.
pub(in crate::lane::outgoing) const AT_LEISURE: Duration = Duration::from_millis(100);

impl ClientConnection {
    /// The same as [`ClientConnection::send`], of a message that is the same whenever it leaves. Without
    /// ado where nobody else sends and nothing waits.
    #[inline(always)]
    pub(crate) fn send_plainly(
        &self,
        message: &mut Block,
        out_of_band: bool,
        deadline: Deadline,
    ) -> Result<(), SendError> {
        probe::begins!(Point::ClientTransportSend);
        let is_plain = message.lent().is_empty() && !self.tracer.is_on();
        if is_plain && !self.wire.fragmenting.applies_to(message) {
            match &self.sender {
                LaneLock::Plain(lock) => {
                    if let Some(sending) = lock.try_lock()
                        && self.buffer.is_empty()
                    {
                        return self.send_alone(sending, message, deadline);
                    }
                }
                LaneLock::Inheriting(lock) => {
                    if let Ok(Some(sending)) = lock.try_lock()
                        && self.buffer.is_empty()
                    {
                        return self.send_inheriting(sending, message, deadline);
                    }
                }
            }
        }
        self.send(message, out_of_band, deadline)
    }

    /// As [`ClientConnection::send_plainly`], of a one-way: in a flood the transport puts it together with others
    /// ([`super::gathering`]). Tells in what time the flusher is to look after the connection, where it does not yet.
    ///
    /// Not where locks inherit priorities: what is sent there leaves at once.
    #[inline]
    pub(crate) fn send_one_way(
        &self,
        message: &mut Block,
        out_of_band: bool,
        deadline: Deadline,
    ) -> Result<Option<Duration>, SendError> {
        if self.gathers
            && message.len() <= LONGEST_MESSAGE
            && message.lent().is_empty()
            && !self.tracer.is_on()
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
                // Nobody is told.
                sending.gathering.is_unwatched();
            }
            drop(sending);
            return match sent {
                Ok(()) => Ok(look),
                Err(error) => Err(self.has_not_sent(error)),
            };
        }
        self.send_plainly(message, out_of_band, deadline)
            .map(|()| None)
    }

    /// Sends a message that nothing has to go before, under the lock.
    #[inline(always)]
    fn send_alone(
        &self,
        sending: impl Deref<Target = Sender>,
        message: &[u8],
        deadline: Deadline,
    ) -> Result<(), SendError> {
        probe::begins!(Point::ClientSend);
        let sent = self.link.send(&[IoSlice::new(message)], deadline);
        probe::begins!(Point::ClientTransportSend);
        drop(sending);
        match sent {
            Ok(()) => Ok(()),
            Err(error) => Err(self.has_not_sent(error)),
        }
    }

    /// The same under a lock that inherits priorities. By itself, so that other lanes' calls pass by one branch.
    #[inline(never)]
    fn send_inheriting(
        &self,
        sending: PiGuard<'_, Sender>,
        message: &[u8],
        deadline: Deadline,
    ) -> Result<(), SendError> {
        self.send_alone(sending, message, deadline)
    }

    /// Breaks off after an error in mid-message.
    #[cold]
    fn has_not_sent(&self, error: SendError) -> SendError {
        let was_begun = error.sent > 0;
        if was_begun || !matches!(error.error.cause, Cause::TimedOut | Cause::TooLarge(_)) {
            let reason = format!("the connection broke off while a request was sent: {error}");
            self.break_off(&Broken::off(reason));
        }
        error
    }

    /// Sends one message, behind those that wait unless it is `out_of_band`; after an error in mid-message the connection is
    /// broken off.
    pub(crate) fn send(
        &self,
        message: &mut Block,
        out_of_band: bool,
        deadline: Deadline,
    ) -> Result<(), SendError> {
        probe::begins!(Point::ClientTransportSend);
        let mut sending = self.lock_sender(deadline)?;
        // What waits may not be overtaken.
        let waits = !out_of_band && !self.buffer.is_empty();
        if waits && self.flush_locked(&mut sending, deadline).is_err() {
            let error = LinkError::closed(Phase::Send);
            return Err(SendError { error, sent: 0 });
        }
        self.wire.session.stamp(message);
        probe::begins!(Point::ClientSend);
        let result = messaging::send(
            &*self.link,
            message,
            self.wire.fragmenting,
            self.tracer,
            deadline,
        );
        probe::begins!(Point::ClientTransportSend);
        drop(sending);
        result.map_err(|error| self.has_not_sent(error))
    }

    /// Sends a message of little worth, if nobody is sending and it does not take long.
    pub(crate) fn send_at_leisure(&self, message: &Block) {
        if let Some(_sending) = self.try_lock_sender() {
            let (none, soon) = (Fragmenting::NEVER, Deadline::after(AT_LEISURE));
            if messaging::send(&*self.link, message, none, self.tracer, soon).is_err() {
                self.break_off(&Broken::off("the peer takes nothing any more"));
            }
        }
    }

    /// The sending lock, if nobody has it.
    #[inline]
    pub(in crate::lane::outgoing) fn try_lock_sender(&self) -> Option<Sending<'_>> {
        // Whoever waits for one that is lost is told.
        let locked = self.sender.try_lock().ok().flatten();
        locked.map(|sender| Sending::new(self, sender))
    }

    pub(in crate::lane::outgoing) fn lock_sender(
        &self,
        deadline: Deadline,
    ) -> Result<Sending<'_>, SendError> {
        match self.sender.lock_until(deadline) {
            Ok(sender) => Ok(Sending::new(self, sender)),
            Err(error) => Err(self.has_not_locked(error)),
        }
    }

    /// Breaks off where the lock is lost, as its owner may have sent a part of a message.
    #[cold]
    pub(in crate::lane::outgoing) fn has_not_locked(&self, error: LockError) -> SendError {
        let error = match error {
            LockError::TimedOut => LinkError::timed_out(Phase::Send),
            lost => {
                self.break_off(&Broken::off(format!(
                    "nothing can be sent any more: {lost}"
                )));
                LinkError::closed(Phase::Send)
            }
        };
        SendError { error, sent: 0 }
    }
}
