//! Handing out of events to readers.

use super::slots::block_of;
use super::{Drop, State};
use crate::contract::{Delivery, DurableError, Moment, Most, Name, Position};
use crate::file::reader_state::ReaderState;

/// Outcome of a fetch.
#[derive(Debug, Default)]
pub(in crate::file) struct Taken {
    pub(in crate::file) deliveries: Vec<Delivery>,
    /// Block that has to be read from the file before more can be taken.
    pub(in crate::file) missing: Option<u64>,
}

impl State {
    /// Takes the next events for a reader.
    pub(in crate::file) fn take(
        &mut self,
        name: &Name,
        most: Most,
        now: Moment,
    ) -> Result<Taken, DurableError> {
        let mut taken = Taken::default();
        let mut room = most.bytes;
        while taken.deliveries.len() < most.events.max(1)
            && let Some(position) = self.next_for(name)?
            && let Some((first, block)) = block_of(&mut self.blocks, position)
        {
            let number = (position - first) as usize;
            if block.has_expired(number, now) {
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

    /// Returns the position of the next event for a reader: one that was given back, or else the next that was not
    /// handed out.
    fn next_for(&self, name: &Name) -> Result<Option<u64>, DurableError> {
        let reader = self.readers.get(name);
        let reader = reader.ok_or_else(|| DurableError::Removed(format!("reader {name}")))?;
        let returned = reader.returned.first().copied();
        Ok(returned.or_else(|| self.after_cursor(reader)))
    }

    /// Returns the position of the next event that was not handed out to a reader and that it waits for.
    fn after_cursor(&self, reader: &ReaderState) -> Option<u64> {
        let mut from = reader.cursor;
        loop {
            from = reader.next_from(from);
            // Not all positions have an event: a block may be deleted before the last acknowledgement of it is stored.
            let (start, ..) = self.live_from(from).next()?;
            if start == from {
                return Some(from);
            }
            from = start;
        }
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
    pub(in crate::file) fn give_back(&mut self, name: &Name, positions: &[Position]) {
        let Some(reader) = self.readers.get_mut(name) else {
            return;
        };
        for Position(position) in positions {
            if *position < reader.cursor && reader.waits_for(*position) {
                reader.returned.insert(*position);
            }
        }
    }
}
