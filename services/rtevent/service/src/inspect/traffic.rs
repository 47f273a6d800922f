//! Counts of events by type and source.

use crate::{Data, Event};
use parking_lot::Mutex;
use punctual_rtevent::{Consumer, Pushed};
use std::collections::BTreeMap;

/// Maximum number of rows: events of further types and sources are counted together.
const MOST_ROWS: usize = 200;

/// Consumer that counts what it receives, by type and source.
#[derive(Debug, Default)]
pub struct Traffic(Mutex<TrafficCounts>);

/// Events that have been counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrafficCounts {
    /// Events of each type and source, for the first 200.
    pub rows: BTreeMap<(i32, i32), TrafficRow>,
    /// Events of further types and sources.
    pub others: TrafficRow,
}

/// Events of one type and source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrafficRow {
    /// Number of events.
    pub events: u64,
    /// Octets of their payloads.
    pub octets: u64,
    /// Longest time that one spent in the channel, by the channel's time stamps, in 100 ns; 0 without time stamps.
    pub longest: u64,
}

impl Traffic {
    /// Returns what has been counted since the last call.
    #[must_use]
    pub fn take(&self) -> TrafficCounts {
        std::mem::take(&mut *self.0.lock())
    }
}

impl Consumer<Data> for Traffic {
    fn push(&self, events: &[Event]) -> Pushed {
        let mut counts = self.0.lock();
        events.iter().for_each(|event| counts.count(event));
        Pushed::Done
    }
}

impl TrafficCounts {
    /// Adds other counts.
    pub fn add(&mut self, other: &Self) {
        for (key, row) in &other.rows {
            self.row(*key).add(row);
        }
        self.others.add(&other.others);
    }

    fn count(&mut self, event: &Event) {
        let row = TrafficRow {
            events: 1,
            octets: event.data.contents().payload.len() as u64,
            longest: match event.header.received {
                // It has no time stamps.
                0 => 0,
                received => event.header.sent.saturating_sub(received),
            },
        };
        self.row((event.header.kind, event.header.source)).add(&row);
    }

    fn row(&mut self, key: (i32, i32)) -> &mut TrafficRow {
        match self.rows.len() >= MOST_ROWS && !self.rows.contains_key(&key) {
            true => &mut self.others,
            false => self.rows.entry(key).or_default(),
        }
    }
}

impl TrafficRow {
    fn add(&mut self, other: &Self) {
        self.events += other.events;
        self.octets += other.octets;
        self.longest = self.longest.max(other.longest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual_rtevent::Header;

    #[test]
    fn events_beyond_the_last_row_are_counted_together() {
        let traffic = Traffic::default();
        let event = |kind| Event::new(Header::new(kind, 1), Data::default());
        let events: Vec<_> = (16..).take(MOST_ROWS + 3).map(event).collect();
        assert!(matches!(traffic.push(&events), Pushed::Done));
        assert!(matches!(traffic.push(&events[..1]), Pushed::Done));
        let mut counts = traffic.take();
        assert_eq!(counts.rows[&(16, 1)].events, 2);
        assert_eq!((counts.rows.len(), counts.others.events), (MOST_ROWS, 3));
        counts.add(&counts.clone());
        assert_eq!((counts.rows[&(16, 1)].events, counts.others.events), (4, 6));
        assert_eq!(traffic.take(), TrafficCounts::default());
    }
}
