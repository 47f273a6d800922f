//! Queue: events that wait for one consumer at one level.

use crate::event::{Event, Payload};
use crate::peer::Lost;
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

/// Place of an event in what is pushed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// It stands alone, and may be pushed with others.
    Single,
    /// More of its set follow.
    Inside,
    /// It ends its set.
    Last,
}

/// Answer of a queue to an event or set.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Offered {
    /// It is in the queue.
    Taken,
    /// It is in the queue, and others are lost.
    TakenFor { cause: Lost, events: usize },
    /// There is no room, and the queue's options do not say what to drop.
    Full,
    /// It was dropped.
    Dropped,
    /// It was dropped after its supplier had waited for room.
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
        if self.options.overflow == Overflow::LatestOfSource && self.supersede(event) {
            return Offered::TakenFor {
                cause: Lost::Superseded,
                events: 1,
            };
        }
        let offered = self.make_room(1, event.data.size());
        if matches!(offered, Offered::Taken | Offered::TakenFor { .. }) {
            if self.options.overflow == Overflow::LatestOfSource {
                let number = self.left + self.entries.len() as u64;
                self.latest.insert(key(event), number);
            }
            self.append(event, Part::Single, now);
        }
        offered
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

    /// Takes what is pushed next: a set, or single events up to a batch.
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

    /// Replaces the queued event of the same type and source, if there is one.
    fn supersede(&mut self, event: &Event<P>) -> bool {
        let Some(number) = self.latest.get(&key(event)) else {
            return false;
        };
        let place = usize::try_from(number - self.left).unwrap_or(usize::MAX);
        let Some(entry) = self.entries.get_mut(place) else {
            return false;
        };
        self.bytes = self.bytes - entry.event.data.size() + event.data.size();
        entry.event = event.clone();
        true
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
                    cause: Lost::Oldest,
                    events: lost,
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
