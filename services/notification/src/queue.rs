//! Queue of one consumer: ordered by the order policy, bounded by the discard policy.
//!
//! Two maps hold it: events by the order in which they are taken, and the same events by the order in which they are
//! given up. Events that are equal in either are in order of arrival. An event whose life has ended is never taken.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Instant;

use crate::qos::{Discard, Order};

/// Event in a queue, with what its order depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry<T> {
    pub(crate) event: T,
    pub(crate) priority: i16,
    /// End of the event's life, if it has one.
    pub(crate) ends: Option<Instant>,
    pub(crate) bytes: usize,
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
        }
    }

    /// Returns the number of events.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
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
            let Some((place, numbered)) = self.entries.pop_first() else {
                break;
            };
            self.victims.remove(&self.victim_place(&numbered, place));
            self.bytes -= numbered.entry.bytes;
            match numbered.entry.has_ended(now) {
                true => taken.expired += 1,
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
        let entries = std::mem::take(&mut self.entries);
        self.victims.clear();
        (self.order, self.discard, self.bounds, self.bytes) = (order, discard, bounds, 0);
        for numbered in entries.into_values() {
            self.insert(numbered);
        }
        self.trim(now)
    }

    /// Empties the queue; returns the number of events that were in it.
    pub(crate) fn clear(&mut self) -> usize {
        let entries = std::mem::take(&mut self.entries);
        self.victims.clear();
        self.bytes = 0;
        entries.len()
    }

    fn insert(&mut self, numbered: Numbered<T>) {
        let place = self.place(&numbered);
        self.bytes += numbered.entry.bytes;
        self.victims
            .insert(self.victim_place(&numbered, place), place);
        self.entries.insert(place, numbered);
    }

    /// Gives up events until the queue is within its bounds; first those whose life has ended.
    fn trim(&mut self, now: Instant) -> Lost {
        let mut lost = Lost::default();
        if self.is_within() {
            return lost;
        }
        lost.expired = self.drop_ended(now);
        while !self.is_within() {
            let Some((_, place)) = self.victims.pop_first() else {
                break;
            };
            if let Some(numbered) = self.entries.remove(&place) {
                self.bytes -= numbered.entry.bytes;
                lost.discarded += 1;
            }
        }
        lost
    }

    fn is_within(&self) -> bool {
        let fits = self.entries.len() <= self.bounds.events && self.bytes <= self.bounds.bytes;
        fits || self.entries.len() <= 1
    }

    fn drop_ended(&mut self, now: Instant) -> usize {
        let ended = |(_, numbered): &(&Place, &Numbered<T>)| numbered.entry.has_ended(now);
        let places = self.entries.iter().filter(ended).map(|(place, _)| *place);
        let places: Vec<Place> = places.collect();
        for place in &places {
            if let Some(numbered) = self.entries.remove(place) {
                self.victims.remove(&self.victim_place(&numbered, *place));
                self.bytes -= numbered.entry.bytes;
            }
        }
        places.len()
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
