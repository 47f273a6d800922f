//! State of a log in this process, which its handles and tasks share.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use punctual_durable::{DurableError, LogStatus, Name, Quota};

use crate::connection::Connection;
use crate::held::Held;
use crate::runtime::Runtime;

/// Access to a log: its state, and the way to the servers.
#[derive(Clone, Debug)]
pub(crate) struct LogAccess {
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) connection: Connection,
    pub(crate) shared: LogShared,
    pub(crate) limits: ReaderLimits,
}

/// Settings of readers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReaderLimits {
    /// At least 1.
    pub(crate) window: usize,
    pub(crate) acknowledge_wait: Duration,
}

/// State of a log that its tasks and handles share.
#[derive(Clone)]
pub(crate) struct LogShared(Arc<State>);

struct State {
    name: Name,
    stream: String,
    quota: Mutex<Quota>,
    is_removed: AtomicBool,
    refused: AtomicU64,
    repeated: AtomicU64,
    expired: AtomicU64,
    /// Readers that are open in this process.
    readers: Mutex<BTreeMap<Name, Arc<Held>>>,
}

impl fmt::Debug for LogShared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "log {}", self.0.name)
    }
}

impl LogShared {
    pub(crate) fn new(name: Name, stream: String, quota: Quota) -> Self {
        Self(Arc::new(State {
            name,
            stream,
            quota: Mutex::new(quota),
            is_removed: AtomicBool::new(false),
            refused: AtomicU64::new(0),
            repeated: AtomicU64::new(0),
            expired: AtomicU64::new(0),
            readers: Mutex::default(),
        }))
    }

    pub(crate) fn name(&self) -> &Name {
        &self.0.name
    }

    pub(crate) fn stream(&self) -> &str {
        &self.0.stream
    }

    pub(crate) fn quota(&self) -> Quota {
        *self.0.quota.lock()
    }

    pub(crate) fn set_quota(&self, quota: Quota) {
        *self.0.quota.lock() = quota;
    }

    pub(crate) fn is_removed(&self) -> bool {
        self.0.is_removed.load(Ordering::Acquire)
    }

    pub(crate) fn removed(&self) -> DurableError {
        DurableError::Removed(format!("log {}", self.0.name))
    }

    /// Notes that the log was removed, which ends its readers.
    pub(crate) fn remove(&self) {
        self.0.is_removed.store(true, Ordering::Release);
        let readers: Vec<_> = self.0.readers.lock().values().cloned().collect();
        readers.iter().for_each(|held| held.remove());
    }

    pub(crate) fn note_refused(&self, events: usize) {
        self.0.refused.fetch_add(events as u64, Ordering::Relaxed);
    }

    pub(crate) fn note_repeated(&self, events: usize) {
        self.0.repeated.fetch_add(events as u64, Ordering::Relaxed);
    }

    pub(crate) fn note_expired(&self, events: usize) {
        self.0.expired.fetch_add(events as u64, Ordering::Relaxed);
    }

    /// Returns what was counted in this process.
    pub(crate) fn counts(&self) -> LogStatus {
        LogStatus {
            refused: self.0.refused.load(Ordering::Relaxed),
            expired: self.0.expired.load(Ordering::Relaxed),
            repeated: self.0.repeated.load(Ordering::Relaxed),
            ..LogStatus::default()
        }
    }

    /// Returns the events of a reader that is open in this process.
    pub(crate) fn open_reader(&self, reader: &Name) -> Option<Arc<Held>> {
        self.0.readers.lock().get(reader).cloned()
    }

    /// Notes that a reader is open; fails if it is already.
    pub(crate) fn open(&self, reader: &Name, held: Arc<Held>) -> Result<(), DurableError> {
        let mut readers = self.0.readers.lock();
        if readers.contains_key(reader) {
            return Err(DurableError::ReaderInUse {
                log: self.0.name.clone(),
                reader: reader.clone(),
            });
        }
        readers.insert(reader.clone(), held);
        Ok(())
    }

    /// Notes that a reader is no longer open.
    pub(crate) fn close(&self, reader: &Name) {
        self.0.readers.lock().remove(reader);
    }
}
