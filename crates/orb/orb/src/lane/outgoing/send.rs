//! Requests onto a connection: at once, or buffered with others.

use super::connection::ClientConnection;
use super::delivered::Broken;
use super::gathering::{LONGEST_MESSAGE, Leaving};
use super::queue::{BODY_ROOM, Queue, Waiting};
use super::remarks::Sending;
use crate::messaging::{self, Fragmenting};
use crate::policy::Buffering;
use crate::probe::{self, Point};
use punctual_cdr::{Block, Coding};
use punctual_exec::Deadline;
use punctual_exec::lane_lock::{LaneLock, LockError};
use punctual_link::{Cause, LinkError, Phase, SendError};
use punctual_sys::pi_mutex::PiGuard;
use std::io::IoSlice;
use std::ops::Deref;
use std::time::{Duration, Instant};

/// How long buffered requests may take to be sent when nobody waits for that.
const FLUSH: Duration = Duration::from_secs(5);
/// In what time to look again at a connection on which somebody sends.
const SENDS: Duration = Duration::from_millis(1);
/// Room left for a batch's head in a datagram.
const HEAD_ROOM: usize = 1024;
/// How long this side takes for what nobody waits for.
pub(super) const AT_LEISURE: Duration = Duration::from_millis(100);
/// Messages that go out with one system call: what the kernel takes in one (`IOV_MAX`).
const GATHERED: usize = 1024;

impl ClientConnection {
    /// The same as [`ClientConnection::send`], of a message that is the same whenever it leaves. Without
    /// ado where nobody else sends and nothing waits.
    #[inline(always)]
    pub(crate) fn send_plainly(
        &self,
        message: &mut Block,
        deadline: Deadline,
    ) -> Result<(), SendError> {
        probe::begins!(Point::ClientTransportSend);
        let is_plain = message.lent().is_empty() && !self.tracer.is_on();
        if is_plain && !self.wire.fragmenting.applies_to(message) {
            match &self.sender {
                LaneLock::Plain(lock) => {
                    if let Some(waiting) = lock.try_lock()
                        && waiting.is_empty()
                    {
                        return self.send_alone(waiting, message, deadline);
                    }
                }
                LaneLock::Inheriting(lock) => {
                    if let Ok(Some(waiting)) = lock.try_lock()
                        && waiting.is_empty()
                    {
                        return self.send_inheriting(waiting, message, deadline);
                    }
                }
            }
        }
        self.send(message, deadline)
    }

    /// As [`ClientConnection::send_plainly`], of a one-way: in a flood the transport puts it together with others
    /// ([`super::gathering`]). Tells in what time the flusher is to look after the connection, where it does not yet.
    ///
    /// Not where locks inherit priorities: what is sent there leaves at once.
    #[inline]
    pub(crate) fn send_one_way(
        &self,
        message: &mut Block,
        deadline: Deadline,
    ) -> Result<Option<Duration>, SendError> {
        if self.gathers
            && message.len() <= LONGEST_MESSAGE
            && message.lent().is_empty()
            && !self.tracer.is_on()
            && let LaneLock::Plain(lock) = &self.sender
            && let Some(mut queue) = lock.try_lock()
            && queue.is_empty()
            && let Leaving::BeforeMore(look) = queue.gathering.next(Instant::now())
            && let Some(gatherer) = self.link.gatherer()
        {
            probe::begins!(Point::ClientSend);
            let sent = gatherer.send_before_more(&[IoSlice::new(message)], deadline);
            probe::begins!(Point::ClientTransportSend);
            if sent.is_err() {
                // Nobody is told.
                queue.gathering.is_unwatched();
            }
            drop(queue);
            return match sent {
                Ok(()) => Ok(look),
                Err(error) => Err(self.has_not_sent(error)),
            };
        }
        self.send_plainly(message, deadline).map(|()| None)
    }

    /// Sends a message that nothing has to go before, under the lock.
    #[inline(always)]
    fn send_alone(
        &self,
        waiting: impl Deref<Target = Queue>,
        message: &[u8],
        deadline: Deadline,
    ) -> Result<(), SendError> {
        probe::begins!(Point::ClientSend);
        let sent = self.link.send(&[IoSlice::new(message)], deadline);
        probe::begins!(Point::ClientTransportSend);
        drop(waiting);
        match sent {
            Ok(()) => Ok(()),
            Err(error) => Err(self.has_not_sent(error)),
        }
    }

    /// The same under a lock that inherits priorities. By itself, so that other lanes' calls pass by one branch.
    #[inline(never)]
    fn send_inheriting(
        &self,
        waiting: PiGuard<'_, Queue>,
        message: &[u8],
        deadline: Deadline,
    ) -> Result<(), SendError> {
        self.send_alone(waiting, message, deadline)
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

    /// Sends one message; after an error in mid-message the connection is broken off.
    pub(crate) fn send(&self, message: &mut Block, deadline: Deadline) -> Result<(), SendError> {
        probe::begins!(Point::ClientTransportSend);
        let mut sending = self.lock_sender(deadline)?;
        // What waits may not be overtaken.
        if !sending.is_empty() && self.flush_locked(&mut sending, deadline).is_err() {
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
    pub(super) fn try_lock_sender(&self) -> Option<Sending<'_>> {
        // Whoever waits for one that is lost is told.
        let locked = self.sender.try_lock().ok().flatten();
        locked.map(|queue| Sending::new(self, queue))
    }

    fn lock_sender(&self, deadline: Deadline) -> Result<Sending<'_>, SendError> {
        match self.sender.lock_until(deadline) {
            Ok(queue) => Ok(Sending::new(self, queue)),
            Err(error) => Err(self.has_not_locked(error)),
        }
    }

    /// Breaks off where the lock is lost, as its owner may have sent a part of a message.
    #[cold]
    fn has_not_locked(&self, error: LockError) -> SendError {
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

impl ClientConnection {
    /// Lets a one-way request wait for others. Sends them all if it is time; otherwise tells by when
    /// somebody is to do so, if this one is the first.
    pub(crate) fn enqueue(
        &self,
        waiting: Waiting,
        when: Buffering,
        deadline: Deadline,
    ) -> Result<Option<Duration>, SendError> {
        let mut queue = self.lock_sender(deadline)?;
        let first = queue.is_empty();
        if queue.push(waiting, when) {
            // This one is among those that may be under way.
            self.flush_locked(&mut queue, deadline)?;
        }
        Ok(queue.is_due_after(when.delay.filter(|_| first)))
    }

    /// The same, of a message that is sent as it is ([`ClientConnection::sends_as_is`]).
    #[inline]
    pub(crate) fn append(
        &self,
        message: &[u8],
        when: Buffering,
        deadline: Deadline,
    ) -> Result<Option<Duration>, SendError> {
        let mut queue = self.lock_sender(deadline)?;
        let first = queue.is_empty();
        if first && queue.run.capacity() == 0 {
            queue.run = self.lend();
        }
        let is_full = if queue.waiting.is_empty() {
            queue.append(message, when)
        } else {
            let mut copy = self.lend();
            copy.extend_from_slice(message);
            queue.push(Waiting::Message(copy), when)
        };
        if is_full {
            self.flush_locked(&mut queue, deadline)?;
        }
        Ok(queue.is_due_after(when.delay.filter(|_| first)))
    }

    /// Whether messages that wait may be put one behind the other: over a stream, in a protocol whose
    /// messages are the same whenever they leave, and where nobody looks at each.
    #[inline]
    pub(crate) fn sends_as_is(&self) -> bool {
        self.wire.largest.is_none() && !self.wire.abilities.batches && !self.tracer.is_on()
    }

    /// Sends what waits.
    pub(crate) fn flush(&self, deadline: Deadline) {
        if let Ok(mut queue) = self.lock_sender(deadline) {
            self.send_what_waits(&mut queue, deadline);
            if queue.gathering.push() {
                self.push();
            }
        }
    }

    /// Sends what has waited long enough, for callers who have gone on long ago; tells in what time to look again. Calls
    /// `before_sending` before it does what the server may keep waiting.
    pub(super) fn flush_in_time(&self, before_sending: impl FnOnce()) -> Option<Duration> {
        // Whoever has it sends: nobody waits for that, as other connections may be due.
        let Some(mut queue) = self.try_lock_sender() else {
            return self.may_be_used().then_some(SENDS);
        };
        let now = Instant::now();
        let waits = queue.due.map(|due| due.saturating_duration_since(now));
        if waits.is_some_and(|time| time.is_zero()) && !queue.is_empty() {
            before_sending();
            self.send_what_waits(&mut queue, Deadline::after(FLUSH));
        }
        let look = queue.gathering.look(now);
        if look.pushes {
            self.push();
        }
        let waits = waits.filter(|_| !queue.is_empty());
        look.again.into_iter().chain(waits).min()
    }

    /// Nobody looks after the connection: each one-way leaves at once until somebody does.
    pub(crate) fn is_not_looked_after(&self) {
        if let Some(mut queue) = self.try_lock_sender() {
            queue.gathering.is_unwatched();
            self.push();
        }
    }

    fn send_what_waits(&self, queue: &mut Sending<'_>, deadline: Deadline) {
        if !queue.is_empty() {
            // It was logged; whom it would concern has gone on.
            let _ = self.flush_locked(queue, deadline);
        }
    }

    /// Lets go out what the transport has kept back. Under the sending lock.
    fn push(&self) {
        if let Some(gatherer) = self.link.gatherer() {
            gatherer.push();
        }
    }

    pub(super) fn flush_locked(
        &self,
        queue: &mut Sending<'_>,
        deadline: Deadline,
    ) -> Result<(), SendError> {
        let count = queue.len();
        let sent = self.send_queue(queue, deadline);
        if let Err(error) = &sent {
            self.break_off(&Broken::off(format!(
                "the connection broke off while buffered requests were sent: {error}"
            )));
            queue.has_lost_all(count, error);
        }
        sent
    }

    /// Sends all of a queue, with as few messages and system calls as may be.
    fn send_queue(&self, queue: &mut Sending<'_>, deadline: Deadline) -> Result<(), SendError> {
        queue.octets = 0;
        queue.due = None;
        if queue.in_run > 0 {
            queue.in_run = 0;
            let sent = self.link.send(&[IoSlice::new(&queue.run)], deadline);
            queue.run.reuse();
            sent?;
        }
        if queue.waiting.is_empty() {
            return Ok(());
        }
        let waiting = std::mem::take(&mut queue.waiting);
        let mut messages: Vec<Block> = Vec::new();
        let mut rest = waiting.into_iter().peekable();
        while let Some(first) = rest.next() {
            let (object_key, operation, request) = match first {
                Waiting::Message(mut message) => {
                    self.wire.session.stamp(&mut message);
                    messages.push(message);
                    continue;
                }
                Waiting::Body {
                    object_key,
                    operation,
                    request,
                } => (object_key, operation, request),
            };
            let room = self
                .wire
                .largest
                .map(|largest| largest.saturating_sub(HEAD_ROOM));
            let mut octets = request.body.len() + BODY_ROOM;
            let mut requests = vec![request];
            while let Some(next) = rest.next_if(|next| {
                let fits = room.is_none_or(|room| octets + next.octets() <= room);
                fits && next.is_to(&object_key, operation.as_str())
            }) {
                octets += next.octets();
                if let Waiting::Body { request, .. } = next {
                    requests.push(request);
                }
            }
            let coding = Coding::new(self.wire.version, &self.wire.limits);
            let block = self.lend();
            match self
                .wire
                .session
                .batch(block, &object_key, operation.as_str(), &requests, coding)
            {
                Ok(message) => messages.push(message),
                Err(error) => queue.has_lost(requests.len(), &error),
            }
        }
        self.send_all(&messages, deadline)
    }

    /// As one gather write over a stream, one by one as datagrams.
    fn send_all(&self, messages: &[Block], deadline: Deadline) -> Result<(), SendError> {
        for message in messages {
            self.tracer.sent(&*self.link, message);
        }
        if self.wire.largest.is_some() {
            return messages.iter().try_for_each(|message| {
                messaging::send_untraced(&*self.link, message, self.wire.fragmenting, deadline)
            });
        }
        let mut sent = 0;
        for group in messages.chunks(GATHERED) {
            let parts: Vec<IoSlice<'_>> = group.iter().map(|one| IoSlice::new(one)).collect();
            self.link
                .send(&parts, deadline)
                .map_err(|error| SendError {
                    sent: sent + error.sent,
                    error: error.error,
                })?;
            sent += group.iter().map(|one| one.len()).sum::<usize>();
        }
        Ok(())
    }
}
