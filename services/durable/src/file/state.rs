//! State of a log in memory: which events there are, and who waits for them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::block::{Block, NewBlock};
use super::cache::Cache;
use super::ids::Ids;
use super::layout::Head;
use super::reader_state::ReaderState;
use super::slots::{BlockState, Slot, block_of, earliest, is_past, release};
use crate::contract::{
    Delivery, DurableError, LogSettings, LogStatus, Moment, Most, Name, Position, Wake,
};

/// Number of events, and the sum of their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) events: u64,
    pub(super) bytes: u64,
}

/// Events of a log, without their contents, and its readers.
#[derive(Debug)]
pub(super) struct State {
    /// Position of the next event that is appended.
    pub(super) next: u64,
    pub(super) settings: LogSettings,
    /// Counters; `events` and `bytes` are those of the events that readers wait for.
    pub(super) status: LogStatus,
    pub(super) readers: BTreeMap<Name, ReaderState>,
    pub(super) ids: Ids,
    pub(super) is_removed: bool,
    /// Blocks without events that readers wait for, to be deleted.
    pub(super) dead: BTreeSet<u64>,
    cache: Cache,
    blocks: BTreeMap<u64, BlockState>,
}

/// Reason why an event is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Drop {
    Room,
    Expiry,
}

/// Outcome of a fetch.
#[derive(Debug, Default)]
pub(super) struct Taken {
    pub(super) deliveries: Vec<Delivery>,
    /// Block that has to be read from the file before more can be taken.
    pub(super) missing: Option<u64>,
}

impl State {
    /// Creates the state of an empty log.
    pub(super) fn new(next: u64, settings: LogSettings, cache_bytes: usize) -> Self {
        Self {
            next,
            settings,
            status: LogStatus::default(),
            readers: BTreeMap::new(),
            ids: Ids::default(),
            is_removed: false,
            dead: BTreeSet::new(),
            cache: Cache::new(cache_bytes),
            blocks: BTreeMap::new(),
        }
    }

    /// Adds a block of events, for all readers that have not acknowledged them.
    pub(super) fn add_block(&mut self, first: u64, head: Head) {
        let mut block = BlockState {
            slots: head
                .lengths
                .iter()
                .map(|&length| Slot { length, waiting: 0 })
                .collect(),
            earliest: earliest(&head.expiries),
            expiries: head.expiries.into(),
            live: 0,
        };
        for (position, slot) in (first..).zip(&mut block.slots) {
            for reader in self
                .readers
                .values_mut()
                .filter(|one| one.waits_for(position))
            {
                reader.waiting += 1;
                slot.waiting += 1;
            }
            if slot.waiting > 0 {
                block.live += 1;
                self.status.events += 1;
                self.status.bytes += slot.bytes();
            }
        }
        if block.live == 0 {
            self.dead.insert(first);
        }
        self.next = self.next.max(first + block.slots.len() as u64);
        self.blocks.insert(first, block);
    }

    /// Adds a block that was just stored, with its contents.
    pub(super) fn add_stored(&mut self, block: NewBlock) {
        let first = block.first;
        self.add_block(first, head(&block));
        self.cache.add(first, Arc::new(block.into_block()));
    }

    /// Adds the contents of a block that was read.
    pub(super) fn cache(&mut self, first: u64, block: Arc<Block>) {
        if self.blocks.contains_key(&first) {
            self.cache.add(first, block);
        }
    }

    /// Returns true if the contents of a block have to be read.
    pub(super) fn lacks(&self, first: u64) -> bool {
        self.blocks.contains_key(&first) && self.cache.block(first).is_none()
    }

    /// Removes blocks that were deleted from the file.
    pub(super) fn remove_blocks(&mut self, blocks: &[u64]) {
        for first in blocks {
            self.dead.remove(first);
            self.blocks.remove(first);
            self.cache.remove(*first);
        }
        let first = self.blocks.keys().next().copied().unwrap_or(self.next);
        self.readers
            .values_mut()
            .for_each(|reader| reader.prune_below(first));
    }

    /// Removes a reader, for which events then no longer wait.
    pub(super) fn remove_reader(&mut self, name: &Name) {
        let Some(reader) = self.readers.remove(name) else {
            return;
        };
        for (first, block) in &mut self.blocks {
            for (position, slot) in (*first..).zip(&mut block.slots) {
                if slot.waiting > 0 && reader.waits_for(position) {
                    release(slot, &mut block.live, &mut self.status);
                }
            }
            if block.live == 0 {
                self.dead.insert(*first);
            }
        }
    }

    /// Notes that a reader has acknowledged an event.
    pub(super) fn acknowledge(&mut self, reader: &Name, position: u64) {
        let Some((first, block)) = block_of(&mut self.blocks, position) else {
            return;
        };
        let slot = &mut block.slots[(position - first) as usize];
        let reader = self.readers.get_mut(reader);
        if !reader.is_some_and(|reader| position < reader.cursor && reader.acknowledge(position)) {
            return;
        }
        release(slot, &mut block.live, &mut self.status);
        if block.live == 0 {
            self.dead.insert(first);
        }
    }

    /// Drops an event for all readers that wait for it. Returns its bytes if there was one.
    pub(super) fn drop_event(&mut self, position: u64, why: Drop) {
        let Some((first, block)) = block_of(&mut self.blocks, position) else {
            return;
        };
        let slot = &mut block.slots[(position - first) as usize];
        if slot.waiting == 0 {
            return;
        }
        for reader in self.readers.values_mut() {
            if reader.acknowledge(position) {
                release(slot, &mut block.live, &mut self.status);
            }
        }
        match why {
            Drop::Room => self.status.dropped += 1,
            Drop::Expiry => self.status.expired += 1,
        }
        if block.live == 0 {
            self.dead.insert(first);
        }
    }

    /// Drops all events that have expired.
    pub(super) fn expire(&mut self, now: Moment) {
        let expired: Vec<u64> = self
            .blocks
            .iter()
            .filter(|(_, block)| block.live > 0 && block.earliest <= now.0)
            .flat_map(|(first, block)| {
                let moments = (*first..).zip(&block.expiries);
                moments
                    .filter(|(_, moment)| is_past(**moment, now))
                    .map(|(position, _)| position)
            })
            .collect();
        expired
            .into_iter()
            .for_each(|position| self.drop_event(position, Drop::Expiry));
    }

    /// Returns the position and length of the first event at or after `from` that a reader waits for.
    pub(super) fn oldest(&self, from: u64) -> Option<(u64, u64)> {
        self.live_from(from).find_map(|(start, first, block)| {
            let slots = &block.slots[(start - first) as usize..];
            let live = (start..).zip(slots).find(|(_, slot)| slot.waiting > 0);
            live.map(|(position, slot)| (position, slot.bytes()))
        })
    }

    /// Returns the blocks with events that readers wait for, from a position on: where in the block to begin,
    /// position of its first event, the block.
    fn live_from(&self, from: u64) -> impl Iterator<Item = (u64, u64, &BlockState)> {
        let start = self.blocks.range(..=from).next_back();
        let start = start.map_or(from, |(first, _)| *first);
        let live = self
            .blocks
            .range(start..)
            .filter(|(_, block)| block.live > 0);
        live.filter_map(move |(first, block)| {
            let begin = from.max(*first);
            (begin < first + block.slots.len() as u64).then_some((begin, *first, block))
        })
    }

    /// Takes the next events for a reader.
    pub(super) fn take(
        &mut self,
        name: &Name,
        most: Most,
        now: Moment,
    ) -> Result<Taken, DurableError> {
        let mut taken = Taken::default();
        let mut room = most.bytes;
        while taken.deliveries.len() < most.events.max(1) {
            let Some(reader) = self.readers.get(name) else {
                return Err(DurableError::Removed(format!("reader {name}")));
            };
            let returned = reader.returned.first().copied();
            let Some(position) = returned.or_else(|| self.after_cursor(reader)) else {
                break;
            };
            let Some((first, block)) = block_of(&mut self.blocks, position) else {
                break;
            };
            let number = (position - first) as usize;
            if block
                .expires(number)
                .is_some_and(|moment| is_past(moment.0, now))
            {
                self.drop_event(position, Drop::Expiry);
                continue;
            }
            let Some(block) = self.cache.block(first) else {
                taken.missing = Some(first);
                break;
            };
            let event = block.event(number);
            let event =
                event.ok_or_else(|| DurableError::Invalid(format!("block {first} is short")))?;
            if event.bytes.len() > room && !taken.deliveries.is_empty() {
                break;
            }
            room = room.saturating_sub(event.bytes.len());
            let is_repeated = self.note_taken(name, position);
            taken.deliveries.push(Delivery {
                position: Position(position),
                bytes: event.bytes,
                id: event.id,
                expires: event.expires,
                priority: event.priority,
                is_repeated,
            });
        }
        if taken.missing.is_none()
            && taken.deliveries.is_empty()
            && let Some(reader) = self.readers.get_mut(name)
        {
            reader.awaits_events = true;
        }
        Ok(taken)
    }

    /// Returns the position of the next event that was not handed out to a reader and that it waits for.
    fn after_cursor(&self, reader: &ReaderState) -> Option<u64> {
        self.live_from(reader.cursor)
            .find_map(|(start, first, block)| {
                let end = first + block.slots.len() as u64;
                (start..end).find(|position| reader.waits_for(*position))
            })
    }

    /// Notes that an event is handed out. Returns true if it was before.
    fn note_taken(&mut self, name: &Name, position: u64) -> bool {
        let Some(reader) = self.readers.get_mut(name) else {
            return false;
        };
        if reader.returned.remove(&position) {
            return true;
        }
        reader.cursor = position + 1;
        position < reader.seen
    }

    /// Notes that events are to be handed out again.
    pub(super) fn give_back(&mut self, name: &Name, positions: &[Position]) {
        let Some(reader) = self.readers.get_mut(name) else {
            return;
        };
        for Position(position) in positions {
            if *position < reader.cursor && reader.waits_for(*position) {
                reader.returned.insert(*position);
            }
        }
    }

    /// Returns the functions of readers that have found no event since they were called.
    pub(super) fn take_wakes(&mut self) -> Vec<Wake> {
        let woken = |reader: &mut ReaderState| {
            let awaits = std::mem::take(&mut reader.awaits_events);
            reader.wake.clone().filter(|_| awaits)
        };
        self.readers.values_mut().filter_map(woken).collect()
    }

    /// Returns true if a commit would store acknowledgements or delete events.
    pub(super) fn is_unsettled(&self) -> bool {
        !self.dead.is_empty() || self.readers.values().any(ReaderState::has_unstored)
    }
}

/// Returns what is stored of a block besides its events.
pub(super) fn head(block: &NewBlock) -> Head {
    let is_lasting = block.expiries.iter().all(|moment| *moment == 0);
    Head {
        lengths: block.lengths.clone(),
        expiries: if is_lasting {
            Vec::new()
        } else {
            block.expiries.clone()
        },
    }
}
