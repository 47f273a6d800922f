//! State of a log in memory: which events there are, and who waits for them.

mod expiry;
mod slots;
mod taking;
mod usage;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::block::{Block, NewBlock};
use super::cache::Cache;
use super::ids::Ids;
use super::layout::Head;
use super::reader_state::ReaderState;
use crate::contract::{DurableError, LogSettings, LogStatus, Moment, Name, Wake, WhenFull};

pub(super) use taking::Taken;
pub(super) use usage::Usage;

use expiry::{Expiry, earliest};
use slots::{BlockState, block_of};

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
    expiry: Expiry,
    /// Number of times that readers were opened.
    openings: u64,
}

/// Reason why an event is dropped.
#[derive(Clone, Copy)]
enum Drop {
    Room,
    Expiry,
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
            expiry: Expiry::default(),
            openings: 0,
        }
    }

    /// Adds a block of events, for all readers that have not acknowledged them.
    pub(super) fn add_block(&mut self, first: u64, head: Head) {
        let mut block = BlockState::of(head);
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
        self.expiry.add(block.earliest, first);
        self.blocks.insert(first, block);
    }

    /// Adds a block that was just stored, with its contents.
    pub(super) fn add_stored(&mut self, block: NewBlock) {
        let first = block.first;
        self.add_block(first, block.head());
        self.cache.add(first, Arc::new(block.into_block()));
    }

    /// Adds the contents of a block that was read.
    pub(super) fn cache(&mut self, first: u64, block: Arc<Block>) {
        if self.blocks.contains_key(&first) {
            self.cache.add(first, block);
        }
    }

    /// Returns true if the contents of a block have to be read: readers wait for events of it.
    pub(super) fn lacks(&self, first: u64) -> bool {
        let block = self.blocks.get(&first);
        block.is_some_and(|block| block.live > 0) && self.cache.block(first).is_none()
    }

    /// Removes blocks that were deleted from the file.
    pub(super) fn remove_blocks(&mut self, blocks: &[u64]) {
        for first in blocks {
            self.dead.remove(first);
            if let Some(block) = self.blocks.remove(first) {
                self.expiry.remove(block.earliest, *first);
            }
            self.cache.remove(*first);
        }
        let first = self.blocks.keys().next().copied().unwrap_or(self.next);
        self.readers
            .values_mut()
            .for_each(|reader| reader.prune_below(first));
    }

    /// Opens a reader, and returns the number of this opening; `None` if it is open already.
    pub(super) fn open_reader(&mut self, name: &Name) -> Result<Option<u64>, DurableError> {
        let reader = self.readers.get_mut(name);
        let reader = reader.ok_or_else(|| DurableError::Removed(format!("reader {name}")))?;
        if reader.opened_as.is_some() {
            return Ok(None);
        }
        self.openings += 1;
        reader.opened_as = Some(self.openings);
        Ok(reader.opened_as)
    }

    /// Returns a reader by the number of its opening.
    ///
    /// # Errors
    /// It was removed since then.
    pub(super) fn opened(
        &mut self,
        name: &Name,
        opening: u64,
    ) -> Result<&mut ReaderState, DurableError> {
        let reader = self.readers.get_mut(name);
        let reader = reader.filter(|reader| reader.opened_as == Some(opening));
        reader.ok_or_else(|| DurableError::Removed(format!("reader {name}")))
    }

    /// Removes a reader, for which events then no longer wait.
    pub(super) fn remove_reader(&mut self, name: &Name) {
        let Some(reader) = self.readers.remove(name) else {
            return;
        };
        for (first, block) in &mut self.blocks {
            for (number, position) in (*first..).enumerate().take(block.slots.len()) {
                let is_awaited = block.slots[number].waiting > 0 && reader.waits_for(position);
                if is_awaited && block.release(number, &mut self.status) {
                    self.dead.insert(*first);
                }
            }
        }
    }

    /// Notes that a reader has acknowledged an event.
    pub(super) fn acknowledge(&mut self, reader: &Name, position: u64) {
        let Some((first, block)) = block_of(&mut self.blocks, position) else {
            return;
        };
        let reader = self.readers.get_mut(reader);
        let is_noted =
            reader.is_some_and(|reader| position < reader.cursor && reader.acknowledge(position));
        if is_noted && block.release((position - first) as usize, &mut self.status) {
            self.dead.insert(first);
        }
    }

    /// Drops an event for all readers that wait for it.
    fn drop_event(&mut self, position: u64, why: Drop) {
        let Some((first, block)) = block_of(&mut self.blocks, position) else {
            return;
        };
        let number = (position - first) as usize;
        if block.slots[number].waiting == 0 {
            return;
        }
        for reader in self.readers.values_mut() {
            if reader.acknowledge(position) && block.release(number, &mut self.status) {
                self.dead.insert(first);
            }
        }
        match why {
            Drop::Room => self.status.dropped += 1,
            Drop::Expiry => self.status.expired += 1,
        }
    }

    /// Returns what the events are that readers wait for.
    pub(super) fn usage(&self) -> Usage {
        Usage {
            events: self.status.events,
            bytes: self.status.bytes,
        }
    }

    /// Drops the oldest events beyond the quota, if the settings say so.
    pub(super) fn keep_quota(&mut self) {
        let quota = self.settings.quota;
        let mut from = 0;
        while quota.when_full == WhenFull::DropOldest
            && self.usage().beyond(quota).is_some()
            && let Some(position) = self.oldest(from)
        {
            self.drop_event(position, Drop::Room);
            from = position + 1;
        }
    }

    /// Drops all events that have expired.
    pub(super) fn expire(&mut self, now: Moment) {
        while let Some(first) = self.expiry.take_due(now) {
            self.expire_block(first, now);
        }
    }

    /// Drops the events of a block that have expired, and notes when the next one does.
    fn expire_block(&mut self, first: u64, now: Moment) {
        let Some(block) = self.blocks.get_mut(&first) else {
            return;
        };
        block.earliest = earliest(&block.expiries, now);
        self.expiry.add(block.earliest, first);
        let numbers = 0..block.slots.len();
        let expired: Vec<usize> = numbers
            .filter(|number| block.has_expired(*number, now))
            .collect();
        for number in expired {
            self.drop_event(first + number as u64, Drop::Expiry);
        }
    }

    /// Returns the position of the first event at or after `from` that a reader waits for.
    fn oldest(&self, from: u64) -> Option<u64> {
        self.live_from(from).find_map(|(start, first, block)| {
            let slots = &block.slots[(start - first) as usize..];
            let live = (start..).zip(slots).find(|(_, slot)| slot.waiting > 0);
            live.map(|(position, _)| position)
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
