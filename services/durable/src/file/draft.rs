//! Changes of one commit to one log: drafted against its state, written, and then applied.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use punctual_host::store::{Batch, StoreError};

use super::block::{LONGEST, NewBlock};
use super::layout::{BLOCKS, HEADS, IDS, IdsRecord, LOGS, LogRecord, READERS};
use super::log::Log;
use super::reader_state::ReaderState;
use super::state::{Drop, State, Usage, head};
use crate::contract::{
    Appended, DurableError, EventId, Limit, Moment, Name, NewEvent, Quota, WhenFull,
};

/// Changes of one commit to a log.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) log: Arc<Log>,
    now: Moment,
    /// Position of the next event.
    next: u64,
    blocks: Vec<NewBlock>,
    ids: HashSet<EventId>,
    /// What the events of this commit add.
    added: Usage,
    /// What dropping the oldest events frees, and the position up to which they are dropped.
    freed: Usage,
    floor: u64,
    /// Readers that are added, each at its position.
    new_readers: Vec<(Name, u64)>,
    removed_readers: BTreeSet<Name>,
    is_new: bool,
    is_removed: bool,
    /// True if all acknowledgements are written, at whatever cost.
    settles: bool,
    written: Written,
}

/// What a commit has written of the log's state.
#[derive(Debug, Default)]
struct Written {
    /// Readers, and the number of changes that their records contain.
    readers: Vec<(Name, u64)>,
    deleted_blocks: Vec<u64>,
    forgotten_ids: usize,
}

impl Draft {
    pub(super) fn new(log: Arc<Log>, now: Moment) -> Self {
        let next = log.state.lock().next;
        Self {
            log,
            now,
            next,
            blocks: Vec::new(),
            ids: HashSet::new(),
            added: Usage::default(),
            freed: Usage::default(),
            floor: 0,
            new_readers: Vec::new(),
            removed_readers: BTreeSet::new(),
            is_new: false,
            is_removed: false,
            settles: false,
            written: Written::default(),
        }
    }

    /// Drafts the creation of the log.
    pub(super) fn create(&mut self) {
        self.is_new = true;
    }

    /// Drafts the removal of the log, with all its records.
    pub(super) fn remove(&mut self) {
        self.is_removed = true;
    }

    /// Drafts the writing of all acknowledgements.
    pub(super) fn settle(&mut self) {
        self.settles = true;
    }

    /// Drafts a reader, which gets the events from here on.
    pub(super) fn add_reader(&mut self, name: &Name) -> Result<(), DurableError> {
        self.check_exists()?;
        let is_drafted = self.new_readers.iter().any(|(one, _)| one == name);
        let is_kept = !self.removed_readers.contains(name)
            && self.log.state.lock().readers.contains_key(name);
        if !is_drafted && !is_kept {
            self.new_readers.push((name.clone(), self.next));
        }
        Ok(())
    }

    /// Drafts the removal of a reader. Returns false if there is none.
    pub(super) fn remove_reader(&mut self, name: &Name) -> Result<bool, DurableError> {
        self.check_exists()?;
        let before = self.new_readers.len();
        self.new_readers.retain(|(one, _)| one != name);
        let is_stored = self.log.state.lock().readers.contains_key(name)
            && self.removed_readers.insert(name.clone());
        Ok(is_stored || self.new_readers.len() < before)
    }

    /// Drafts an append: all of the events, or none.
    pub(super) fn append(&mut self, events: Vec<NewEvent>) -> Result<Appended, DurableError> {
        self.check_exists()?;
        self.check_lengths(&events)?;
        let log = self.log.clone();
        let mut state = log.state.lock();
        let (events, appended) = self.without_repeats(&state, events);
        state.status.repeated += appended.repeated as u64;
        if self.readers(&state) == 0 {
            return Ok(appended);
        }
        let more = Usage {
            events: events.len() as u64,
            bytes: events.iter().map(|event| event.bytes.len() as u64).sum(),
        };
        if let Err(limit) = self.make_room(&state, more) {
            state.status.refused += more.events;
            return Err(DurableError::Full {
                log: self.log.name.clone(),
                quota: limit,
            });
        }
        drop(state);
        self.added.events += more.events;
        self.added.bytes += more.bytes;
        events.into_iter().for_each(|event| self.push(event));
        Ok(appended)
    }

    fn check_exists(&self) -> Result<(), DurableError> {
        if self.is_removed || self.log.state.lock().is_removed {
            return Err(DurableError::Removed(format!("log {}", self.log.name)));
        }
        Ok(())
    }

    fn check_lengths(&self, events: &[NewEvent]) -> Result<(), DurableError> {
        let long = events.iter().find(|event| event.bytes.len() > LONGEST);
        long.map_or(Ok(()), |event| {
            Err(DurableError::TooLong {
                log: self.log.name.clone(),
                bytes: event.bytes.len() as u64,
                most: LONGEST as u64,
            })
        })
    }

    fn without_repeats(&self, state: &State, events: Vec<NewEvent>) -> (Vec<NewEvent>, Appended) {
        let before = events.len();
        let mut own = HashSet::new();
        let is_new = |event: &NewEvent| match &event.id {
            None => true,
            Some(id) => !self.ids.contains(id) && !state.ids.contains(id) && own.insert(id.clone()),
        };
        let mut is_new = is_new;
        let events: Vec<_> = events.into_iter().filter(|event| is_new(event)).collect();
        let repeated = before - events.len();
        (events, Appended { repeated })
    }

    fn readers(&self, state: &State) -> usize {
        state.readers.len() + self.new_readers.len() - self.removed_readers.len()
    }

    /// Makes room for more events, by dropping the oldest if the log's settings say so. Returns the
    /// limit that does not permit them.
    fn make_room(&mut self, state: &State, more: Usage) -> Result<(), Limit> {
        let quota = state.settings.quota;
        let own = Usage {
            events: self.added.events + more.events,
            bytes: self.added.bytes + more.bytes,
        };
        // Events of this commit are not dropped: they have not been acknowledged yet.
        let (mut freed, mut floor) = (self.freed, self.floor);
        while let Some(limit) = exceeded(quota, state, own, freed) {
            let oldest = match quota.when_full {
                WhenFull::Refuse => None,
                WhenFull::DropOldest => state.oldest(floor),
            };
            let Some((position, bytes)) = oldest else {
                return Err(limit);
            };
            freed.events += 1;
            freed.bytes += bytes;
            floor = position + 1;
        }
        (self.freed, self.floor) = (freed, floor);
        Ok(())
    }

    fn push(&mut self, event: NewEvent) {
        let is_complete = match self.blocks.last() {
            // A reader that was added meanwhile does not get the events before.
            Some(block) => block.is_complete_before(&event),
            None => true,
        };
        if is_complete {
            self.blocks.push(NewBlock::at(self.next));
        }
        self.ids.extend(event.id.clone());
        self.next += 1;
        if let Some(block) = self.blocks.last_mut() {
            block.push(event, self.now);
        }
    }

    /// Writes the changes.
    pub(super) fn write(&mut self, batch: &Batch<'_>) -> Result<(), StoreError> {
        let number = self.log.number;
        if self.is_removed {
            return write_removal(batch, &self.log);
        }
        if self.is_new || !self.blocks.is_empty() {
            let next = self.next;
            batch.put(LOGS, self.log.name.as_str(), &LogRecord { number, next })?;
        }
        self.write_blocks(batch)?;
        self.write_readers(batch)?;
        self.write_deletions(batch)
    }

    fn write_blocks(&self, batch: &Batch<'_>) -> Result<(), StoreError> {
        if self.blocks.is_empty() {
            return Ok(());
        }
        let mut heads = batch.records(HEADS)?;
        let mut blocks = batch.table(BLOCKS)?;
        let mut ids = batch.records(IDS)?;
        for block in &self.blocks {
            let key = (self.log.number, block.first);
            heads.put(key, &head(block))?;
            blocks.insert(key, block.bytes.as_slice())?;
            if !block.ids.is_empty() {
                ids.put(key, &ids_record(block, self.now))?;
            }
        }
        Ok(())
    }

    fn write_readers(&mut self, batch: &Batch<'_>) -> Result<(), StoreError> {
        let mut table = batch.records(READERS)?;
        for name in &self.removed_readers {
            table.remove((self.log.number, name.as_str()))?;
        }
        for (name, start) in &self.new_readers {
            let (record, _) = ReaderState::added_at(*start).record();
            table.put((self.log.number, name.as_str()), &record)?;
        }
        let state = self.log.state.lock();
        for (name, reader) in &state.readers {
            let is_due = reader.has_unstored() && (self.settles || reader.is_cheap_to_store());
            if is_due && !self.removed_readers.contains(name) {
                let (record, changes) = reader.record();
                table.put((self.log.number, name.as_str()), &record)?;
                self.written.readers.push((name.clone(), changes));
            }
        }
        Ok(())
    }

    fn write_deletions(&mut self, batch: &Batch<'_>) -> Result<(), StoreError> {
        let (dead, stale) = {
            let state = self.log.state.lock();
            let stale = state.ids.stale(self.now, state.settings.repeat_window);
            (state.dead.iter().copied().collect::<Vec<_>>(), stale)
        };
        let number = self.log.number;
        if !dead.is_empty() {
            let mut heads = batch.records(HEADS)?;
            let mut blocks = batch.table(BLOCKS)?;
            for first in &dead {
                heads.remove((number, *first))?;
                blocks.remove((number, *first))?;
            }
        }
        if !stale.is_empty() {
            let mut ids = batch.records(IDS)?;
            stale
                .iter()
                .try_for_each(|first| ids.remove((number, *first)))?;
        }
        self.written.deleted_blocks = dead;
        self.written.forgotten_ids = stale.len();
        Ok(())
    }

    /// Applies the changes, which are durable, to the log's state.
    pub(super) fn apply(self) {
        let log = self.log.clone();
        let has_events = !self.blocks.is_empty() || self.is_removed;
        let has_removed = !self.removed_readers.is_empty();
        self.apply_to(&mut log.state.lock());
        if has_events || has_removed {
            log.wake_all();
        }
    }

    fn apply_to(self, state: &mut State) {
        if self.is_removed {
            state.is_removed = true;
            state.readers.clear();
            return;
        }
        state.remove_blocks(&self.written.deleted_blocks);
        for (name, changes) in &self.written.readers {
            if let Some(reader) = state.readers.get_mut(name) {
                reader.note_stored(*changes);
            }
        }
        state.ids.forget(self.written.forgotten_ids);
        self.removed_readers
            .iter()
            .for_each(|name| state.remove_reader(name));
        let mut from = 0;
        while let Some((position, _)) = state
            .oldest(from)
            .filter(|(position, _)| *position < self.floor)
        {
            state.drop_event(position, Drop::Room);
            from = position + 1;
        }
        for (name, start) in self.new_readers {
            state.readers.insert(name, ReaderState::added_at(start));
        }
        for block in self.blocks {
            if !block.ids.is_empty() {
                state.ids.add(block.first, ids_record(&block, self.now));
            }
            state.add_stored(block);
        }
    }
}

/// Returns the limit of the quota that the log would exceed.
fn exceeded(quota: Quota, state: &State, own: Usage, freed: Usage) -> Option<Limit> {
    let status = &state.status;
    // Readers may have acknowledged some of what was to be dropped since then.
    let events = status.events.saturating_sub(freed.events) + own.events;
    let bytes = status.bytes.saturating_sub(freed.bytes) + own.bytes;
    if events > quota.events {
        return Some(Limit::Events(quota.events));
    }
    (bytes > quota.bytes).then_some(Limit::Bytes(quota.bytes))
}

fn ids_record(block: &NewBlock, appended: Moment) -> IdsRecord {
    IdsRecord {
        appended,
        ids: block.ids.clone(),
    }
}

fn write_removal(batch: &Batch<'_>, log: &Log) -> Result<(), StoreError> {
    let first = (log.number, 0);
    batch.remove(LOGS, log.name.as_str())?;
    batch
        .records(HEADS)?
        .remove_while(first, |(number, _)| *number == log.number)?;
    batch
        .table(BLOCKS)?
        .remove_while(first, |(number, _)| *number == log.number)?;
    batch
        .records(IDS)?
        .remove_while(first, |(number, _)| *number == log.number)?;
    let mut readers = batch.records(READERS)?;
    readers.remove_while((log.number, ""), |(number, _)| *number == log.number)
}
