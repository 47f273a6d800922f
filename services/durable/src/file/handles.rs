//! Logs and readers, as callers have them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::core::{Core, Done, Operation};
use super::keeper::Keeper;
use super::loading;
use super::log::Log;
use super::state::Taken;
use crate::contract::{
    Appended, Delivery, DurableError, EventLog, LogStatus, Moment, Most, Name, NewEvent, Position,
    Reader, Wake,
};

type Result<T> = std::result::Result<T, DurableError>;

/// File and thread of a store, which end with the last of its logs and readers.
#[derive(Debug)]
pub(super) struct Running {
    /// Dropped first, as the thread uses the file.
    pub(super) keeper: Keeper,
    pub(super) core: Arc<Core>,
}

/// Log of a [`FileStore`](super::FileStore).
#[derive(Debug)]
pub(super) struct FileLog {
    pub(super) running: Arc<Running>,
    pub(super) log: Arc<Log>,
}

/// Reader of a [`FileLog`].
#[derive(Debug)]
struct FileReader {
    running: Arc<Running>,
    log: Arc<Log>,
    name: Name,
    /// Number of this opening of the reader, as there may be a new reader of the name.
    opening: u64,
}

impl EventLog for FileLog {
    fn append(&self, events: Vec<NewEvent>) -> Result<Appended> {
        let done = self.perform(Operation::Append(self.log.clone(), events))?;
        match done {
            Done::Appended(appended) => Ok(appended),
            Done::Yes | Done::No => Ok(Appended::default()),
        }
    }

    fn open_reader(&self, name: &Name) -> Result<Arc<dyn Reader>> {
        self.perform(Operation::AddReader(self.log.clone(), name.clone()))?;
        let opening = self.log.state.lock().open_reader(name)?;
        let opening = opening.ok_or_else(|| DurableError::ReaderInUse {
            log: self.log.name.clone(),
            reader: name.clone(),
        })?;
        Ok(Arc::new(FileReader {
            running: self.running.clone(),
            log: self.log.clone(),
            name: name.clone(),
            opening,
        }))
    }

    fn remove_reader(&self, name: &Name) -> Result<bool> {
        let done = self.perform(Operation::RemoveReader(self.log.clone(), name.clone()))?;
        self.running.keeper.note_unsettled();
        Ok(done == Done::Yes)
    }

    fn reader_names(&self) -> Result<Vec<Name>> {
        Ok(self.log.state.lock().readers.keys().cloned().collect())
    }

    fn status(&self) -> Result<LogStatus> {
        Ok(self.log.state.lock().status)
    }
}

impl FileLog {
    fn perform(&self, operation: Operation) -> Result<Done> {
        self.running.core.perform(operation)
    }
}

impl Reader for FileReader {
    fn fetch(&self, most: Most, patience: Duration) -> Result<Vec<Delivery>> {
        let end = Instant::now().checked_add(patience);
        loop {
            let mut state = self.log.state.lock();
            state.opened(&self.name, self.opening)?;
            let taken = state.take(&self.name, most, Moment::now())?;
            match taken {
                Taken { deliveries, .. } if !deliveries.is_empty() => return Ok(deliveries),
                Taken {
                    missing: Some(first),
                    ..
                } => {
                    drop(state);
                    self.read(first)?;
                }
                Taken { missing: None, .. } => {
                    let left = end.map(|end| end.saturating_duration_since(Instant::now()));
                    if left.is_some_and(|left| left.is_zero()) {
                        return Ok(Vec::new());
                    }
                    match left {
                        Some(left) => drop(self.log.changed.wait_for(&mut state, left)),
                        None => self.log.changed.wait(&mut state),
                    }
                }
            }
        }
    }

    fn floor(&self) -> Result<Option<Position>> {
        let mut state = self.log.state.lock();
        let reader = state.opened(&self.name, self.opening)?;
        Ok(Some(Position(reader.next_from(0).saturating_sub(1))))
    }

    fn acknowledge(&self, positions: &[Position]) {
        let mut state = self.log.state.lock();
        if state.opened(&self.name, self.opening).is_err() {
            return;
        }
        for Position(position) in positions {
            state.acknowledge(&self.name, *position);
        }
        let is_unsettled = state.is_unsettled();
        drop(state);
        if is_unsettled {
            self.running.keeper.note_unsettled();
        }
    }

    fn give_back(&self, positions: &[Position]) {
        let mut state = self.log.state.lock();
        if state.opened(&self.name, self.opening).is_err() {
            return;
        }
        state.give_back(&self.name, positions);
        drop(state);
        self.log.wake_all();
    }

    fn flush(&self) -> Result<()> {
        if !self.log.state.lock().is_unsettled() {
            return Ok(());
        }
        let settle = Operation::Settle(vec![self.log.clone()]);
        self.running.core.perform(settle).map(drop)
    }

    fn wake_by(&self, wake: Wake) {
        if let Ok(reader) = self.log.state.lock().opened(&self.name, self.opening) {
            reader.wake = Some(wake);
            reader.awaits_events = true;
        }
    }

    fn waiting(&self) -> Result<u64> {
        let mut state = self.log.state.lock();
        Ok(state.opened(&self.name, self.opening)?.waiting)
    }
}

impl FileReader {
    /// Reads a block, and some after it, from the file.
    fn read(&self, first: u64) -> Result<()> {
        let blocks = loading::blocks(&self.running.core.file, self.log.number, first)?;
        let mut state = self.log.state.lock();
        let has_first = blocks
            .first()
            .is_some_and(|(position, _)| *position == first);
        // The first one comes last, so that it stays in the cache.
        for (position, block) in blocks.into_iter().rev() {
            state.cache(position, block);
        }
        if !has_first && state.lacks(first) {
            return Err(DurableError::Invalid(format!(
                "block {first} is not in the file"
            )));
        }
        Ok(())
    }
}

impl Drop for FileReader {
    fn drop(&mut self) {
        if let Ok(reader) = self.log.state.lock().opened(&self.name, self.opening) {
            reader.close();
        }
    }
}
