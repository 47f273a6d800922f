//! Queue of one consumer: ordered by the order policy, bounded by the discard policy.
//!
//! Maps hold it: events by the order in which they are taken, and the places of the same events by the order in which
//! they are given up, and by the ends of their lives. Events that are equal in any are in order of arrival. An event whose
//! life has ended is never taken.
//!
//! Events from the channel's log are not given up: who adds them sees to it that there is room. The positions of those whose
//! life has ended are noted, to be acknowledged.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Instant;

use punctual_durable::Position;

use crate::qos::{Discard, Order};

/// Event in a queue, with what its order depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry<T> {
    pub(crate) event: T,
    pub(crate) priority: i16,
    /// End of the event's life, if it has one.
    pub(crate) ends: Option<Instant>,
    pub(crate) bytes: usize,
    /// Position in the channel's log, if the event comes from there.
    pub(crate) position: Option<Position>,
}

/// Bounds of a queue. An empty queue has room for any event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) events: usize,
    pub(crate) bytes: usize,
}

/// Place in one of the orders: class, end of life, number of arrival.
type Place = (Reverse<i16>, Option<Late>, u64);

/// Ends of life, of which none is the latest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Late {
    At(Instant),
    Never,
}

/// Bounded queue of events.
#[derive(Debug)]
pub(crate) struct Queue<T> {
    order: Order,
    discard: Discard,
    bounds: Bounds,
    bytes: usize,
    next: u64,
    entries: BTreeMap<Place, Numbered<T>>,
    /// Places of the same events, by the order in which they are given up.
    victims: BTreeMap<Place, Place>,
    /// Places of those that have an end of life, by it.
    ends: BTreeMap<(Instant, u64), Place>,
    /// Positions of events of the log whose life has ended.
    ended: Vec<Position>,
}

/// Entry with the number of its arrival.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Numbered<T> {
    pub(crate) entry: Entry<T>,
    number: u64,
}

/// Events that left a queue.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Taken<T> {
    pub(crate) events: Vec<Numbered<T>>,
    /// Number of events whose life had ended.
    pub(crate) expired: usize,
}

impl<T> Default for Taken<T> {
    fn default() -> Self {
        Self {
            events: Vec::new(),
            expired: 0,
        }
    }
}

/// Events that a queue has given up for a new one, or for a change of its bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lost {
    pub(crate) discarded: usize,
    pub(crate) expired: usize,
}

impl<T> Queue<T> {
    /// Returns an empty queue.
    pub(crate) fn new(order: Order, discard: Discard, bounds: Bounds) -> Self {
        Self {
            order,
            discard,
            bounds,
            bytes: 0,
            next: 0,
            entries: BTreeMap::new(),
            victims: BTreeMap::new(),
            ends: BTreeMap::new(),
            ended: Vec::new(),
        }
    }

    /// Returns the number of events.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the number of bytes of all events.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the event that is taken next.
    pub(crate) fn first(&self) -> Option<&T> {
        let (_, first) = self.entries.first_key_value()?;
        Some(&first.entry.event)
    }

    /// Returns how many more events the queue has room for, and of how many bytes.
    pub(crate) fn room(&self) -> Bounds {
        Bounds {
            events: self.bounds.events.saturating_sub(self.entries.len()),
            bytes: self.bounds.bytes.saturating_sub(self.bytes),
        }
    }

    /// Takes out the positions of events of the log whose life has ended.
    pub(crate) fn take_ended(&mut self) -> Vec<Position> {
        std::mem::take(&mut self.ended)
    }

    /// Adds an event, for which others are given up if there is no room; it may be itself.
    pub(crate) fn push(&mut self, entry: Entry<T>, now: Instant) -> Lost {
        let number = self.next;
        self.next += 1;
        self.insert(Numbered { entry, number });
        self.trim(now)
    }

    /// Puts events back that were taken: in front of all that came later.
    pub(crate) fn put_back(&mut self, events: Vec<Numbered<T>>, now: Instant) -> Lost {
        for event in events {
            self.insert(event);
        }
        self.trim(now)
    }

    /// Takes up to so many events.
    pub(crate) fn take(&mut self, most: usize, now: Instant) -> Taken<T> {
        let mut taken = Taken::default();
        while taken.events.len() < most {
            let Some((&place, _)) = self.entries.first_key_value() else {
                break;
            };
            let Some(numbered) = self.remove(place) else {
                break;
            };
            match numbered.entry.has_ended(now) {
                true => {
                    taken.expired += 1;
                    self.ended.extend(numbered.entry.position);
                }
                false => taken.events.push(numbered),
            }
        }
        taken
    }

    /// Applies other policies and bounds to the events that are in the queue.
    pub(crate) fn change(
        &mut self,
        order: Order,
        discard: Discard,
        bounds: Bounds,
        now: Instant,
    ) -> Lost {
        let entries = self.empty();
        (self.order, self.discard, self.bounds) = (order, discard, bounds);
        for numbered in entries.into_values() {
            self.insert(numbered);
        }
        self.trim(now)
    }

    /// Empties the queue; returns the number of events that were in it.
    pub(crate) fn clear(&mut self) -> usize {
        self.empty().len()
    }

    fn empty(&mut self) -> BTreeMap<Place, Numbered<T>> {
        self.victims.clear();
        self.ends.clear();
        self.bytes = 0;
        std::mem::take(&mut self.entries)
    }

    fn insert(&mut self, numbered: Numbered<T>) {
        let place = self.place(&numbered);
        self.bytes += numbered.entry.bytes;
        if numbered.entry.position.is_none() {
            self.victims
                .insert(self.victim_place(&numbered, place), place);
        }
        if let Some(end) = numbered.end() {
            self.ends.insert(end, place);
        }
        self.entries.insert(place, numbered);
    }

    fn remove(&mut self, place: Place) -> Option<Numbered<T>> {
        let numbered = self.entries.remove(&place)?;
        self.victims.remove(&self.victim_place(&numbered, place));
        if let Some(end) = numbered.end() {
            self.ends.remove(&end);
        }
        self.bytes -= numbered.entry.bytes;
        Some(numbered)
    }

    /// Gives up events until the queue is within its bounds; first those whose life has ended.
    fn trim(&mut self, now: Instant) -> Lost {
        let mut lost = Lost::default();
        if self.is_within() {
            return lost;
        }
        lost.expired = self.drop_ended(now);
        while !self.is_within() {
            let Some((_, &place)) = self.victims.first_key_value() else {
                break;
            };
            lost.discarded += usize::from(self.remove(place).is_some());
        }
        lost
    }

    fn is_within(&self) -> bool {
        let fits = self.entries.len() <= self.bounds.events && self.bytes <= self.bounds.bytes;
        fits || self.entries.len() <= 1
    }

    /// Drops the events whose life has ended, and looks at no other.
    pub(crate) fn drop_ended(&mut self, now: Instant) -> usize {
        let mut dropped = 0;
        while let Some((&(end, _), &place)) = self.ends.first_key_value() {
            if end > now {
                break;
            }
            let Some(numbered) = self.remove(place) else {
                break;
            };
            self.ended.extend(numbered.entry.position);
            dropped += 1;
        }
        dropped
    }

    fn place(&self, numbered: &Numbered<T>) -> Place {
        let Numbered { entry, number } = numbered;
        match self.order {
            Order::Fifo => (Reverse(0), None, *number),
            Order::Priority => (Reverse(entry.priority), None, *number),
            Order::Deadline => (Reverse(0), Some(entry.late()), *number),
        }
    }

    fn victim_place(&self, numbered: &Numbered<T>, (.., number): Place) -> Place {
        let entry = &numbered.entry;
        match self.discard {
            Discard::Fifo => (Reverse(0), None, number),
            Discard::Lifo => (Reverse(0), None, u64::MAX - number),
            // The lowest priority first; `!` turns the order of all i16.
            Discard::Priority => (Reverse(!entry.priority), None, number),
            Discard::Deadline => (Reverse(0), Some(entry.late()), number),
        }
    }
}

impl<T> Numbered<T> {
    fn end(&self) -> Option<(Instant, u64)> {
        Some((self.entry.ends?, self.number))
    }
}

impl<T> Entry<T> {
    fn has_ended(&self, now: Instant) -> bool {
        self.ends.is_some_and(|ends| ends <= now)
    }

    fn late(&self) -> Late {
        self.ends.map_or(Late::Never, Late::At)
    }
}

#[cfg(test)]
mod tests;
