//! Events that wait for their StartTime.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use super::arrival::Arrival;
use crate::event::Event;
use crate::queue::Bounds;

/// Event that waits, with how it came.
pub(super) type Waiting = (Arc<Event>, Arrival);

/// Events by the times at which they may be delivered.
#[derive(Debug)]
pub(super) struct Held {
    events: BTreeMap<(Instant, u64), Waiting>,
    bytes: usize,
    bounds: Bounds,
    next: u64,
}

impl Held {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self {
            events: BTreeMap::new(),
            bytes: 0,
            bounds,
            next: 0,
        }
    }

    /// Adds an event; returns whether there was room. Those of the log come only if there is.
    pub(super) fn add(&mut self, start: Instant, event: &Arc<Event>, arrival: Arrival) -> bool {
        let bytes = self.bytes.saturating_add(event.bytes());
        let is_full = self.events.len() >= self.bounds.events || bytes > self.bounds.bytes;
        if is_full && arrival.position.is_none() {
            return false;
        }
        self.bytes = bytes;
        let waiting = (event.clone(), arrival);
        self.events.insert((start, self.next), waiting);
        self.next += 1;
        true
    }

    /// Returns the number of events.
    pub(super) fn len(&self) -> usize {
        self.events.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the time of the first one.
    pub(super) fn first(&self) -> Option<Instant> {
        self.events.first_key_value().map(|((start, _), _)| *start)
    }

    /// Takes the events out whose time has come.
    pub(super) fn take(&mut self, now: Instant) -> Vec<Waiting> {
        let mut taken = Vec::new();
        while let Some(first) = self.events.first_entry() {
            if first.key().0 > now {
                break;
            }
            let event = first.remove();
            self.bytes -= event.0.bytes();
            taken.push(event);
        }
        taken
    }

    /// Drops all events; returns their number.
    pub(super) fn clear(&mut self) -> usize {
        self.bytes = 0;
        std::mem::take(&mut self.events).len()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use punctual::Any;

    #[test]
    fn events_are_bounded_in_number_and_bytes_and_come_in_the_order_of_their_times() {
        let event = Arc::new(Event::of_any(&Any::new(&1).unwrap()));
        let now = Instant::now();
        let after = |seconds| now + Duration::from_secs(seconds);
        let bounds = |events, bytes| Bounds { events, bytes };
        let mut held = Held::new(bounds(2, usize::MAX));
        assert!(
            held.add(after(2), &event, Arrival::default())
                && held.add(after(1), &event, Arrival::default())
        );
        assert!(!held.add(after(1), &event, Arrival::default()));
        assert_eq!(held.first(), Some(after(1)));
        assert_eq!(held.take(after(1)).len(), 1);
        assert_eq!(held.first(), Some(after(2)));
        assert_eq!(held.clear(), 1);
        let mut held = Held::new(bounds(9, event.bytes() * 2 - 1));
        assert!(held.add(now, &event, Arrival::default()));
        assert!(!held.add(now, &event, Arrival::default()));
        assert_eq!(held.take(now).len(), 1);
        assert!(held.add(now, &event, Arrival::default()));
    }
}
