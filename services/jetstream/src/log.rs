//! Logs: streams with interest retention.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use punctual_durable::{Appended, DurableError, EventLog, LogStatus, Name, NewEvent, Reader};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::connection::code;
use crate::held::Held;
use crate::publisher::Append;
use crate::reader::JetReader;
use crate::shared::LogAccess;

type Result<T> = std::result::Result<T, DurableError>;

/// Log of a [`JetStreamStore`](crate::JetStreamStore).
pub(crate) struct JetLog {
    pub(crate) access: LogAccess,
    pub(crate) appends: mpsc::Sender<Append>,
}

impl fmt::Debug for JetLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.access.shared.fmt(f)
    }
}

impl EventLog for JetLog {
    fn append(&self, events: Vec<NewEvent>) -> Result<Appended> {
        self.check(&events)?;
        if events.is_empty() {
            return Ok(Appended::default());
        }
        let (done, outcome) = oneshot::channel();
        let end = Instant::now() + self.access.connection.patience;
        self.appends
            .try_send(Append { events, end, done })
            .map_err(|error| match error {
                TrySendError::Full(_) => {
                    DurableError::Away("too many appends wait already".to_owned())
                }
                TrySendError::Closed(_) => self.access.shared.removed(),
            })?;
        let lost = || {
            Err(DurableError::Unknown(
                "the connection was closed".to_owned(),
            ))
        };
        let outcome = self
            .access
            .runtime
            .wait(outcome)
            .and_then(std::result::Result::ok);
        outcome.unwrap_or_else(lost)
    }

    fn open_reader(&self, name: &Name) -> Result<Arc<dyn Reader>> {
        if self.access.shared.is_removed() {
            return Err(self.access.shared.removed());
        }
        let held = Arc::new(Held::default());
        self.access.shared.open(name, held.clone())?;
        let opened = JetReader::open(&self.access, name.clone(), held);
        if opened.is_err() {
            self.access.shared.close(name);
        }
        Ok(Arc::new(opened?))
    }

    fn remove_reader(&self, name: &Name) -> Result<bool> {
        let subject = format!("CONSUMER.DELETE.{}.{name}", self.access.shared.stream());
        let held = self.access.shared.open_reader(name);
        let connection = self.access.connection.clone();
        let is_removed = self
            .access
            .runtime
            .call(async move { connection.remove(subject, code::CONSUMER_NOT_FOUND).await })?;
        if let Some(held) = held {
            held.remove();
        }
        Ok(is_removed)
    }

    fn reader_names(&self) -> Result<Vec<Name>> {
        let subject = format!("CONSUMER.NAMES.{}", self.access.shared.stream());
        let connection = self.access.connection.clone();
        let names = self
            .access
            .runtime
            .call(async move { connection.names(subject, "consumers").await })?;
        let mut names: Vec<Name> = names.iter().filter_map(|name| name.parse().ok()).collect();
        names.sort();
        Ok(names)
    }

    fn status(&self) -> Result<LogStatus> {
        let subject = format!("STREAM.INFO.{}", self.access.shared.stream());
        let connection = self.access.connection.clone();
        let info = self
            .access
            .runtime
            .call(async move { connection.asked(subject, Bytes::new()).await })?;
        let number = |field: &str| info["state"][field].as_u64().unwrap_or(0);
        let counts = self.access.shared.counts();
        Ok(LogStatus {
            events: number("messages"),
            bytes: number("bytes"),
            ..counts
        })
    }
}

impl JetLog {
    fn check(&self, events: &[NewEvent]) -> Result<()> {
        if self.access.shared.is_removed() {
            return Err(self.access.shared.removed());
        }
        let most = self.access.connection.longest_content();
        let long = events.iter().find(|event| event.bytes.len() > most);
        long.map_or(Ok(()), |event| {
            Err(DurableError::TooLong {
                log: self.access.shared.name().clone(),
                bytes: event.bytes.len() as u64,
                most: most as u64,
            })
        })
    }
}
