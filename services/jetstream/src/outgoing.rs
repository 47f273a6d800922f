//! Messages to a stream: one by one, or as an atomic batch.

use async_nats::{HeaderMap, RequestErrorKind};
use bytes::Bytes;
use data_encoding::HEXLOWER;
use punctual_durable::{DurableError, NewEvent};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use crate::connection::{Connection, LONGEST_WAIT, RequestError, parsed};
use crate::message::headers;

/// Bytes that an event's headers take at most.
const HEADERS: usize = 512;

/// Way to a stream.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(crate) connection: Connection,
    subject: String,
    has_ttl: bool,
    has_batches: bool,
    /// Random part of the ids of batches, and of events without an id of their own.
    instance: String,
    count: u64,
}

/// Event on its way.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    headers: HeaderMap,
    payload: Bytes,
}

impl Outgoing {
    pub(crate) fn new(connection: Connection, subject: String) -> Result<Self, DurableError> {
        let mut instance = [0; 8];
        getrandom::fill(&mut instance).map_err(|error| DurableError::Invalid(error.to_string()))?;
        Ok(Self {
            has_ttl: connection.has_version(2, 11),
            has_batches: connection.has_version(2, 12),
            connection,
            subject,
            instance: HEXLOWER.encode(&instance),
            count: 0,
        })
    }

    /// Returns true if the servers know atomic batches.
    pub(crate) fn has_batches(&self) -> bool {
        self.has_batches
    }

    /// Returns the message of an event. Sent again, it has the same id.
    pub(crate) fn message(&mut self, event: NewEvent) -> Message {
        let own_id = self.next_id();
        Message {
            headers: headers(&event, &own_id, self.has_ttl),
            payload: event.bytes,
        }
    }

    fn next_id(&mut self) -> String {
        self.count += 1;
        format!("{}-{}", self.instance, self.count)
    }

    /// Publishes a message. Returns true if the stream has it already.
    pub(crate) async fn publish(
        &self,
        message: &Message,
        end: Instant,
    ) -> Result<bool, RequestError> {
        let reply = self.ask(message.headers.clone(), message.payload.clone(), end);
        Ok(reply.await?["duplicate"].as_bool().unwrap_or(false))
    }

    /// Publishes messages as one batch: the stream stores all of them, in this order, or none.
    pub(crate) async fn publish_batch(
        &mut self,
        batch: &[Message],
        end: Instant,
    ) -> Result<(), RequestError> {
        let id = self.next_id();
        let Some((last, before)) = batch.split_last() else {
            return Ok(());
        };
        for (number, message) in (1..).zip(before) {
            self.send(
                batch_headers(message, &id, number),
                message.payload.clone(),
                end,
            )
            .await?;
        }
        let mut headers = batch_headers(last, &id, batch.len());
        headers.insert("Nats-Batch-Commit", "1");
        self.ask(headers, last.payload.clone(), end).await.map(drop)
    }

    /// Publishes a message that the stream does not answer.
    async fn send(
        &self,
        headers: HeaderMap,
        payload: Bytes,
        end: Instant,
    ) -> Result<(), RequestError> {
        let sent =
            self.connection
                .client
                .publish_with_headers(self.subject.clone(), headers, payload);
        let sent = timeout_at(end, sent)
            .await
            .map_err(|_| away("the connection is cut off"))?;
        sent.map_err(|error| away(&error.to_string()))
    }

    /// Publishes a message, and waits for the stream's answer.
    async fn ask(
        &self,
        headers: HeaderMap,
        payload: Bytes,
        end: Instant,
    ) -> Result<Value, RequestError> {
        let request = async_nats::Request::new()
            .headers(headers)
            .payload(payload)
            .timeout(None);
        let reply = self
            .connection
            .client
            .send_request(self.subject.clone(), request);
        let until = end.min(Instant::now() + LONGEST_WAIT);
        let reply = timeout_at(until, reply)
            .await
            .map_err(|_| away("no answer in time"))?;
        let reply = reply.map_err(|error| match error.kind() {
            RequestErrorKind::NoResponders => away("the stream has no leader, or was removed"),
            _ => away(&error.to_string()),
        })?;
        parsed(&reply.payload)
    }
}

/// Returns the length of the longest event that a server takes which takes messages of `most` bytes.
pub(crate) fn longest_event(most: usize) -> usize {
    most.saturating_sub(HEADERS)
}

fn batch_headers(message: &Message, id: &str, number: usize) -> HeaderMap {
    let mut headers = message.headers.clone();
    headers.insert("Nats-Batch-Id", id);
    headers.insert("Nats-Batch-Sequence", number.to_string());
    headers
}

fn away(reason: &str) -> RequestError {
    RequestError::Away(reason.to_owned())
}
