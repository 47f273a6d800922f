//! Parameters of requests in queues, combined from policies.

use super::buffering::{BufferCapacity, Buffering, WhenFull};
use super::ends::deadline;
use super::queue_order::{Order, PriorityRange, QueueOrder};
use punctual_exec::Deadline;
use std::time::SystemTime;

/// Terms under which a request waits in the client's buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BufferTerms {
    pub(crate) when: Buffering,
    pub(crate) capacity: BufferCapacity,
    pub(crate) order: Order,
    /// Priority of the request, used if the order is by priority.
    pub(crate) priority: i16,
}

impl BufferTerms {
    /// Returns whether a full buffer is sent at once when callers wait for room. It is not if only
    /// the application decides when the buffer is sent (`EXPLICIT`).
    pub(crate) fn sends_when_full(&self) -> bool {
        self.capacity.when_full == WhenFull::Block && self.when != Buffering::EXPLICIT
    }

    /// Returns whether requests are sent in the order in which they were made.
    #[inline]
    pub(crate) fn has_arrival_order(&self) -> bool {
        self.order == Order::Temporal
    }
}

/// Queueing policies that requests carry for queues in routers and servers, apart from their end times
/// ([`super::EndTimes`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Queued {
    pub(crate) request_priority: Option<PriorityRange>,
    pub(crate) reply_priority: Option<PriorityRange>,
    pub(crate) request_start: Option<SystemTime>,
    pub(crate) reply_start: Option<SystemTime>,
    /// Queue order, if it is not the order of arrival.
    pub(crate) order: Option<QueueOrder>,
}

/// Earliest time at which a request may be sent, and earliest time at which its reply may be given
/// to the caller; `None` for no restriction.
#[derive(Debug)]
pub(crate) struct StartTimes {
    pub(crate) request: Option<Deadline>,
    pub(crate) reply: Option<Deadline>,
}

impl Queued {
    /// Returns the request's and the reply's start times, for a call that begins now; `None` if the
    /// policies set neither.
    pub(crate) fn starts(&self) -> Option<Box<StartTimes>> {
        if self.request_start.is_none() && self.reply_start.is_none() {
            return None;
        }
        let begins = |start: Option<SystemTime>| start.map(|start| deadline(Some(start)));
        Some(Box::new(StartTimes {
            request: begins(self.request_start),
            reply: begins(self.reply_start),
        }))
    }

    pub(crate) fn is_any(&self) -> bool {
        *self != Self::default()
    }
}
