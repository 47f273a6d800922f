//! Changes of one commit to one log: written to the file and, once they are durable, applied to the log's state.

use punctual_host::store::{Batch, StoreError};

use super::draft::Draft;
use super::layout::{BLOCKS, HEADS, IDS, LOGS, LogRecord, READERS};
use super::log::Log;
use super::reader_state::ReaderState;
use super::state::State;

impl Draft {
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
            heads.put(key, &block.head())?;
            blocks.insert(key, block.bytes.as_slice())?;
            if let Some(record) = block.ids(self.now) {
                ids.put(key, &record)?;
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
        for (name, start) in self.new_readers {
            state.readers.insert(name, ReaderState::added_at(start));
        }
        for block in self.blocks {
            if let Some(record) = block.ids(self.now) {
                state.ids.add(block.first, record);
            }
            state.add_stored(block);
        }
        if self.added.events > 0 {
            state.keep_quota();
        }
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
