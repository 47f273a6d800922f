//! What policies say of requests that wait in queues, put together.

use super::buffering::{BufferCapacity, Buffering};
use super::ends::deadline;
use super::queue_order::{Order, PriorityRange};
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
}

impl Queued {
    /// When the time has come of a request that begins now, if it has to wait for that.
    pub(crate) fn request_begins(&self) -> Option<Deadline> {
        self.request_start.map(|start| deadline(Some(start)))
    }

    /// The same of its reply.
    pub(crate) fn reply_begins(&self) -> Option<Deadline> {
        self.reply_start.map(|start| deadline(Some(start)))
    }

    pub(crate) fn is_any(&self) -> bool {
        *self != Self::default()
    }
}
