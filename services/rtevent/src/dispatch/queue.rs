//! Queue: events that wait for one consumer at one level.

use crate::event::{Event, Payload};
use crate::subscription::{Overflow, QueueOptions};
use std::collections::{HashMap, VecDeque};

/// Bounded queue of events and sets of events.
#[derive(Debug)]
pub(super) struct Queue<P> {
    options: QueueOptions,
    entries: VecDeque<Entry<P>>,
    bytes: usize,
    /// Number of entries that have ever left.
    left: u64,
    /// Entries of single events by type and source, counted from the first that ever entered. Kept for
    /// `LatestOfSource` only.
    latest: HashMap<(i32, i32), u64>,
}

#[derive(Debug)]
struct Entry<P> {
    event: Event<P>,
    part: Part,
    /// Time of arrival in nanoseconds.
    since: u64,
}

/// Place of an event in a set of events that are pushed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Event without a set, which may be pushed together with others.
    Single,
    /// Event of a set, not the last one.
    Inside,
    /// Last event of a set.
    Last,
}

/// Answer of a queue to an event or set.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Offered {
    /// The event is in the queue.
    Taken,
    /// The event is in the queue, and others are lost: those that it replaced, and the oldest ones.
    TakenFor { superseded: usize, oldest: usize },
    /// There is no room, and the queue's options do not say what to drop.
    Full,
    /// The event was dropped.
    Dropped,
    /// The event was dropped after its supplier had waited for room in vain.
    Late,
}

impl<P: Payload> Queue<P> {
    pub(super) fn new(options: QueueOptions) -> Self {
        Self {
            options,
            entries: VecDeque::new(),
            bytes: 0,
            left: 0,
            latest: HashMap::new(),
        }
    }

    pub(super) fn options(&self) -> &QueueOptions {
        &self.options
    }

    /// Changes the bounds; what is in the queue stays there.
    pub(super) fn set_options(&mut self, options: QueueOptions) {
        self.options = options;
        self.latest.clear();
        if options.overflow == Overflow::LatestOfSource {
            for (place, entry) in self.entries.iter().enumerate() {
                if entry.part == Part::Single {
                    let number = self.left + place as u64;
                    self.latest.insert(key(&entry.event), number);
                }
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the time of arrival of the oldest event.
    pub(super) fn oldest(&self) -> Option<u64> {
        self.entries.front().map(|entry| entry.since)
    }

    /// Offers one event.
    pub(super) fn offer(&mut self, event: &Event<P>, now: u64) -> Offered {
        match self.options.overflow {
            Overflow::LatestOfSource => self.offer_latest(event, now),
            _ => self.offer_single(event, now),
        }
    }

    /// Offers a set that is pushed alone and whole.
    pub(super) fn offer_set(&mut self, set: &[Event<P>], now: u64) -> Offered {
        let bytes = set.iter().map(|event| event.data.size()).sum();
        let offered = self.make_room(set.len(), bytes);
        if matches!(offered, Offered::Taken | Offered::TakenFor { .. }) {
            for (place, event) in set.iter().enumerate() {
                let is_last = place + 1 == set.len();
                let part = if is_last { Part::Last } else { Part::Inside };
                self.append(event, part, now);
            }
        }
        offered
    }

    /// Takes the events of the next push: a set, or single events up to a batch.
    pub(super) fn take(&mut self, batch: &mut Vec<Event<P>>) {
        let Some(first) = self.entries.front() else {
            return;
        };
        if first.part != Part::Single {
            self.remove_set(|event| batch.push(event));
            return;
        }
        let most = self.options.batch.max(1);
        while batch.len() < most
            && self
                .entries
                .front()
                .is_some_and(|entry| entry.part == Part::Single)
        {
            if let Some(entry) = self.remove() {
                batch.push(entry.event);
            }
        }
    }

    /// Empties the queue, and returns the number of events.
    pub(super) fn clear(&mut self) -> usize {
        let events = self.entries.len();
        self.left += events as u64;
        self.entries.clear();
        self.latest.clear();
        self.bytes = 0;
        events
    }

    fn offer_single(&mut self, event: &Event<P>, now: u64) -> Offered {
        let offered = self.make_room(1, event.data.size());
        if matches!(offered, Offered::Taken | Offered::TakenFor { .. }) {
            self.append(event, Part::Single, now);
        }
        offered
    }

    /// Puts an event in the place of that of the same type and source; at the end, if there is none, or if that one
    /// had to go for the bound on bytes.
    fn offer_latest(&mut self, event: &Event<P>, now: u64) -> Offered {
        let before = self.latest.get(&key(event)).copied();
        let superseded = usize::from(before.is_some());
        let dropped = match before {
            Some(number) => match self.supersede(number, event) {
                Ok(oldest) => return Offered::TakenFor { superseded, oldest },
                Err(dropped) => dropped,
            },
            None => 0,
        };
        let offered = self.offer_single(event, now);
        let number = self.left + (self.entries.len() as u64).saturating_sub(1);
        self.latest.insert(key(event), number);
        match offered {
            Offered::TakenFor { oldest, .. } => Offered::TakenFor {
                superseded,
                oldest: oldest + dropped,
            },
            Offered::Taken if superseded > 0 => Offered::TakenFor {
                superseded,
                oldest: dropped,
            },
            other => other,
        }
    }

    /// Replaces the queued event of this number; the oldest ones go until the new one fits into its place. Returns
    /// how many did; as an error, if the replaced one had to go too, which is not counted.
    fn supersede(&mut self, number: u64, event: &Event<P>) -> Result<usize, usize> {
        let mut dropped = 0;
        while let Some(place) = number.checked_sub(self.left) {
            let place = usize::try_from(place).unwrap_or(usize::MAX);
            let is_alone = self.entries.len() == 1;
            let Some(entry) = self.entries.get_mut(place) else {
                break;
            };
            let others = self.bytes - entry.event.data.size();
            let bytes = others.saturating_add(event.data.size());
            if bytes <= self.options.bytes || is_alone {
                self.bytes = bytes;
                entry.event = event.clone();
                return Ok(dropped);
            }
            self.remove_set(|_| dropped += 1);
        }
        Err(dropped.max(1) - 1)
    }

    fn make_room(&mut self, events: usize, bytes: usize) -> Offered {
        if self.fits(events, bytes) {
            return Offered::Taken;
        }
        match self.options.overflow {
            Overflow::DropNewest => Offered::Dropped,
            Overflow::Block(_) | Overflow::Disconnect => Offered::Full,
            Overflow::DropOldest | Overflow::LatestOfSource => {
                let mut lost = 0;
                while !self.fits(events, bytes) {
                    self.remove_set(|_| lost += 1);
                }
                Offered::TakenFor {
                    superseded: 0,
                    oldest: lost,
                }
            }
        }
    }

    /// Returns whether there is room. An empty queue has room for anything, so that nothing waits for ever.
    fn fits(&self, events: usize, bytes: usize) -> bool {
        self.entries.is_empty()
            || (self.entries.len().saturating_add(events) <= self.options.events
                && self.bytes.saturating_add(bytes) <= self.options.bytes)
    }

    fn append(&mut self, event: &Event<P>, part: Part, since: u64) {
        self.bytes += event.data.size();
        self.entries.push_back(Entry {
            event: event.clone(),
            part,
            since,
        });
    }

    /// Removes the first event, or the first set.
    fn remove_set(&mut self, mut removed: impl FnMut(Event<P>)) {
        while let Some(entry) = self.remove() {
            removed(entry.event);
            if entry.part != Part::Inside {
                return;
            }
        }
    }

    fn remove(&mut self) -> Option<Entry<P>> {
        let entry = self.entries.pop_front()?;
        self.bytes -= entry.event.data.size();
        if !self.latest.is_empty() && self.latest.get(&key(&entry.event)) == Some(&self.left) {
            self.latest.remove(&key(&entry.event));
        }
        self.left += 1;
        Some(entry)
    }
}

fn key<P>(event: &Event<P>) -> (i32, i32) {
    (event.header.kind, event.header.source)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Header;

    /// Data of a size.
    #[derive(Clone, Debug)]
    struct Sized(usize);

    impl Payload for Sized {
        fn size(&self) -> usize {
            self.0
        }

        fn empty() -> Self {
            Self(0)
        }
    }

    fn taken_for(superseded: usize, oldest: usize) -> Offered {
        Offered::TakenFor { superseded, oldest }
    }

    #[test]
    fn a_larger_event_that_replaces_one_keeps_the_bound_on_bytes() {
        let mut queue = Queue::new(QueueOptions {
            bytes: 10,
            overflow: Overflow::LatestOfSource,
            ..QueueOptions::default()
        });
        let event = |source, size| Event::new(Header::new(20, source), Sized(size));
        for source in 1..=4 {
            assert_eq!(queue.offer(&event(source, 2), 0), Offered::Taken);
        }
        // It stays in its place, and the first goes.
        assert_eq!(queue.offer(&event(3, 6), 0), taken_for(1, 1));
        assert_eq!((queue.len(), queue.bytes()), (3, 10));
        // It is itself among the oldest.
        assert_eq!(queue.offer(&event(3, 7), 0), taken_for(1, 1));
        assert_eq!((queue.len(), queue.bytes()), (2, 9));
        assert_eq!(queue.offer(&event(3, 9), 0), taken_for(1, 1));
        assert_eq!((queue.len(), queue.bytes()), (1, 9));
        // However large, if it is alone.
        assert_eq!(queue.offer(&event(3, 20), 0), taken_for(1, 0));
        assert_eq!((queue.len(), queue.bytes()), (1, 20));
        assert_eq!(queue.offer(&event(3, 1), 0), taken_for(1, 0));
        // Replaced by one that has no room in its place, the first goes behind the others.
        assert_eq!(queue.offer(&event(5, 2), 0), Offered::Taken);
        assert_eq!(queue.offer(&event(3, 9), 0), taken_for(1, 1));
        assert_eq!(queue.offer(&event(3, 1), 0), taken_for(1, 0));
        assert_eq!((queue.len(), queue.bytes()), (1, 1));
    }
}
