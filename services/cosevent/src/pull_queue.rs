//! Queue of a consumer that pulls: events that wait for a call, or calls that wait for an event.

use std::collections::VecDeque;

use crate::event::EventData;
use crate::limits::{Discard, Limits};

/// Bounded queue of events, and of waiting calls of type `W`. One of the two is always empty.
#[derive(Debug)]
pub(crate) struct PullQueue<W> {
    events: VecDeque<EventData>,
    bytes: usize,
    calls: VecDeque<W>,
    most_events: usize,
    most_bytes: usize,
    most_calls: usize,
    discard: Discard,
    is_closed: bool,
}

/// Outcome of offering an event.
#[derive(Debug)]
pub(crate) enum Offered<W> {
    /// The event is in the queue; this number of other events was discarded for it.
    Kept(usize),
    /// The event was discarded.
    Discarded,
    /// The queue has been closed.
    Closed,
    /// A pull call waits for the event.
    Awaited(W, EventData),
}

/// Outcome of a call that waits if there is no event.
#[derive(Debug)]
pub(crate) enum Taken<W> {
    Event(W, EventData),
    Waits,
    /// As many calls wait as may.
    Refused(W),
    /// The queue has been closed.
    Closed(W),
}

impl<W> PullQueue<W> {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            events: VecDeque::new(),
            bytes: 0,
            calls: VecDeque::new(),
            most_events: limits.queue_events.max(1),
            most_bytes: limits.queue_bytes,
            most_calls: limits.waiting_pulls,
            discard: limits.discard,
            is_closed: false,
        }
    }

    /// Offers an event to the call that has waited longest, else to the queue.
    pub(crate) fn offer(&mut self, event: EventData) -> Offered<W> {
        if let Some(call) = self.calls.pop_front() {
            return Offered::Awaited(call, event);
        }
        if self.is_closed {
            return Offered::Closed;
        }
        let mut discarded = 0;
        while !self.has_room(&event) {
            if self.discard == Discard::Newest {
                return Offered::Discarded;
            }
            self.pop();
            discarded += 1;
        }
        self.bytes += event.bytes();
        self.events.push_back(event);
        Offered::Kept(discarded)
    }

    /// Puts an event back in front, whose call had ended. It was in the queue before, and so is not refused.
    pub(crate) fn put_back(&mut self, event: EventData) -> Offered<W> {
        if let Some(call) = self.calls.pop_front() {
            return Offered::Awaited(call, event);
        }
        if self.is_closed {
            return Offered::Closed;
        }
        self.bytes += event.bytes();
        self.events.push_front(event);
        Offered::Kept(0)
    }

    /// Takes the oldest event, if there is one.
    pub(crate) fn take(&mut self) -> Option<EventData> {
        self.pop()
    }

    /// Takes the oldest event for a call, or has the call wait.
    pub(crate) fn take_or_wait(&mut self, call: W, is_awaited: impl Fn(&W) -> bool) -> Taken<W> {
        if let Some(event) = self.pop() {
            return Taken::Event(call, event);
        }
        if self.is_closed {
            return Taken::Closed(call);
        }
        if self.calls.len() >= self.most_calls {
            self.calls.retain(is_awaited);
        }
        if self.calls.len() >= self.most_calls {
            return Taken::Refused(call);
        }
        self.calls.push_back(call);
        Taken::Waits
    }

    /// Takes the calls that wait.
    pub(crate) fn take_calls(&mut self) -> VecDeque<W> {
        std::mem::take(&mut self.calls)
    }

    /// Empties the queue, which takes neither events nor calls any more. Returns the calls that waited, and the
    /// number of events that were in it.
    pub(crate) fn close(&mut self) -> (VecDeque<W>, usize) {
        let events = std::mem::take(&mut self.events);
        self.bytes = 0;
        self.is_closed = true;
        (self.take_calls(), events.len())
    }

    fn pop(&mut self) -> Option<EventData> {
        let event = self.events.pop_front()?;
        self.bytes -= event.bytes();
        Some(event)
    }

    /// An empty queue has room for any event, so that none waits for ever.
    fn has_room(&self, event: &EventData) -> bool {
        let fits = self.bytes.saturating_add(event.bytes()) <= self.most_bytes;
        self.events.is_empty() || (self.events.len() < self.most_events && fits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual::Any;

    fn event(number: i32) -> EventData {
        EventData::new(Any::new(&number).unwrap())
    }

    fn number(event: &EventData) -> i32 {
        event.any().extract().unwrap()
    }

    fn queue(limits: Limits) -> PullQueue<&'static str> {
        PullQueue::new(&limits)
    }

    fn all(queue: &mut PullQueue<&'static str>) -> Vec<i32> {
        std::iter::from_fn(|| queue.take())
            .map(|event| number(&event))
            .collect()
    }

    #[test]
    fn a_full_queue_gives_up_its_oldest_or_the_newest_event() {
        for (discard, left) in [(Discard::Oldest, vec![3, 4]), (Discard::Newest, vec![1, 2])] {
            let mut queue = queue(Limits {
                queue_events: 2,
                discard,
                ..Limits::default()
            });
            let mut lost = 0;
            for number in 1..=4 {
                lost += match queue.offer(event(number)) {
                    Offered::Kept(discarded) => discarded,
                    _ => 1,
                };
            }
            assert_eq!((lost, all(&mut queue)), (2, left));
        }
    }

    #[test]
    fn bytes_bound_a_queue_but_one_event_always_has_room() {
        let mut queue = queue(Limits {
            queue_bytes: 1,
            ..Limits::default()
        });
        assert!(matches!(queue.offer(event(1)), Offered::Kept(0)));
        assert!(matches!(queue.offer(event(2)), Offered::Kept(1)));
        assert_eq!(all(&mut queue), [2]);
    }

    #[test]
    fn calls_wait_in_their_order_and_only_so_many() {
        let mut queue = queue(Limits {
            waiting_pulls: 2,
            ..Limits::default()
        });
        for call in ["first", "second"] {
            assert!(matches!(queue.take_or_wait(call, |_| true), Taken::Waits));
        }
        let refused = queue.take_or_wait("third", |_| true);
        assert!(matches!(refused, Taken::Refused("third")));
        // One of the calls is not awaited any more, and makes room.
        let waits = queue.take_or_wait("third", |call| *call != "first");
        assert!(matches!(waits, Taken::Waits));
        let Offered::Awaited(call, awaited) = queue.offer(event(1)) else {
            panic!("no call waits");
        };
        assert_eq!((call, number(&awaited)), ("second", 1));
        let (calls, events) = queue.close();
        assert_eq!((calls.len(), events), (1, 0));
        let closed = queue.take_or_wait("fourth", |_| true);
        assert!(matches!(closed, Taken::Closed("fourth")));
        assert!(matches!(queue.offer(event(2)), Offered::Closed));
    }

    #[test]
    fn an_event_that_is_put_back_is_the_next() {
        let mut queue = queue(Limits::default());
        let _ = queue.offer(event(2));
        let _ = queue.put_back(event(1));
        assert_eq!(all(&mut queue), [1, 2]);
    }
}
