//! Appends: one task for each log stores the events of all waiting threads, in the order in which
//! they came.
//!
//! Events are stored in atomic batches (JetStream 2.12): a batch is stored whole and in order, or
//! not at all, and one acknowledgement covers it. The next batch begins when the outcome of the one
//! before is known. Where a batch is refused since the stream knows an id of it, or where its outcome is
//! unknown, its events are stored one by one, each after the one before is acknowledged; ids keep
//! those out that are stored already. So the order of appends is kept whatever fails.

use std::collections::VecDeque;
use std::time::Duration;

use async_nats::{HeaderMap, RequestErrorKind};
use bytes::Bytes;
use data_encoding::HEXLOWER;
use punctual_durable::{Appended, DurableError, Limit, NewEvent};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout_at};

use crate::connection::{Connection, RequestError, code, parsed};
use crate::log::LogShared;
use crate::message::headers;

/// Maximum number of events in an atomic batch, which the servers set.
const MOST_EVENTS: usize = 1_000;

/// Length of a batch at which no more events are added to it, in bytes.
const MOST_BYTES: usize = 8 << 20;

/// Time between attempts to store an event.
const PAUSE: Duration = Duration::from_millis(100);

/// Bytes that a message takes beside headers and payload, as far as it matters here.
const MARGIN: usize = 512;

/// Append that waits.
#[derive(Debug)]
pub(crate) struct Append {
    pub(crate) events: Vec<NewEvent>,
    pub(crate) done: oneshot::Sender<Result<Appended, DurableError>>,
}

/// Task that stores the events of one log.
#[derive(Debug)]
pub(crate) struct Publisher {
    pub(crate) connection: Connection,
    pub(crate) log: LogShared,
    pub(crate) subject: String,
    /// Quota, for errors.
    pub(crate) has_ttl: bool,
    pub(crate) has_batches: bool,
    /// Id of the publisher, and the number of its ids for events without one.
    instance: String,
    count: u64,
}

/// Event on its way.
#[derive(Clone, Debug)]
struct Message {
    headers: HeaderMap,
    payload: Bytes,
}

/// Outcome of storing one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stored {
    /// True if the stream had it already.
    is_repeated: bool,
}

impl Publisher {
    pub(crate) fn new(
        connection: Connection,
        log: LogShared,
        subject: String,
    ) -> Result<Self, DurableError> {
        let mut instance = [0; 8];
        getrandom::fill(&mut instance).map_err(|error| DurableError::Invalid(error.to_string()))?;
        Ok(Self {
            has_ttl: connection.has_version(2, 11),
            has_batches: connection.has_version(2, 12),
            connection,
            log,
            subject,
            instance: HEXLOWER.encode(&instance),
            count: 0,
        })
    }

    /// Stores the events of appends, until the log is dropped.
    pub(crate) async fn run(mut self, mut appends: mpsc::Receiver<Append>) {
        let mut waiting = VecDeque::new();
        loop {
            if waiting.is_empty() {
                match appends.recv().await {
                    Some(append) => waiting.push_back(append),
                    None => return,
                }
            }
            while let Ok(append) = appends.try_recv() {
                waiting.push_back(append);
            }
            let group = group(&mut waiting);
            self.store_group(group).await;
        }
    }

    /// Stores several appends in one batch; after a refusal each on its own, so that one that does
    /// not fit is not held against others.
    async fn store_group(&mut self, group: Vec<Append>) {
        let counts: Vec<usize> = group.iter().map(|append| append.events.len()).collect();
        let messages: Vec<Vec<Message>> = group
            .iter()
            .map(|append| {
                append
                    .events
                    .iter()
                    .map(|event| self.message(event))
                    .collect()
            })
            .collect();
        let senders = group.into_iter().map(|append| append.done);
        let outcomes = match self.store_together(&messages, &counts).await {
            Some(outcomes) => outcomes,
            None => self.store_apart(messages).await,
        };
        for (sender, outcome) in senders.zip(outcomes) {
            // The caller may have given up.
            let _ = sender.send(outcome);
        }
    }

    /// Stores appends by one batch. Returns `None` if they have to be stored apart.
    async fn store_together(
        &mut self,
        messages: &[Vec<Message>],
        counts: &[usize],
    ) -> Option<Vec<Result<Appended, DurableError>>> {
        let events: usize = counts.iter().sum();
        if messages.len() < 2 || events > MOST_EVENTS || !self.has_batches {
            return None;
        }
        let all: Vec<Message> = messages.iter().flatten().cloned().collect();
        let end = Instant::now() + self.connection.patience;
        self.publish_batch(&all, end).await.ok()?;
        Some(counts.iter().map(|_| Ok(Appended::default())).collect())
    }

    async fn store_apart(
        &mut self,
        messages: Vec<Vec<Message>>,
    ) -> Vec<Result<Appended, DurableError>> {
        let mut outcomes = Vec::new();
        for append in messages {
            let end = Instant::now() + self.connection.patience;
            outcomes.push(self.store(&append, end).await);
        }
        outcomes
    }

    /// Stores the events of one append, in batches as large as may be.
    async fn store(&mut self, append: &[Message], end: Instant) -> Result<Appended, DurableError> {
        let mut appended = Appended::default();
        for part in append.chunks(MOST_EVENTS) {
            appended.repeated += self.store_part(part, end).await?;
        }
        self.log.note_repeated(appended.repeated);
        Ok(appended)
    }

    /// Stores events that fit into a batch. Returns the number of those that the stream knew before.
    async fn store_part(&mut self, part: &[Message], end: Instant) -> Result<usize, DurableError> {
        let mut is_unknown = false;
        if part.len() > 1 && self.has_batches {
            match self.publish_batch(part, end).await {
                Ok(()) => return Ok(0),
                Err(error) if error.has_code(code::BATCH_HAS_REPEATS) => {}
                Err(error @ RequestError::Refused { .. }) => {
                    return Err(self.refused(error, part.len()));
                }
                Err(RequestError::Away(_)) => is_unknown = true,
            }
        }
        let mut repeated = 0;
        for message in part {
            let stored = self.store_one(message, end).await?;
            // One that an attempt of this append has stored is no repeat of the caller's.
            repeated += usize::from(stored.is_repeated && !is_unknown);
        }
        Ok(repeated)
    }

    /// Stores one event, and tries that until the end.
    async fn store_one(&mut self, message: &Message, end: Instant) -> Result<Stored, DurableError> {
        let mut is_unknown = false;
        loop {
            match self.publish(message, end).await {
                Ok(stored) => {
                    let is_repeated = stored.is_repeated && !is_unknown;
                    return Ok(Stored { is_repeated });
                }
                Err(error @ RequestError::Refused { .. }) if !is_passing(&error) => {
                    return Err(self.refused(error, 1));
                }
                Err(error) => {
                    self.check_exists().await?;
                    is_unknown = true;
                    if Instant::now() + PAUSE >= end {
                        return Err(DurableError::Unknown(error.to_string()));
                    }
                }
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Returns an error if the log was removed.
    async fn check_exists(&self) -> Result<(), DurableError> {
        if self.log.is_removed() {
            return Err(self.log.removed());
        }
        let info = self
            .connection
            .request(format!("STREAM.INFO.{}", self.log.stream()));
        match info.await {
            Err(error) if error.has_code(code::STREAM_NOT_FOUND) => Err(self.log.removed()),
            _ => Ok(()),
        }
    }

    fn message(&mut self, event: &NewEvent) -> Message {
        self.count += 1;
        let own_id = format!("{}-{}", self.instance, self.count);
        Message {
            headers: headers(event, &own_id, self.has_ttl),
            payload: event.bytes.clone(),
        }
    }

    async fn publish(&self, message: &Message, end: Instant) -> Result<Stored, RequestError> {
        let reply = self
            .ask(message.headers.clone(), message.payload.clone(), end)
            .await?;
        let is_repeated = reply["duplicate"].as_bool().unwrap_or(false);
        Ok(Stored { is_repeated })
    }

    /// Publishes events as one batch. After an error that says that it was refused, none is stored.
    async fn publish_batch(&mut self, batch: &[Message], end: Instant) -> Result<(), RequestError> {
        self.count += 1;
        let id = format!("{}-{}", self.instance, self.count);
        let Some((last, before)) = batch.split_last() else {
            return Ok(());
        };
        for (number, message) in before.iter().enumerate() {
            let headers = batch_headers(message, &id, number + 1);
            let sent = self.connection.client.publish_with_headers(
                self.subject.clone(),
                headers,
                message.payload.clone(),
            );
            let sent = timeout_at(end, sent)
                .await
                .map_err(|_| away("the connection is cut off"))?;
            sent.map_err(|error| away(&error.to_string()))?;
        }
        let mut headers = batch_headers(last, &id, batch.len());
        headers.insert("Nats-Batch-Commit", "1");
        self.ask(headers, last.payload.clone(), end).await.map(drop)
    }

    /// Publishes a message and waits for the stream's answer, for a part of the time that there is, as the
    /// answer may be lost with a connection.
    async fn ask(
        &self,
        headers: HeaderMap,
        payload: Bytes,
        end: Instant,
    ) -> Result<Value, RequestError> {
        let whole = self.connection.patience;
        let request = async_nats::Request::new()
            .headers(headers)
            .payload(payload)
            .timeout(None);
        let reply = self
            .connection
            .client
            .send_request(self.subject.clone(), request);
        let until = end.min(Instant::now() + whole / 3);
        let reply = timeout_at(until, reply)
            .await
            .map_err(|_| away("no answer in time"))?;
        let reply = reply.map_err(|error| match error.kind() {
            RequestErrorKind::NoResponders => away("the stream has no leader, or was removed"),
            _ => away(&error.to_string()),
        })?;
        parsed(&reply.payload)
    }

    /// Returns the error for events that the stream has refused.
    fn refused(&self, error: RequestError, events: usize) -> DurableError {
        match error {
            RequestError::Refused {
                code: code::STORE_FAILED,
                description,
            } => {
                self.log.note_refused(events);
                let quota = self.log.quota();
                let is_by_bytes = description.contains("bytes");
                DurableError::Full {
                    log: self.log.name().clone(),
                    quota: match is_by_bytes {
                        true => Limit::Bytes(quota.bytes),
                        false => Limit::Events(quota.events),
                    },
                }
            }
            error => error.into(),
        }
    }
}

/// Returns the length of the longest event that a server takes which takes messages of `most` bytes.
pub(crate) fn longest_event(most: usize) -> usize {
    most.saturating_sub(MARGIN)
}

/// Takes the appends that are stored together.
fn group(waiting: &mut VecDeque<Append>) -> Vec<Append> {
    let (mut events, mut bytes) = (0, 0);
    let mut count = 0;
    for append in waiting.iter() {
        events += append.events.len();
        bytes += append
            .events
            .iter()
            .map(|event| event.bytes.len())
            .sum::<usize>();
        if count > 0 && (events > MOST_EVENTS || bytes > MOST_BYTES) {
            break;
        }
        count += 1;
    }
    waiting.drain(..count).collect()
}

fn batch_headers(message: &Message, id: &str, number: usize) -> HeaderMap {
    let mut headers = message.headers.clone();
    headers.insert("Nats-Batch-Id", id);
    headers.insert("Nats-Batch-Sequence", number.to_string());
    headers
}

/// Returns true for refusals that pass, such as that of a cluster without a leader.
fn is_passing(error: &RequestError) -> bool {
    const PASSING: [u64; 5] = [10_005, 10_008, 10_009, 10_023, 10_158];
    PASSING.iter().any(|code| error.has_code(*code))
}

fn away(reason: &str) -> RequestError {
    RequestError::Away(reason.to_owned())
}
