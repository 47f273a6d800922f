//! What policies say of requests that wait in queues, put together.

use super::buffering::{BufferCapacity, Buffering, WhenFull};
use super::ends::deadline;
use super::queue_order::{Order, PriorityRange, QueueOrder};
use punctual_exec::Deadline;
use std::time::SystemTime;

/// How a request waits in its client's buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BufferTerms {
    pub(crate) when: Buffering,
    pub(crate) capacity: BufferCapacity,
    pub(crate) order: Order,
    /// Where the order is by priority.
    pub(crate) priority: i16,
}

impl BufferTerms {
    /// Whether a buffer without room, whose callers wait, is sent as if a condition had been met: unless it is for
    /// the application alone to say when it is sent, as nothing else might ever be met.
    pub(crate) fn sends_when_full(&self) -> bool {
        self.capacity.when_full == WhenFull::Block && self.when != Buffering::EXPLICIT
    }

    /// Whether requests leave in the order in which they were made.
    #[inline]
    pub(crate) fn has_arrival_order(&self) -> bool {
        self.order == Order::Temporal
    }
}

/// What requests tell of themselves to whoever queues them, but for their end times ([`super::Ends`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Queued {
    pub(crate) request_priority: Option<PriorityRange>,
    pub(crate) reply_priority: Option<PriorityRange>,
    pub(crate) request_start: Option<SystemTime>,
    pub(crate) reply_start: Option<SystemTime>,
    /// Where it is another than that in which they come.
    pub(crate) order: Option<QueueOrder>,
}

/// Before when a request may not leave, if that is yet to come, and before when its reply may not be given to the caller.
#[derive(Debug)]
pub(crate) struct Starts {
    pub(crate) request: Option<Deadline>,
    pub(crate) reply: Option<Deadline>,
}

impl Queued {
    /// When the times have come of a request that begins now and of its reply, if either has to wait.
    pub(crate) fn starts(&self) -> Option<Box<Starts>> {
        if self.request_start.is_none() && self.reply_start.is_none() {
            return None;
        }
        let begins = |start: Option<SystemTime>| start.map(|start| deadline(Some(start)));
        Some(Box::new(Starts {
            request: begins(self.request_start),
            reply: begins(self.reply_start),
        }))
    }

    pub(crate) fn is_any(&self) -> bool {
        *self != Self::default()
    }
}
