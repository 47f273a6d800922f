//! One-way requests that wait to be sent together (paper 000, figure 6: delayed buffering).
//!
//! They wait on their connection, in order. What ends the wait: as many or as large as configured, the
//! delay, a request that does not wait (it may not overtake), [`crate::ObjectRef::flush`], the ORB's
//! end. A protocol with batches joins requests to one operation of one object in one message; GIOP
//! sends them all with one gather write.

use super::delivered::Broken;
use super::mux::ClientConnection;
use super::operation::KeptName;
use crate::messaging::{self, Direction, QueuedRequest};
use punctual_cdr::{Block, Coding};
use punctual_exec::Deadline;
use punctual_link::{LinkError, Phase, SendError};
use std::io::IoSlice;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// How long buffered requests may take to be sent when nobody waits for that.
const FLUSH: Duration = Duration::from_secs(5);
/// Room left for a batch's head in a datagram.
const HEAD_ROOM: usize = 1024;
/// What a body may add in padding, length, number and time stamp.
const BODY_ROOM: usize = 32;

/// When one-way requests that are buffered go out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffering {
    /// At the latest when this many wait. At least 1.
    pub messages: usize,
    /// At the latest when this many octets of them wait.
    pub octets: usize,
    /// At the latest after this time; `None` waits for the others.
    pub delay: Option<Duration>,
}

impl Default for Buffering {
    /// 64 requests or 32 KiB or 5 ms.
    fn default() -> Self {
        Self {
            messages: 64,
            octets: 32 * 1024,
            delay: Some(Duration::from_millis(5)),
        }
    }
}

/// What waits on one connection.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: Vec<Waiting>,
    /// Messages that are sent as they are, one behind the other; they come before those of `waiting`.
    run: Block,
    /// How many those are.
    in_run: usize,
    octets: usize,
}

/// A request as it waits.
#[derive(Debug)]
pub(super) enum Waiting {
    /// A message as it will be sent.
    Message(Block),
    /// The body of a request, to be joined with others.
    Body {
        object_key: Arc<[u8]>,
        operation: KeptName,
        request: QueuedRequest,
    },
}

impl Waiting {
    pub(super) fn body(object_key: Arc<[u8]>, operation: KeptName, body: Block) -> Self {
        let queued_at = SystemTime::now();
        Self::Body {
            object_key,
            operation,
            request: QueuedRequest { body, queued_at },
        }
    }

    pub(super) fn octets(&self) -> usize {
        match self {
            Self::Message(message) => message.len(),
            Self::Body { request, .. } => request.body.len() + BODY_ROOM,
        }
    }
}

impl Queue {
    pub(super) fn is_empty(&self) -> bool {
        self.in_run == 0 && self.waiting.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.in_run + self.waiting.len()
    }

    /// Adds a message to those that are sent as they are; `true` when it is time to send.
    #[inline]
    fn append(&mut self, message: &[u8], when: Buffering) -> bool {
        self.octets += message.len();
        self.in_run += 1;
        self.run.extend_from_slice(message);
        self.in_run >= when.messages || self.octets >= when.octets
    }

    /// Adds a request; `true` when it is time to send.
    pub(super) fn push(&mut self, waiting: Waiting, when: Buffering) -> bool {
        self.octets += waiting.octets();
        self.waiting.push(waiting);
        self.len() >= when.messages || self.octets >= when.octets
    }
}

impl ClientConnection {
    /// Lets a one-way request wait for others. Sends them all if it is time; otherwise tells by when
    /// somebody is to do so, if this one is the first.
    pub(super) fn enqueue(
        &self,
        waiting: Waiting,
        when: Buffering,
        deadline: Deadline,
    ) -> Result<Option<Duration>, SendError> {
        let Some(mut queue) = self.lock_sender(deadline) else {
            let error = LinkError::timed_out(Phase::Send);
            return Err(SendError { error, sent: 0 });
        };
        let first = queue.is_empty();
        if queue.push(waiting, when) {
            // This one is among those that may be under way.
            self.flush_locked(&mut queue, deadline)?;
        }
        Ok(when.delay.filter(|_| first && !queue.is_empty()))
    }

    /// The same, of a message that is sent as it is ([`ClientConnection::sends_as_is`]).
    #[inline]
    pub(super) fn append(
        &self,
        message: &[u8],
        when: Buffering,
        deadline: Deadline,
    ) -> Result<Option<Duration>, SendError> {
        let Some(mut queue) = self.lock_sender(deadline) else {
            let error = LinkError::timed_out(Phase::Send);
            return Err(SendError { error, sent: 0 });
        };
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
        Ok(when.delay.filter(|_| first && !queue.is_empty()))
    }

    /// Whether messages that wait may be put one behind the other: over a stream, in a protocol whose
    /// messages are the same whenever they leave, and where nobody looks at each.
    #[inline]
    pub(super) fn sends_as_is(&self) -> bool {
        self.largest.is_none() && !self.abilities.batches && !self.tracer.is_on()
    }

    /// Sends what waits.
    pub(crate) fn flush(&self, deadline: Deadline) {
        if let Some(mut queue) = self.lock_sender(deadline).filter(|queue| !queue.is_empty()) {
            // It was logged; whom it would concern has gone on.
            let _ = self.flush_locked(&mut queue, deadline);
        }
    }

    /// Sends what has waited long enough, for callers who have gone on long ago.
    pub(crate) fn flush_in_time(&self) {
        self.flush(Deadline::after(FLUSH));
    }

    pub(super) fn flush_locked(
        &self,
        queue: &mut Queue,
        deadline: Deadline,
    ) -> Result<(), SendError> {
        let count = queue.len();
        let sent = self.send_queue(queue, deadline);
        if let Err(error) = &sent {
            tracing::warn!(peer = %self.peer(), count, "buffered one-way requests are lost: {error}");
            self.break_off(&Broken::off(format!(
                "the connection broke off while buffered requests were sent: {error}"
            )));
        }
        sent
    }

    /// Sends all of a queue, with as few messages and system calls as may be.
    pub(super) fn send_queue(
        &self,
        queue: &mut Queue,
        deadline: Deadline,
    ) -> Result<(), SendError> {
        queue.octets = 0;
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
                    self.session.stamp(&mut message);
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
            let coding = Coding::new(self.version, &self.limits);
            let block = self.lend();
            match self
                .session
                .batch(block, &object_key, operation.as_str(), &requests, coding)
            {
                Ok(message) => messages.push(message),
                Err(error) => {
                    tracing::warn!(peer = %self.peer(), "one-way requests are lost: {error}");
                }
            }
        }
        self.send_all(&messages, deadline)
    }

    /// As one gather write over a stream, one by one as datagrams.
    fn send_all(&self, messages: &[Block], deadline: Deadline) -> Result<(), SendError> {
        for message in messages {
            self.tracer.show(Direction::Sent, self.link.peer(), message);
        }
        if self.largest.is_some() {
            return messages.iter().try_for_each(|message| {
                messaging::send_untraced(&*self.link, message, self.fragmenting, deadline)
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

/// Messages that go out with one system call: what the kernel takes in one (`IOV_MAX`).
const GATHERED: usize = 1024;

impl Waiting {
    fn is_to(&self, key: &Arc<[u8]>, name: &str) -> bool {
        match self {
            Self::Message(_) => false,
            Self::Body {
                object_key,
                operation,
                ..
            } => object_key == key && operation.as_str() == name,
        }
    }
}
