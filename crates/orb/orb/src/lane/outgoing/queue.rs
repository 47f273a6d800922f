//! One-way requests that wait to be sent together (paper 000, figure 6: delayed buffering).
//!
//! They wait on their connection, in order. What ends the wait: as many or as large as configured, the
//! delay, a request that does not wait (it may not overtake), [`crate::ObjectRef::flush`], the ORB's
//! end. A protocol with batches joins requests to one operation of one object in one message; GIOP
//! sends them all with one gather write.

use super::gathering::Gathering;
use crate::messaging::QueuedRequest;
use crate::operation::KeptName;
use crate::policy::Buffering;
use punctual_cdr::Block;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// What a body may add in padding, length, number and time stamp.
pub(super) const BODY_ROOM: usize = 32;

/// What waits on one connection.
#[derive(Debug)]
pub(super) struct Queue {
    pub(super) waiting: Vec<Waiting>,
    /// Messages that are sent as they are, one behind the other; they come before those of `waiting`.
    pub(super) run: Block,
    /// How many those are.
    pub(super) in_run: usize,
    pub(super) octets: usize,
    /// By when what waits is to be sent.
    pub(super) due: Option<Instant>,
    /// Of one-ways that do not wait.
    pub(super) gathering: Gathering,
}

/// A request as it waits.
#[derive(Debug)]
pub(crate) enum Waiting {
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
    pub(crate) fn body(object_key: Arc<[u8]>, operation: KeptName, body: Block) -> Self {
        let queued_at = SystemTime::now();
        Self::Body {
            object_key,
            operation,
            request: QueuedRequest { body, queued_at },
        }
    }

    pub(crate) fn octets(&self) -> usize {
        match self {
            Self::Message(message) => message.len(),
            Self::Body { request, .. } => request.body.len() + BODY_ROOM,
        }
    }
}

impl Queue {
    /// An empty one, and how long one-ways may be kept back that do not wait in it.
    pub(super) fn new(gather: Duration) -> Self {
        Self {
            waiting: Vec::new(),
            run: Block::default(),
            in_run: 0,
            octets: 0,
            due: None,
            gathering: Gathering::new(gather),
        }
    }

    /// Notes in what time what waits is to be sent, if something does; gives that back.
    pub(super) fn is_due_after(&mut self, delay: Option<Duration>) -> Option<Duration> {
        let delay = delay.filter(|_| !self.is_empty())?;
        self.due = Instant::now().checked_add(delay);
        Some(delay)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.in_run == 0 && self.waiting.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.in_run + self.waiting.len()
    }

    /// Adds a message to those that are sent as they are; `true` when it is time to send.
    #[inline]
    pub(super) fn append(&mut self, message: &[u8], when: Buffering) -> bool {
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

impl Waiting {
    pub(super) fn is_to(&self, key: &Arc<[u8]>, name: &str) -> bool {
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
