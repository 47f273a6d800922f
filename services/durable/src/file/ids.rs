//! Ids that a log knows, against repeats, for a time and up to a number.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use super::layout::IdsRecord;
use crate::contract::{EventId, Moment};

/// Maximum number of ids that a log knows; beyond it the oldest are forgotten before their time.
pub(super) const MOST: usize = 200_000;

/// Ids of the events that were appended last.
#[derive(Debug, Default)]
pub(super) struct Ids {
    known: HashSet<EventId>,
    /// Ids of each block, by its position.
    blocks: VecDeque<(u64, IdsRecord)>,
}

impl Ids {
    pub(super) fn contains(&self, id: &EventId) -> bool {
        self.known.contains(id)
    }

    /// Adds the ids of a block that is later than all before.
    pub(super) fn add(&mut self, block: u64, record: IdsRecord) {
        self.known.extend(record.ids.iter().cloned());
        self.blocks.push_back((block, record));
    }

    /// Returns the positions of the blocks whose ids are forgotten: those appended before the
    /// window, and the oldest beyond the maximum number.
    pub(super) fn stale(&self, now: Moment, window: Duration) -> Vec<u64> {
        let mut beyond = self.known.len().saturating_sub(MOST);
        let mut is_stale = |record: &IdsRecord| {
            let is_beyond = beyond > 0;
            beyond = beyond.saturating_sub(record.ids.len());
            is_beyond || record.appended.after(window) < now
        };
        let stale = self.blocks.iter().map(|(block, record)| (*block, record));
        stale
            .take_while(|(_, record)| is_stale(record))
            .map(|(block, _)| block)
            .collect()
    }

    /// Forgets the ids of the oldest blocks.
    pub(super) fn forget(&mut self, blocks: usize) {
        for (_, record) in self.blocks.drain(..blocks.min(self.blocks.len())) {
            for id in &record.ids {
                self.known.remove(id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_known_for_a_time() {
        let id = |text: &str| EventId::new(text.as_bytes()).unwrap();
        let mut ids = Ids::default();
        for (block, text) in [(1, "a"), (2, "b")] {
            ids.add(
                block,
                IdsRecord {
                    appended: Moment(block * 1_000),
                    ids: vec![id(text)],
                },
            );
        }
        let window = Duration::from_secs(1);
        assert_eq!(ids.stale(Moment(2_000), window), [0; 0]);
        assert_eq!(ids.stale(Moment(2_001), window), [1]);
        ids.forget(1);
        assert!(!ids.contains(&id("a")) && ids.contains(&id("b")));
    }

    #[test]
    fn the_number_of_ids_is_limited() {
        let mut ids = Ids::default();
        for block in 0..3_u64 {
            let count = MOST as u64 / 2;
            let of = |number: u64| EventId::new(&(block * count + number).to_be_bytes()).unwrap();
            let all = (0..count).map(of).collect();
            ids.add(
                block,
                IdsRecord {
                    appended: Moment(1),
                    ids: all,
                },
            );
        }
        assert_eq!(ids.stale(Moment(1), Duration::from_secs(1)), [0]);
    }
}
