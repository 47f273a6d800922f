//! Queue of requests that wait in the client to be sent together (O'Ryan et al. 2001, §4.2.4; Schmidt et al. 2001, figure 6:
//! delayed buffering).
//!
//! It has a lock of its own that is never held while messages are sent, so that a server that receives nothing does not
//! prevent callers from adding requests. Requests are taken out only under the sending lock and all at once, so that
//! they are sent in the order in which they were added, or sorted by their [`Order`]. A protocol with batches combines
//! requests for one operation of one object in one message; GIOP sends all messages with one gather write.

use crate::messaging::QueuedRequest;
use crate::operation::KeptName;
use crate::policy::{BufferTerms, Order};
use punctual_cdr::Block;
use punctual_exec::Deadline;
use std::cmp::Reverse;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// Maximum bytes that a batch adds to a request's body: padding, length, number and time stamp.
pub(in crate::lane::outgoing) const BODY_ROOM: usize = 32;

/// Queue of unsent requests of one connection.
#[derive(Debug, Default)]
pub(in crate::lane::outgoing) struct Queue {
    waiting: Vec<Waiting>,
    /// Concatenated messages that are sent unchanged, before those of `waiting`.
    run: Block,
    /// Number of messages in the block `run`.
    in_run: usize,
    pub(in crate::lane::outgoing) octets: usize,
    /// Latest time at which the requests are to be sent.
    pub(in crate::lane::outgoing) due: Option<Instant>,
    /// True if the connection accepts no further requests.
    pub(in crate::lane::outgoing) is_closed: bool,
}

/// Request that waits in the connection's queue to be sent.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(in crate::lane::outgoing) content: Content,
    /// End time, after which the request is not sent.
    until: Deadline,
    /// Id of the request, if its reply is awaited.
    id: Option<u32>,
    order: Order,
    priority: i16,
}

#[derive(Debug)]
pub(in crate::lane::outgoing) enum Content {
    /// Complete encoded message.
    Message(Block),
    /// Body of a request, to be combined with others in one message.
    Body {
        object_key: Arc<[u8]>,
        operation: KeptName,
        request: QueuedRequest,
    },
}

/// Requests that were taken out of the queue to be sent.
#[derive(Debug, Default)]
pub(in crate::lane::outgoing) struct TakenRequests {
    pub(in crate::lane::outgoing) run: Block,
    pub(in crate::lane::outgoing) waiting: Vec<Waiting>,
    /// Number of requests in the two fields above together.
    pub(in crate::lane::outgoing) count: usize,
    /// Requests whose end time passed in the queue, and which are not sent.
    pub(in crate::lane::outgoing) late: Vec<Waiting>,
}

impl Waiting {
    /// Makes a queued request of a complete message; `id` is given for a request whose reply is
    /// awaited.
    pub(crate) fn message(message: Block, id: Option<u32>) -> Self {
        Self::of(Content::Message(message), id)
    }

    /// Makes a queued request of the body of a one-way, to be combined with others.
    pub(crate) fn body(object_key: Arc<[u8]>, operation: KeptName, body: Block) -> Self {
        let queued_at = SystemTime::now();
        let request = QueuedRequest { body, queued_at };
        let content = Content::Body {
            object_key,
            operation,
            request,
        };
        Self::of(content, None)
    }

    fn of(content: Content, id: Option<u32>) -> Self {
        Self {
            content,
            until: Deadline::NEVER,
            id,
            order: Order::Temporal,
            priority: 0,
        }
    }

    /// Sets the buffering terms, and the time until which the request may be sent.
    pub(in crate::lane::outgoing) fn on(self, terms: &BufferTerms, until: Deadline) -> Self {
        Self {
            until,
            order: terms.order,
            priority: terms.priority,
            ..self
        }
    }

    pub(crate) fn octets(&self) -> usize {
        match &self.content {
            Content::Message(message) => message.len(),
            Content::Body { request, .. } => request.body.len() + BODY_ROOM,
        }
    }

    /// Returns the id of the request, if its reply is awaited.
    pub(in crate::lane::outgoing) fn id(&self) -> Option<u32> {
        self.id
    }

    pub(in crate::lane::outgoing) fn is_to(&self, key: &Arc<[u8]>, name: &str) -> bool {
        match &self.content {
            Content::Message(_) => false,
            Content::Body {
                object_key,
                operation,
                ..
            } => object_key == key && operation.as_str() == name,
        }
    }
}

impl Queue {
    /// Sets the delay after which the buffered requests are due, and returns the delay.
    pub(in crate::lane::outgoing) fn set_due_after(
        &mut self,
        delay: Option<Duration>,
    ) -> Option<Duration> {
        self.due = Instant::now().checked_add(delay?);
        delay
    }

    pub(in crate::lane::outgoing) fn is_empty(&self) -> bool {
        self.in_run == 0 && self.waiting.is_empty()
    }

    pub(in crate::lane::outgoing) fn len(&self) -> usize {
        self.in_run + self.waiting.len()
    }

    /// Returns `true` if messages may be appended to `run`: no request is queued that they would
    /// overtake.
    #[inline]
    pub(in crate::lane::outgoing) fn takes_as_is(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Appends a message that is sent unchanged, if [`Queue::takes_as_is`] allows it. `memory`
    /// allocates the memory for the first one.
    #[inline]
    pub(in crate::lane::outgoing) fn append(
        &mut self,
        message: &[u8],
        memory: impl FnOnce() -> Block,
    ) {
        if self.run.capacity() == 0 {
            self.run = memory();
        }
        self.octets += message.len();
        self.in_run += 1;
        self.run.extend_from_slice(message);
    }

    /// Adds a request to the queue.
    pub(in crate::lane::outgoing) fn push(&mut self, waiting: Waiting) {
        self.octets += waiting.octets();
        self.waiting.push(waiting);
    }

    /// Returns `true` if the number or the size of the requests has reached a limit of the
    /// buffering terms.
    #[inline]
    pub(in crate::lane::outgoing) fn is_due(&self, terms: &BufferTerms) -> bool {
        self.len() >= terms.when.messages || self.octets >= terms.when.octets
    }

    /// Takes all requests out, in the order in which they are to be sent. `spare` becomes the
    /// memory for later ones.
    pub(in crate::lane::outgoing) fn take(&mut self, spare: Block) -> TakenRequests {
        let count = self.len();
        let waiting = std::mem::take(&mut self.waiting);
        let (late, mut waiting): (Vec<_>, Vec<_>) =
            waiting.into_iter().partition(|one| one.until.has_passed());
        put_in_order(&mut waiting);
        self.in_run = 0;
        self.octets = 0;
        self.due = None;
        TakenRequests {
            run: std::mem::replace(&mut self.run, spare),
            waiting,
            count: count - late.len(),
            late,
        }
    }

    /// Returns whether the request with this id is queued.
    pub(in crate::lane::outgoing) fn holds(&self, id: u32) -> bool {
        self.waiting.iter().any(|one| one.id == Some(id))
    }

    /// Removes the request `id` from the queue, and returns `true` if it was there.
    pub(in crate::lane::outgoing) fn withdraw(&mut self, id: u32) -> bool {
        let place = self.waiting.iter().position(|one| one.id == Some(id));
        let Some(place) = place else {
            return false;
        };
        self.octets -= self.waiting.remove(place).octets();
        true
    }
}

/// Sorts each series of successive requests that have the same [`Order`] by that order. Requests of
/// different orders do not overtake one another.
fn put_in_order(waiting: &mut [Waiting]) {
    let same_order = |one: &Waiting, other: &Waiting| one.order == other.order;
    for group in waiting.chunk_by_mut(same_order) {
        // Both sorts are stable.
        match group.first().map(|one| one.order) {
            Some(Order::Priority) => group.sort_by_key(|one| Reverse(one.priority)),
            Some(Order::Deadline) => {
                group.sort_by_key(|one| one.until.end_nanos().unwrap_or(u64::MAX));
            }
            Some(Order::Temporal) | None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(octet: u8, order: Order, priority: i16, until: Deadline) -> Waiting {
        let terms = BufferTerms {
            order,
            priority,
            ..BufferTerms::default()
        };
        Waiting::message(Block::from_vec(vec![octet]), Some(octet.into())).on(&terms, until)
    }

    fn octets_of(waiting: &[Waiting]) -> Vec<u8> {
        let octet = |one: &Waiting| match &one.content {
            Content::Message(block) => block[0],
            Content::Body { .. } => 0,
        };
        waiting.iter().map(octet).collect()
    }

    fn queue(requests: impl IntoIterator<Item = Waiting>) -> Queue {
        let mut queue = Queue::default();
        requests.into_iter().for_each(|one| queue.push(one));
        queue
    }

    #[test]
    fn the_highest_priority_leaves_first_and_of_those_the_first() {
        let by_priority =
            |(octet, priority)| waiting(octet, Order::Priority, priority, Deadline::NEVER);
        let mut queue = queue([(1, 5), (2, 7), (3, -1), (4, 7)].map(by_priority));
        assert_eq!(
            octets_of(&queue.take(Block::default()).waiting),
            [2, 4, 1, 3]
        );
        assert!(queue.is_empty() && queue.octets == 0);
    }

    #[test]
    fn the_earliest_end_leaves_first_and_none_passes_one_of_another_order() {
        let after = |seconds| Deadline::after(Duration::from_secs(seconds));
        let mut queue = queue([
            waiting(1, Order::Deadline, 0, Deadline::NEVER),
            waiting(2, Order::Deadline, 0, after(90)),
            waiting(3, Order::Deadline, 0, after(60)),
            waiting(4, Order::Temporal, 0, after(30)),
            waiting(5, Order::Deadline, 0, Deadline::NEVER),
            waiting(6, Order::Deadline, 0, after(30)),
        ]);
        let taken = queue.take(Block::default());
        assert_eq!(octets_of(&taken.waiting), [3, 2, 1, 4, 6, 5]);
    }

    #[test]
    fn what_is_late_or_withdrawn_is_not_sent() {
        let mut queue = queue([
            waiting(1, Order::Temporal, 0, Deadline::NEVER),
            waiting(2, Order::Temporal, 0, Deadline::after(Duration::ZERO)),
            waiting(3, Order::Temporal, 0, Deadline::NEVER),
        ]);
        assert!(queue.withdraw(3) && !queue.withdraw(3));
        assert_eq!(queue.octets, 2);
        let taken = queue.take(Block::default());
        assert_eq!(octets_of(&taken.waiting), [1]);
        assert_eq!(octets_of(&taken.late), [2]);
        assert_eq!(taken.count, 1);
    }
}
