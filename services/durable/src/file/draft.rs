//! Changes of one commit to one log, drafted against its state.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use super::block::{LONGEST, NewBlock};
use super::log::Log;
use super::state::{State, Usage};
use crate::contract::{Appended, DurableError, EventId, Limit, Moment, Name, NewEvent, WhenFull};

/// Changes of one commit to a log.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) log: Arc<Log>,
    pub(super) now: Moment,
    /// Position of the next event.
    pub(super) next: u64,
    pub(super) blocks: Vec<NewBlock>,
    pub(super) ids: HashSet<EventId>,
    /// What the events of this commit add.
    pub(super) added: Usage,
    /// Readers that are added, each at its position.
    pub(super) new_readers: Vec<(Name, u64)>,
    pub(super) removed_readers: BTreeSet<Name>,
    pub(super) is_new: bool,
    pub(super) is_removed: bool,
    /// True if all acknowledgements are written, at whatever cost.
    pub(super) settles: bool,
    pub(super) written: Written,
}

/// What the commit has written of the log's state.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// Readers, and the number of changes that their records contain.
    pub(super) readers: Vec<(Name, u64)>,
    pub(super) deleted_blocks: Vec<u64>,
    pub(super) forgotten_ids: usize,
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
        if let Some(limit) = self.limit(&state, more) {
            state.status.refused += more.events;
            return Err(DurableError::Full {
                log: self.log.name.clone(),
                quota: limit,
            });
        }
        drop(state);
        self.added = self.added + more;
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
        let mut is_new = |event: &NewEvent| match &event.id {
            None => true,
            Some(id) => !self.ids.contains(id) && !state.ids.contains(id) && own.insert(id.clone()),
        };
        let events: Vec<_> = events.into_iter().filter(|event| is_new(event)).collect();
        let repeated = before - events.len();
        (events, Appended { repeated })
    }

    fn readers(&self, state: &State) -> usize {
        state.readers.len() + self.new_readers.len() - self.removed_readers.len()
    }

    /// Returns the limit that does not permit more events. Where the oldest events are dropped, more have to fit
    /// alone: after the commit those go that are beyond the quota, of this commit or of earlier ones.
    fn limit(&self, state: &State, more: Usage) -> Option<Limit> {
        let quota = state.settings.quota;
        let kept = match quota.when_full {
            WhenFull::Refuse => state.usage() + self.added,
            WhenFull::DropOldest => Usage::default(),
        };
        (kept + more).beyond(quota)
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
}
