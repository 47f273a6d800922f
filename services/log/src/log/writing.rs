//! Writing records: room is made for them, then they are stored together with those of other callers, and only then seen.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use parking_lot::MutexGuard;
use punctual_host::store::Record;

use super::Log;
use super::duty;
use super::state::{Fullness, State};
use crate::ds_log_admin::{RecordId, TimeT};
use crate::kept::Content;
use crate::record::{Entry, Stored};
use crate::refusal::{NotWritten, Refusal};
use crate::storage::{Change, RecordsChange};

/// Records that are about to be stored.
#[derive(Default)]
struct Draft {
    added: VecDeque<(RecordId, Vec<u8>)>,
    /// Oldest records of a log that wraps, in whose place the new ones are.
    replaced: Vec<(RecordId, Entry)>,
    /// Number of records that the log has taken.
    taken: usize,
    /// The log has no room for the others.
    is_cut: bool,
}

impl Draft {
    /// Returns whether there is nothing to store.
    fn is_empty(&self) -> bool {
        self.added.is_empty() && self.replaced.is_empty()
    }
}

impl Log {
    /// Writes records, and returns when they are durable. Blocks.
    ///
    /// # Errors
    /// The log takes none, or not all, at present; a record is too large. [`NotWritten::Full`] says how many were
    /// written.
    pub(crate) fn write(&self, contents: Vec<Content>) -> Result<(), NotWritten> {
        let now = self.common.clock.now();
        self.check_takes(now)?;
        let offered = contents.len();
        let encoded: Result<Vec<_>, _> = contents
            .into_iter()
            .map(|content| self.encoded(now, content))
            .collect();
        let draft = self.reserve(encoded?)?;
        let (taken, is_cut) = (draft.taken, draft.is_cut);
        let stored = self.store(now, draft);
        self.tell_alarms();
        stored?;
        self.common.metrics.written.add(taken);
        match is_cut {
            true => {
                self.common.metrics.refused.add(offered - taken);
                Err(NotWritten::Full(taken))
            }
            false => Ok(()),
        }
    }

    fn check_takes(&self, now: TimeT) -> Result<(), NotWritten> {
        let settings = self.settings.read();
        if settings.is_locked {
            return Err(NotWritten::Locked);
        }
        match duty::is_on(&settings.interval, &settings.week_mask, now) {
            true => Ok(()),
            false => Err(NotWritten::OffDuty),
        }
    }

    /// Returns the bytes of a record as it is stored.
    ///
    /// # Errors
    /// It is too large, or has too many attributes.
    pub(super) fn encoded(&self, time: TimeT, content: Content) -> Result<Vec<u8>, Refusal> {
        let most = self.common.limits.attributes;
        if content.attr_list.len() > most {
            return Err(Refusal::TooManyAttributes(most));
        }
        // A record that cannot be read would fail all queries that come to it.
        let bytes = Stored { time, content }.to_readable()?;
        let limit = self.common.limits.record_bytes;
        match bytes.len() {
            size if size > limit => Err(Refusal::RecordTooLarge { bytes: size, limit }),
            _ => Ok(bytes),
        }
    }

    /// Makes room for records, and gives them their ids. Blocks while the records of other writes fill a log that wraps.
    fn reserve(&self, encoded: Vec<Vec<u8>>) -> Result<Draft, Refusal> {
        punctual::about_to_block();
        let mut draft = Draft::default();
        let mut state = self.current();
        for bytes in encoded {
            let size = bytes.len() as u64;
            let is_full = state.fullness == Fullness::AtMaximum;
            if is_full || !self.make_room(&mut state, &mut draft, size) {
                draft.is_cut = true;
                state.note_refused(size);
                break;
            }
            state.fullness = Fullness::HasRoom;
            // Relaxed: the store's lock orders what is written.
            let id = self.last.fetch_add(1, Ordering::Relaxed) + 1;
            draft.added.push_back((id, bytes));
            draft.taken += 1;
        }
        if state.is_destroyed {
            drop(state);
            self.discard(&draft.replaced);
            return Err(Refusal::Destroyed("log"));
        }
        if !draft.is_empty() {
            state.writes += 1;
        }
        Ok(draft)
    }

    /// Reserves room for a record; a log that wraps gives up its oldest ones.
    fn make_room(&self, state: &mut MutexGuard<'_, State>, draft: &mut Draft, bytes: u64) -> bool {
        let usage = &self.common.usage;
        while !state.is_destroyed {
            if state.fits(bytes) && usage.take(1, bytes) {
                state.reserve(bytes);
                return true;
            }
            let may_wrap = state.wraps() && state.fits_alone(bytes);
            if !may_wrap || !usage.has_room_without(state.bytes(), bytes) {
                return false;
            }
            let freed = if let Some((id, entry)) = state.pop_oldest() {
                draft.replaced.push((id, entry));
                entry.bytes
            } else if let Some((_, bytes)) = draft.added.pop_front() {
                bytes.len() as u64
            } else if state.writes > 0 {
                // Their records make room once they are stored. This write has reserved nothing, so that none waits for it.
                self.written.wait(state);
                continue;
            } else {
                return false;
            };
            state.free(freed);
            usage.give_back(1, freed);
        }
        false
    }

    /// Stores a draft, and shows its records.
    fn store(&self, now: TimeT, draft: Draft) -> Result<(), NotWritten> {
        if draft.is_empty() {
            return Ok(());
        }
        let entry = |(id, bytes): &(RecordId, Vec<u8>)| {
            let bytes = bytes.len() as u64;
            (*id, Entry { time: now, bytes })
        };
        let entries: Vec<_> = draft.added.iter().map(entry).collect();
        let change = RecordsChange {
            added: draft.added.into(),
            removed: draft.replaced.iter().map(|(id, _)| *id).collect(),
            last: Some(self.last.clone()),
            ..RecordsChange::of(self.number)
        };
        let stored = self.common.storage.change(Change::Records(change));
        match stored {
            Ok(()) => {
                self.common.metrics.replaced.add(draft.replaced.len());
                if self.show(&entries) {
                    self.tell_enabled();
                }
                Ok(())
            }
            Err(reason) => {
                if self.give_back(&entries, &draft.replaced) {
                    self.tell_disabled(&reason);
                }
                Err(NotWritten::Disabled)
            }
        }
    }

    /// Shows records that are stored; returns whether the log was disabled before.
    fn show(&self, entries: &[(RecordId, Entry)]) -> bool {
        let mut state = self.state.lock();
        if state.is_destroyed {
            let usage = &self.common.usage;
            usage.give_back(entries.len() as u64, octets(entries));
            self.discard(entries);
        } else {
            state.add(entries);
        }
        let was_disabled = std::mem::replace(&mut state.is_disabled, false);
        self.end_write(&mut state);
        was_disabled
    }

    /// Gives back the room of records that could not be stored, and returns those that had to make it to the log; returns
    /// whether the log was enabled before.
    fn give_back(&self, entries: &[(RecordId, Entry)], replaced: &[(RecordId, Entry)]) -> bool {
        let (taken, kept) = (octets(entries), octets(replaced));
        self.common.usage.give_back(entries.len() as u64, taken);
        let mut state = self.state.lock();
        if state.is_destroyed {
            self.discard(replaced);
        } else {
            state.free(taken);
            state.reserve(kept);
            self.common.usage.add(replaced.len() as u64, kept);
            state.put_back(replaced);
        }
        let was_enabled = !std::mem::replace(&mut state.is_disabled, true);
        self.end_write(&mut state);
        was_enabled
    }

    /// Lets writes go on that wait for room.
    fn end_write(&self, state: &mut State) {
        state.writes -= 1;
        self.written.notify_all();
    }
}

fn octets(entries: &[(RecordId, Entry)]) -> u64 {
    entries.iter().map(|(_, entry)| entry.bytes).sum()
}
