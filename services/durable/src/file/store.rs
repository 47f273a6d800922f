//! Store of logs in a file of this machine, which one process has open.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
#[cfg(feature = "faults")]
use punctual_host::store::Faults;
use punctual_host::store::{StoreFile, StoreKind};

use super::core::{Core, Operation};
use super::handles::{FileLog, Running};
use super::keeper::{Keeper, Logs, settle};
use super::loading;
use super::log::Log;
use super::state::State;
use crate::contract::{DurableError, EventLog, EventStore, LogSettings, Name};

type Result<T> = std::result::Result<T, DurableError>;

/// Name and format of files that have nothing but logs of events.
const KIND: StoreKind = StoreKind::new("durable events", 1);

/// Settings of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileOptions {
    /// Time after which an acknowledgement is stored, if no commit does so before. Default: 100 ms. A
    /// process that is killed repeats events that it acknowledged within this time.
    pub acknowledge_after: Duration,
    /// Bytes of each log's events that are kept in memory, at least one block of some 60 KiB. Default: 8 MiB.
    pub cache_bytes: usize,
}

impl Default for FileOptions {
    fn default() -> Self {
        Self {
            acknowledge_after: Duration::from_millis(100),
            cache_bytes: 8 << 20,
        }
    }
}

/// Store of logs in an embedded database. The file is closed when the store, its logs and its
/// readers have all been dropped.
#[derive(Debug)]
pub struct FileStore {
    running: Arc<Running>,
    logs: Logs,
    options: FileOptions,
    /// Held while a log is created or removed.
    creating: Mutex<()>,
    /// Highest number of a log.
    numbers: AtomicU64,
}

impl FileStore {
    /// Opens a file, which is created if need be.
    ///
    /// # Errors
    /// The file is in use, damaged, newer, of another kind, or cannot be read or written. It is
    /// left unchanged.
    pub fn open(path: &Path, options: FileOptions) -> Result<Self> {
        Self::on(Arc::new(StoreFile::open(path, KIND)?), options)
    }

    /// Opens a file as [`open`](Self::open) does, on a disk with injected faults.
    ///
    /// # Errors
    /// As of [`open`](Self::open).
    #[cfg(feature = "faults")]
    pub fn open_with_faults(path: &Path, options: FileOptions, faults: Faults) -> Result<Self> {
        Self::on(
            Arc::new(StoreFile::open_with_faults(path, KIND, faults)?),
            options,
        )
    }

    /// Opens the logs that are in a service's store, beside the service's own tables. Their tables
    /// have names that begin with `event `.
    ///
    /// # Errors
    /// The file is damaged, or cannot be read.
    pub fn on(file: Arc<StoreFile>, options: FileOptions) -> Result<Self> {
        let logs = loading::logs(&file, options.cache_bytes)?;
        let numbers = logs.values().map(|log| log.number).max().unwrap_or(0);
        let logs = Arc::new(Mutex::new(logs));
        let core = Arc::new(Core::new(file));
        let keeper = Keeper::start(core.clone(), logs.clone(), options.acknowledge_after)?;
        Ok(Self {
            running: Arc::new(Running { keeper, core }),
            logs,
            options,
            creating: Mutex::default(),
            numbers: AtomicU64::new(numbers),
        })
    }

    /// Returns unused pages of the file to the file system. Takes time in proportion to the file's
    /// length, and should be called before the store is used. Returns true if the file has become shorter.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn compact(&self) -> Result<bool> {
        Ok(self.running.core.file.compact()?)
    }

    /// Returns the length of the file in bytes.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        self.running.core.file.bytes()
    }

    fn log(&self, name: &Name) -> Option<Arc<Log>> {
        self.logs.lock().get(name).cloned()
    }

    fn create(&self, name: &Name, settings: LogSettings) -> Result<Arc<Log>> {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed) + 1;
        let state = State::new(1, settings, self.options.cache_bytes);
        let log = Arc::new(Log::new(name.clone(), number, state));
        self.running
            .core
            .perform(Operation::CreateLog(log.clone()))?;
        self.logs.lock().insert(name.clone(), log.clone());
        Ok(log)
    }
}

impl EventStore for FileStore {
    fn open_log(&self, name: &Name, settings: LogSettings) -> Result<Arc<dyn EventLog>> {
        let _creating = self.creating.lock();
        let log = match self.log(name) {
            Some(log) => log,
            None => self.create(name, settings)?,
        };
        log.state.lock().settings = settings;
        Ok(Arc::new(FileLog {
            running: self.running.clone(),
            log,
        }))
    }

    fn remove_log(&self, name: &Name) -> Result<bool> {
        let _creating = self.creating.lock();
        let Some(log) = self.log(name) else {
            return Ok(false);
        };
        self.running.core.perform(Operation::RemoveLog(log))?;
        self.logs.lock().remove(name);
        Ok(true)
    }

    fn log_names(&self) -> Result<Vec<Name>> {
        Ok(self.logs.lock().keys().cloned().collect())
    }
}

/// Stores the acknowledgements that are not stored yet.
impl Drop for FileStore {
    fn drop(&mut self) {
        let mut logs: Vec<Arc<Log>> = self.logs.lock().values().cloned().collect();
        logs.retain(|log| log.state.lock().is_unsettled());
        settle(&self.running.core, logs);
    }
}
