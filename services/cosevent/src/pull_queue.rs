//! Queue of a consumer that pulls: events that wait for a call, or calls that wait for an event.
//!
//! It has a lane for each operation of a typed proxy, and one for all events of an untyped one. A call takes events of one
//! lane, or of any. The bound on events is one of all lanes together, and that on calls one of each lane: a consumer
//! that waits for each operation does not take the places of others.

use std::collections::VecDeque;

use crate::event::EventData;
use crate::limits::{Discard, Limits};

/// Bounded queue of events, and of waiting calls of type `W`. There is no event that a waiting call could take.
#[derive(Debug)]
pub(crate) struct PullQueue<W> {
    lanes: Vec<Lane<W>>,
    /// Calls that take an event of any lane.
    calls: Calls<W>,
    events: usize,
    bytes: usize,
    /// Number that the next event or call gets, by which the older one is known.
    next: u64,
    most_events: usize,
    most_bytes: usize,
    most_calls: usize,
    discard: Discard,
    is_closed: bool,
}

/// Calls that wait, with their numbers, the oldest first.
type Calls<W> = VecDeque<(u64, W)>;

/// Events and calls of one operation.
#[derive(Debug)]
struct Lane<W> {
    /// Events by their numbers, the oldest first.
    events: VecDeque<Queued>,
    calls: Calls<W>,
}

/// Event, with its place in the queue.
#[derive(Debug)]
pub(crate) struct Queued {
    number: u64,
    pub(crate) lane: usize,
    pub(crate) event: EventData,
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
    Awaited(W, Queued),
}

/// Outcome of a call that waits if there is no event.
#[derive(Debug)]
pub(crate) enum Taken<W> {
    Event(W, Queued),
    Waits,
    /// As many calls wait as may.
    Refused(W),
    /// The queue has been closed.
    Closed(W),
}

impl<W> PullQueue<W> {
    /// Makes a queue with this number of lanes, which is at least one.
    pub(crate) fn new(limits: &Limits, lanes: usize) -> Self {
        let lane = || Lane {
            events: VecDeque::new(),
            calls: VecDeque::new(),
        };
        Self {
            lanes: std::iter::repeat_with(lane).take(lanes).collect(),
            calls: VecDeque::new(),
            events: 0,
            bytes: 0,
            next: 0,
            most_events: limits.queue_events.max(1),
            most_bytes: limits.queue_bytes,
            most_calls: limits.waiting_pulls,
            discard: limits.discard,
            is_closed: false,
        }
    }

    /// Offers an event of a lane to the call that has waited longest for such a one, else to the queue.
    pub(crate) fn offer(&mut self, lane: usize, event: EventData) -> Offered<W> {
        let number = self.number();
        let queued = Queued {
            number,
            lane,
            event,
        };
        if let Some(call) = self.waiting(lane) {
            return Offered::Awaited(call, queued);
        }
        if self.is_closed {
            return Offered::Closed;
        }
        let mut discarded = 0;
        while !self.has_room(&queued.event) {
            if self.discard == Discard::Newest {
                return Offered::Discarded;
            }
            self.pop(None);
            discarded += 1;
        }
        self.insert(queued);
        Offered::Kept(discarded)
    }

    /// Puts an event back in its place, whose call had ended. It was in the queue before, and so is not refused.
    pub(crate) fn put_back(&mut self, queued: Queued) -> Offered<W> {
        if let Some(call) = self.waiting(queued.lane) {
            return Offered::Awaited(call, queued);
        }
        if self.is_closed {
            return Offered::Closed;
        }
        self.insert(queued);
        Offered::Kept(0)
    }

    /// Takes the oldest event of a lane, or of all, if there is one.
    pub(crate) fn take(&mut self, lane: Option<usize>) -> Option<Queued> {
        self.pop(lane)
    }

    /// Takes the oldest event of a lane, or of all, for a call, or has the call wait.
    pub(crate) fn take_or_wait(
        &mut self,
        lane: Option<usize>,
        call: W,
        is_awaited: impl Fn(&W) -> bool,
    ) -> Taken<W> {
        if let Some(queued) = self.pop(lane) {
            return Taken::Event(call, queued);
        }
        if self.is_closed {
            return Taken::Closed(call);
        }
        let (number, most) = (self.number(), self.most_calls);
        let calls = match lane {
            None => &mut self.calls,
            Some(lane) => match self.lanes.get_mut(lane) {
                Some(lane) => &mut lane.calls,
                None => return Taken::Refused(call),
            },
        };
        if calls.len() >= most {
            calls.retain(|(_, call)| is_awaited(call));
        }
        if calls.len() >= most {
            return Taken::Refused(call);
        }
        calls.push_back((number, call));
        Taken::Waits
    }

    /// Takes the calls that wait.
    pub(crate) fn take_calls(&mut self) -> Vec<W> {
        let of_lanes = self.lanes.iter_mut().map(|lane| &mut lane.calls);
        let calls = of_lanes.chain([&mut self.calls]).flat_map(std::mem::take);
        calls.map(|(_, call)| call).collect()
    }

    /// Empties the queue, which takes neither events nor calls any more. Returns the calls that waited, and the
    /// number of events that were in it.
    pub(crate) fn close(&mut self) -> (Vec<W>, usize) {
        for lane in &mut self.lanes {
            lane.events = VecDeque::new();
        }
        self.bytes = 0;
        self.is_closed = true;
        (self.take_calls(), std::mem::take(&mut self.events))
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Takes the call that has waited longest for an event of a lane.
    fn waiting(&mut self, lane: usize) -> Option<W> {
        let of_lane = &mut self.lanes.get_mut(lane)?.calls;
        let oldest = |calls: &Calls<W>| calls.front().map_or(u64::MAX, |(number, _)| *number);
        let calls = match oldest(of_lane) <= oldest(&self.calls) {
            true => of_lane,
            false => &mut self.calls,
        };
        calls.pop_front().map(|(_, call)| call)
    }

    fn insert(&mut self, queued: Queued) {
        let Some(lane) = self.lanes.get_mut(queued.lane) else {
            return;
        };
        self.events += 1;
        self.bytes += queued.event.bytes();
        // Behind all, unless it is put back.
        let place = match lane.events.back() {
            Some(last) if last.number > queued.number => {
                let before = |other: &Queued| other.number < queued.number;
                lane.events.partition_point(before)
            }
            _ => lane.events.len(),
        };
        lane.events.insert(place, queued);
    }

    fn pop(&mut self, lane: Option<usize>) -> Option<Queued> {
        let lane = match (lane, self.lanes.len()) {
            (Some(lane), _) => lane,
            (None, 1) => 0,
            (None, _) => self.oldest()?,
        };
        let queued = self.lanes.get_mut(lane)?.events.pop_front()?;
        self.events -= 1;
        self.bytes -= queued.event.bytes();
        Some(queued)
    }

    /// Returns the lane with the oldest event.
    fn oldest(&self) -> Option<usize> {
        let first = |lane: &Lane<W>| {
            lane.events
                .front()
                .map(|queued| (queued.number, queued.lane))
        };
        let (_, lane) = self.lanes.iter().filter_map(first).min()?;
        Some(lane)
    }

    /// An empty queue has room for any event, so that none waits for ever.
    fn has_room(&self, event: &EventData) -> bool {
        let fits = self.bytes.saturating_add(event.bytes()) <= self.most_bytes;
        self.events == 0 || (self.events < self.most_events && fits)
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
        PullQueue::new(&limits, 1)
    }

    fn all(queue: &mut PullQueue<&'static str>) -> Vec<i32> {
        std::iter::from_fn(|| queue.take(None))
            .map(|queued| number(&queued.event))
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
                lost += match queue.offer(0, event(number)) {
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
        assert!(matches!(queue.offer(0, event(1)), Offered::Kept(0)));
        assert!(matches!(queue.offer(0, event(2)), Offered::Kept(1)));
        assert_eq!(all(&mut queue), [2]);
    }

    #[test]
    fn calls_wait_in_their_order_and_only_so_many() {
        let mut queue = queue(Limits {
            waiting_pulls: 2,
            ..Limits::default()
        });
        for call in ["first", "second"] {
            let waits = queue.take_or_wait(None, call, |_| true);
            assert!(matches!(waits, Taken::Waits));
        }
        let refused = queue.take_or_wait(None, "third", |_| true);
        assert!(matches!(refused, Taken::Refused("third")));
        // One of the calls is not awaited any more, and makes room.
        let waits = queue.take_or_wait(None, "third", |call| *call != "first");
        assert!(matches!(waits, Taken::Waits));
        let Offered::Awaited(call, awaited) = queue.offer(0, event(1)) else {
            panic!("no call waits");
        };
        assert_eq!((call, number(&awaited.event)), ("second", 1));
        let (calls, events) = queue.close();
        assert_eq!((calls.len(), events), (1, 0));
        let closed = queue.take_or_wait(None, "fourth", |_| true);
        assert!(matches!(closed, Taken::Closed("fourth")));
        assert!(matches!(queue.offer(0, event(2)), Offered::Closed));
    }

    #[test]
    fn events_that_are_put_back_have_the_places_that_they_had() {
        let mut queue = queue(Limits::default());
        for number in 1..=3 {
            let _ = queue.offer(0, event(number));
        }
        let (one, two) = (queue.take(None).unwrap(), queue.take(None).unwrap());
        let _ = queue.put_back(one);
        let _ = queue.put_back(two);
        assert_eq!(all(&mut queue), [1, 2, 3]);
    }

    fn lanes(limits: Limits) -> PullQueue<&'static str> {
        PullQueue::new(&limits, 3)
    }

    #[test]
    fn a_call_takes_the_oldest_event_of_its_lane_or_of_all() {
        let mut queue = lanes(Limits::default());
        for (lane, one) in [(0, 1), (1, 2), (0, 3), (1, 4), (2, 5)] {
            assert!(matches!(queue.offer(lane, event(one)), Offered::Kept(0)));
        }
        let taken = [Some(1), None, Some(0), Some(0), None, None, None]
            .map(|lane| queue.take(lane).map(|queued| number(&queued.event)));
        let in_order = [Some(2), Some(1), Some(3), None, Some(4), Some(5), None];
        assert_eq!(taken, in_order);
    }

    #[test]
    fn the_oldest_event_of_all_lanes_makes_room() {
        let mut queue = lanes(Limits {
            queue_events: 2,
            ..Limits::default()
        });
        let discarded = [(2, 1), (0, 2), (0, 3), (1, 4)].map(|(lane, number)| {
            match queue.offer(lane, event(number)) {
                Offered::Kept(discarded) => discarded,
                _ => 100,
            }
        });
        assert_eq!(discarded, [0, 0, 1, 1]);
        assert!(queue.take(Some(2)).is_none());
        assert_eq!(all(&mut queue), [3, 4]);
    }

    #[test]
    fn an_event_goes_to_the_call_that_has_waited_longest_for_its_lane_or_any() {
        let mut queue = lanes(Limits {
            waiting_pulls: 1,
            ..Limits::default()
        });
        for (lane, call) in [
            (Some(0), "of 0"),
            (None, "of any"),
            (Some(1), "of 1"),
            (Some(2), "of 2"),
        ] {
            let waits = queue.take_or_wait(lane, call, |_| true);
            assert!(matches!(waits, Taken::Waits), "{call}");
        }
        let refused = queue.take_or_wait(Some(0), "another", |_| true);
        assert!(matches!(refused, Taken::Refused("another")));
        let calls = [1, 1, 2, 2].map(|lane| match queue.offer(lane, event(1)) {
            Offered::Awaited(call, queued) => {
                assert_eq!(queued.lane, lane);
                call
            }
            _ => "none",
        });
        assert_eq!(calls, ["of any", "of 1", "of 2", "none"]);
        let (calls, events) = queue.close();
        assert_eq!((calls, events), (vec!["of 0"], 1));
    }
}
