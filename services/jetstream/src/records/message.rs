//! Records and heartbeats as messages.

use std::time::Duration;

use async_nats::{HeaderMap, Message as Received, Subject};
use bytes::Bytes;
use punctual_durable::Name;
use punctual_host::store::{SharedRecord, StoreError};
use serde_json::{Value, json};

use crate::connection::Publication;

/// Header of a removal.
const REMOVED: &str = "Punctual-Removed";
/// Header that names the writer, and its write.
const WRITE: &str = "Punctual-Write";

/// Time for which a removal is kept.
const KEPT: Duration = Duration::from_secs(3_600);

/// Subjects of shared records, and the stream that has them.
#[derive(Clone, Debug)]
pub(super) struct Root {
    prefix: String,
    name: Name,
}

/// Message of a record, or a heartbeat.
#[derive(Clone, Debug)]
pub(super) struct Message {
    subject: Subject,
    payload: Bytes,
    is_removed: bool,
}

impl Root {
    pub(super) fn new(prefix: &str, name: &Name) -> Self {
        Self {
            prefix: prefix.to_owned(),
            name: name.clone(),
        }
    }

    pub(super) fn stream(&self) -> String {
        format!("{}-shared-{}", self.prefix, self.name)
    }

    fn subject(&self, rest: &str) -> String {
        format!("{}-shared.{}.{rest}", self.prefix, self.name)
    }

    /// Returns all subjects of the stream.
    pub(super) fn all(&self) -> String {
        self.subject(">")
    }

    /// Returns the subject of the holder's heartbeats.
    pub(super) fn holder(&self) -> String {
        self.subject("holder")
    }

    /// Returns the subject of a record.
    pub(super) fn record(&self, table: &str, number: u64) -> String {
        self.subject(&format!("record.{table}.{number}"))
    }

    /// Returns the heartbeat of a holder, with its lease, or the last one of a holder that ends.
    pub(super) fn heartbeat(&self, holder: &str, lease: Duration, is_ending: bool) -> Message {
        let lease = u64::try_from(lease.as_millis()).unwrap_or(u64::MAX);
        let heartbeat = json!({ "holder": holder, "lease_ms": lease, "ends": is_ending });
        Message {
            subject: self.holder().into(),
            payload: heartbeat.to_string().into(),
            is_removed: false,
        }
    }

    /// Returns the messages of records, whose values have at most `longest` bytes.
    ///
    /// # Errors
    /// A value is longer.
    pub(super) fn messages(
        &self,
        records: &[SharedRecord],
        longest: usize,
    ) -> Result<Vec<Message>, StoreError> {
        let messages = records.iter().map(|record| {
            let payload = Bytes::from(record.value.clone().unwrap_or_default());
            if payload.len() > longest {
                let length = payload.len();
                let why =
                    format!("a record of {length} bytes is longer than the NATS servers take");
                return Err(StoreError::NotStorable(why));
            }
            Ok(Message {
                subject: self.record(&record.table, record.number).into(),
                payload,
                is_removed: record.value.is_none(),
            })
        });
        messages.collect()
    }
}

impl Message {
    /// Returns what is published, as part of a write.
    pub(super) fn publication(&self, write: &str) -> Publication {
        (
            self.subject.clone(),
            self.headers(write),
            self.payload.clone(),
        )
    }

    fn headers(&self, write: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(WRITE, write);
        if self.is_removed {
            headers.insert(REMOVED, "1");
            headers.insert("Nats-TTL", KEPT.as_secs().to_string());
        }
        headers
    }
}

/// Returns the lease that a heartbeat states; `None` if its holder has ended.
pub(super) fn lease_of(payload: &[u8]) -> Option<Duration> {
    let heartbeat: Value = serde_json::from_slice(payload).ok()?;
    let is_ending = heartbeat["ends"].as_bool().unwrap_or(false);
    let lease = heartbeat["lease_ms"].as_u64().unwrap_or(0);
    (!is_ending).then(|| Duration::from_millis(lease))
}

/// Returns the write that stored a message, by the text of its headers.
pub(super) fn write_of(headers: &str) -> Option<&str> {
    headers.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name == WRITE).then(|| value.trim())
    })
}

/// Returns whether a message is the removal of a record, by the text of its headers.
pub(super) fn is_removal(headers: &str) -> bool {
    let name = |line: &str| line.split_once(':').map(|(name, _)| name == REMOVED);
    headers.lines().filter_map(name).any(|is_it| is_it)
}

/// Returns the record of a message; `None` for heartbeats and removals.
pub(super) fn record(message: &Received) -> Option<SharedRecord> {
    let mut parts = message.subject.rsplitn(4, '.');
    let number = parts.next()?.parse().ok()?;
    let table = parts.next()?;
    let is_record = parts.next()? == "record";
    let headers = message.headers.as_ref();
    let is_removed = headers.is_some_and(|headers| headers.get(REMOVED).is_some());
    (is_record && !is_removed).then(|| SharedRecord {
        table: table.into(),
        number,
        value: Some(message.payload.to_vec()),
    })
}
