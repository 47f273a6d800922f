//! Putting requests into the buffer of a connection, and sending them.

use super::buffer::{New, NotBuffered, Put};
use super::queue::{BODY_ROOM, Content, TakenRequests, Waiting};
use crate::lane::outgoing::calls::{Broken, Delivered};
use crate::lane::outgoing::connection::ClientConnection;
use crate::lane::outgoing::sending::{LostRequests, Sender};
use crate::lane::outgoing::thread_end;
use crate::messaging::{self, QueuedRequest};
use crate::policy::{BufferTerms, WhenFull};
use punctual_cdr::{Block, Coding};
use punctual_exec::Deadline;
use punctual_link::{LinkError, Phase, SendError};
use std::io::IoSlice;
use std::iter::Peekable;
use std::time::{Duration, Instant};

/// Maximum time for sending buffered requests if no caller waits for them.
const FLUSH: Duration = Duration::from_secs(5);
/// Delay before the flusher checks a connection again on which another thread is sending.
const SENDS: Duration = Duration::from_millis(1);
/// Bytes reserved for the header of a batch in a datagram.
const HEAD_ROOM: usize = 1024;
/// Maximum number of messages of one system call: the kernel's limit (`IOV_MAX`).
const GATHERED: usize = 1024;

impl ClientConnection {
    /// Puts a request into the buffer; it is not sent after `deadline`. If a condition of its
    /// buffering terms is met, sends all requests, or returns zero so that another thread sends
    /// them at once. Otherwise returns the time within which they must be sent, if this is the
    /// first request. Calls `send_at_once`, which makes another thread send them, before it waits
    /// for room.
    pub(crate) fn enqueue(
        &self,
        waiting: Waiting,
        terms: &BufferTerms,
        (deadline, send_at_once): (Deadline, &dyn Fn()),
    ) -> Result<Option<Duration>, NotBuffered> {
        let waiting = waiting.on(terms, deadline);
        self.put(New::Waiting(waiting), terms, (deadline, send_at_once))
    }

    /// Puts a message that can be sent unchanged ([`ClientConnection::sends_as_is`]) into the
    /// buffer. Otherwise works as [`ClientConnection::enqueue`].
    #[inline]
    pub(crate) fn append(
        &self,
        message: &[u8],
        terms: &BufferTerms,
        (deadline, send_at_once): (Deadline, &dyn Fn()),
    ) -> Result<Option<Duration>, NotBuffered> {
        if deadline == Deadline::NEVER && terms.has_arrival_order() {
            let new = New::AsIs(message, &|| self.lend());
            return self.put(new, terms, (deadline, send_at_once));
        }
        let mut copy = self.lend();
        copy.extend_from_slice(message);
        self.enqueue(
            Waiting::message(copy, None),
            terms,
            (deadline, send_at_once),
        )
    }

    #[inline]
    fn put(
        &self,
        mut new: New<'_>,
        terms: &BufferTerms,
        (deadline, send_at_once): (Deadline, &dyn Fn()),
    ) -> Result<Option<Duration>, NotBuffered> {
        loop {
            let put = self.buffer.put(new, terms, deadline);
            match put.map_err(|error| self.lock_failed(error))? {
                (Put::Waits(due), _) => return Ok(due),
                (Put::Due, _) => return self.send_when_full(terms, deadline),
                (Put::Full, Some(again)) => {
                    self.make_room(&again, terms, (deadline, send_at_once))?;
                    new = again;
                }
                (Put::Closed | Put::Full, _) => {
                    let error = LinkError::closed(Phase::Send);
                    return Err(SendError { error, sent: 0 }.into());
                }
            }
        }
    }

    /// Sends all buffered requests, as a limit of the buffering terms is reached.
    fn send_when_full(
        &self,
        terms: &BufferTerms,
        deadline: Deadline,
    ) -> Result<Option<Duration>, NotBuffered> {
        if terms.capacity.when_full != WhenFull::Flush {
            return Ok(Some(Duration::ZERO));
        }
        // The caller's own request may be among those under way.
        self.with_sender(deadline, |sender, lost| {
            self.flush_locked(sender, lost, deadline)
        })??;
        Ok(None)
    }

    /// Waits or sends until there is room for a request, or returns the reason why there is none.
    #[cold]
    fn make_room(
        &self,
        new: &New<'_>,
        terms: &BufferTerms,
        (deadline, send_at_once): (Deadline, &dyn Fn()),
    ) -> Result<(), NotBuffered> {
        match terms.capacity.when_full {
            WhenFull::Flush => {
                self.with_sender(deadline, |sender, lost| {
                    self.flush_locked(sender, lost, deadline)
                })??;
            }
            WhenFull::Block => {
                if terms.sends_when_full() {
                    send_at_once();
                }
                self.buffer.wait_for_room(new.octets(), terms, deadline)?;
            }
            WhenFull::Raise => return Err(NotBuffered::Full),
        }
        Ok(())
    }

    /// Returns `true` if buffered messages may be concatenated: over a stream, in a protocol whose
    /// messages do not depend on the time of sending, and without message tracing.
    #[inline]
    pub(crate) fn sends_as_is(&self) -> bool {
        self.wire.largest.is_none() && !self.wire.abilities.batches && !self.wire.tracer.is_on()
    }

    /// Sends the requests in the connection's buffer.
    pub(crate) fn flush(&self, deadline: Deadline) {
        // Failures are logged, as the callers no longer wait.
        let _ = self.with_sender(deadline, |sender, lost| {
            let _ = self.flush_locked(sender, lost, deadline);
            if sender.gathering.push() {
                self.push();
            }
        });
    }

    /// Sends all buffered requests if the request `id` is one of them.
    #[inline]
    pub(crate) fn flush_if_it_waits(&self, id: u32, deadline: Deadline) {
        if self.buffer.holds(id) {
            self.flush(deadline);
        }
    }

    /// Sends the buffered requests if they are due; no caller waits for them. Returns the time
    /// after which to check again. Calls `before_sending` before any step that a slow server may
    /// delay.
    pub(super) fn flush_in_time(&self, before_sending: impl FnOnce()) -> Option<Duration> {
        let looked = self.try_with_sender(|sender, lost| {
            let now = Instant::now();
            let due = self.buffer.due();
            let mut waits = due.map(|due| due.saturating_duration_since(now));
            if waits.is_some_and(|time| time.is_zero()) {
                before_sending();
                let _ = self.flush_locked(sender, lost, Deadline::after(FLUSH));
                waits = None;
            }
            let look = sender.gathering.look(now);
            if look.pushes {
                self.push();
            }
            look.again.into_iter().chain(waits).min()
        });
        // The flusher does not wait for a thread that sends, as other connections may be due.
        looked.unwrap_or_else(|| self.may_be_used().then_some(SENDS))
    }

    /// Makes the flusher send the requests at its next check; returns whether there are any.
    pub(in crate::lane::outgoing) fn make_due(&self) -> bool {
        self.buffer.make_due()
    }

    /// Waits until no request is buffered, or none can be sent any more.
    pub(in crate::lane::outgoing) fn wait_until_sent(&self, deadline: Deadline) -> bool {
        self.buffer.wait_until_sent(deadline)
    }

    /// Records that the flusher is not watching the connection: until it does, each one-way is sent
    /// at once.
    pub(crate) fn set_unattended(&self) {
        self.try_with_sender(|sender, _| {
            sender.gathering.set_unwatched();
            self.push();
        });
    }

    /// Sends the messages that the transport has held back, though another thread may be sending:
    /// its message may be held back, too.
    #[cold]
    pub(in crate::lane::outgoing) fn send_held_back(&self) {
        let are_held_back = self.try_with_sender(|sender, _| sender.gathering.push());
        if are_held_back.unwrap_or(true) {
            self.push();
        }
    }

    /// Sends the messages that the transport has held back.
    fn push(&self) {
        if let Some(gatherer) = self.link.gatherer() {
            gatherer.push();
        }
    }

    /// Removes a buffered request whose caller has abandoned it; returns whether it had not been
    /// sent yet.
    pub(in crate::lane::outgoing) fn withdraw(&self, id: u32) -> bool {
        self.buffer.withdraw(id)
    }

    /// Discards the buffered requests, as the connection ends. One-ways are lost; callers that wait
    /// for a reply are notified that their requests were not sent.
    pub(in crate::lane::outgoing) fn discard_buffered(&self) {
        if self.buffer.is_empty() {
            return self.buffer.close();
        }
        for id in self.buffer.lose_all() {
            let broken = Broken {
                // As after CloseConnection: the server has not begun to serve the request.
                orderly: true,
                reason: "the connection ended before the buffered request was sent".into(),
            };
            if self.callers.deliver(id, Delivered::Broken(broken)) {
                self.waiting.wake(Some(id));
            }
        }
    }

    /// Logs how many requests were lost with the connection. To be called without holding a lock.
    pub(in crate::lane::outgoing) fn log_discarded(&self) {
        let count = self.buffer.take_lost();
        if count > 0 {
            let peer = self.peer().clone();
            thread_end::log(move || {
                tracing::warn!(%peer, count, "buffered one-way requests are lost: the connection has ended");
            });
        }
    }

    /// Sends all buffered requests. To be called under the sending lock.
    pub(in crate::lane::outgoing) fn flush_locked(
        &self,
        sender: &mut Sender,
        lost: &mut LostRequests,
        deadline: Deadline,
    ) -> Result<(), SendError> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let spare = std::mem::take(&mut sender.spare);
        let taken = self.buffer.take(spare);
        let count = taken.count;
        let sent = self.send_taken(taken, sender, lost, deadline);
        self.buffer.finish_sending();
        if let Err(error) = &sent {
            lost.add(count, error);
            self.break_off(&Broken::off(format!(
                "the connection broke off while buffered requests were sent: {error}"
            )));
        }
        sent
    }

    /// Sends requests taken out of the buffer, with as few messages and system calls as possible.
    fn send_taken(
        &self,
        taken: TakenRequests,
        sender: &mut Sender,
        lost: &mut LostRequests,
        deadline: Deadline,
    ) -> Result<(), SendError> {
        let TakenRequests {
            mut run,
            waiting,
            late,
            ..
        } = taken;
        self.report_late(late, lost);
        if !run.is_empty() {
            let sent = self.link.send(&[IoSlice::new(&run)], deadline);
            run.reuse();
            sent?;
        }
        sender.spare = run;
        if waiting.is_empty() {
            return Ok(());
        }
        let messages = self.messages(waiting, lost);
        self.send_all(&messages, deadline)
    }

    /// Notifies the callers of requests whose end time has passed that these were not sent.
    fn report_late(&self, late: Vec<Waiting>, lost: &mut LostRequests) {
        let mut one_ways = 0;
        for id in late.iter().map(Waiting::id) {
            match id {
                Some(id) => {
                    if self.callers.deliver(id, Delivered::Late) {
                        self.waiting.wake(Some(id));
                    }
                }
                None => one_ways += 1,
            }
        }
        if one_ways > 0 {
            lost.add(one_ways, &"their end time has passed");
        }
    }

    /// Builds the messages for requests taken out of the buffer.
    fn messages(&self, waiting: Vec<Waiting>, lost: &mut LostRequests) -> Vec<Block> {
        let mut messages = Vec::with_capacity(waiting.len());
        let mut rest = waiting.into_iter().peekable();
        while let Some(first) = rest.next() {
            match first.content {
                Content::Message(mut message) => {
                    self.wire.session.stamp(&mut message);
                    messages.push(message);
                }
                Content::Body {
                    object_key,
                    operation,
                    request,
                } => {
                    let to = (&object_key, operation.as_str());
                    let requests = self.joined(to, request, &mut rest);
                    let coding = Coding::new(self.wire.version, &self.wire.limits);
                    let session = &self.wire.session;
                    match session.batch(self.lend(), to.0, to.1, &requests, coding) {
                        Ok(message) => messages.push(message),
                        Err(error) => lost.add(requests.len(), &error),
                    }
                }
            }
        }
        messages
    }

    /// Combines successive requests for one operation of one object, as many as fit in one message.
    fn joined(
        &self,
        (object_key, operation): (&std::sync::Arc<[u8]>, &str),
        first: QueuedRequest,
        rest: &mut Peekable<impl Iterator<Item = Waiting>>,
    ) -> Vec<QueuedRequest> {
        let largest = self.wire.largest;
        let room = largest.map(|largest| largest.saturating_sub(HEAD_ROOM));
        let mut octets = first.body.len() + BODY_ROOM;
        let mut requests = vec![first];
        while let Some(next) = rest.next_if(|next| {
            let fits = room.is_none_or(|room| octets + next.octets() <= room);
            fits && next.is_to(object_key, operation)
        }) {
            octets += next.octets();
            if let Content::Body { request, .. } = next.content {
                requests.push(request);
            }
        }
        requests
    }

    /// Sends messages: as one gather write over a stream, one by one as datagrams.
    fn send_all(&self, messages: &[Block], deadline: Deadline) -> Result<(), SendError> {
        for message in messages {
            self.wire.tracer.sent(&*self.link, message);
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
