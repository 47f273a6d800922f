//! Logs: streams with interest retention.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;
use punctual_durable::{
    Appended, DurableError, EventLog, LogStatus, Name, NewEvent, Quota, Reader,
};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::connection::{Connection, code};
use crate::held::Held;
use crate::outgoing::longest_event;
use crate::publisher::Append;
use crate::reader::JetReader;
use crate::runtime::Runtime;

type Result<T> = std::result::Result<T, DurableError>;

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

    /// Notes that a reader is open; fails if it is already.
    fn open(&self, reader: &Name, held: Arc<Held>) -> Result<()> {
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

/// Log of a [`JetStreamStore`](crate::JetStreamStore).
pub(crate) struct JetLog {
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) connection: Connection,
    pub(crate) shared: LogShared,
    pub(crate) appends: mpsc::Sender<Append>,
    pub(crate) limits: ReaderLimits,
}

/// Settings of readers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReaderLimits {
    pub(crate) window: usize,
    pub(crate) acknowledge_wait: std::time::Duration,
}

impl fmt::Debug for JetLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shared.fmt(f)
    }
}

impl EventLog for JetLog {
    fn append(&self, events: Vec<NewEvent>) -> Result<Appended> {
        self.check(&events)?;
        if events.is_empty() {
            return Ok(Appended::default());
        }
        let (done, outcome) = oneshot::channel();
        let end = Instant::now() + self.connection.patience;
        self.appends
            .try_send(Append { events, end, done })
            .map_err(|error| match error {
                TrySendError::Full(_) => {
                    DurableError::Away("too many appends wait already".to_owned())
                }
                TrySendError::Closed(_) => self.shared.removed(),
            })?;
        let lost = || {
            Err(DurableError::Unknown(
                "the connection was closed".to_owned(),
            ))
        };
        outcome.blocking_recv().unwrap_or_else(|_| lost())
    }

    fn open_reader(&self, name: &Name) -> Result<Arc<dyn Reader>> {
        if self.shared.is_removed() {
            return Err(self.shared.removed());
        }
        let held = Arc::new(Held::default());
        self.shared.open(name, held.clone())?;
        let opened = JetReader::open(self, name.clone(), held);
        if opened.is_err() {
            self.shared.close(name);
        }
        Ok(Arc::new(opened?))
    }

    fn remove_reader(&self, name: &Name) -> Result<bool> {
        let subject = format!("CONSUMER.DELETE.{}.{name}", self.shared.stream());
        let held = self.shared.0.readers.lock().get(name).cloned();
        let connection = self.connection.clone();
        let is_removed = self.runtime.call(async move {
            match connection.request(subject).await {
                Ok(_) => Ok(true),
                Err(error) if error.has_code(code::CONSUMER_NOT_FOUND) => Ok(false),
                Err(error) => Err(error.into()),
            }
        })?;
        if let Some(held) = held {
            held.remove();
        }
        Ok(is_removed)
    }

    fn reader_names(&self) -> Result<Vec<Name>> {
        let subject = format!("CONSUMER.NAMES.{}", self.shared.stream());
        let connection = self.connection.clone();
        let names = self
            .runtime
            .call(async move { connection.names(subject, "consumers").await })?;
        let mut names: Vec<Name> = names.iter().filter_map(|name| name.parse().ok()).collect();
        names.sort();
        Ok(names)
    }

    fn status(&self) -> Result<LogStatus> {
        let subject = format!("STREAM.INFO.{}", self.shared.stream());
        let connection = self.connection.clone();
        let info = self
            .runtime
            .call(async move { Ok(connection.request(subject).await?) })?;
        let number = |field: &str| info["state"][field].as_u64().unwrap_or(0);
        let state = &self.shared.0;
        Ok(LogStatus {
            events: number("messages"),
            bytes: number("bytes"),
            refused: state.refused.load(Ordering::Relaxed),
            dropped: 0,
            expired: state.expired.load(Ordering::Relaxed),
            repeated: state.repeated.load(Ordering::Relaxed),
        })
    }
}

impl JetLog {
    fn check(&self, events: &[NewEvent]) -> Result<()> {
        if self.shared.is_removed() {
            return Err(self.shared.removed());
        }
        let most = longest_event(self.connection.client.max_payload());
        let long = events.iter().find(|event| event.bytes.len() > most);
        long.map_or(Ok(()), |event| {
            Err(DurableError::TooLong {
                log: self.shared.name().clone(),
                bytes: event.bytes.len() as u64,
                most: most as u64,
            })
        })
    }
}
