//! Messages to a stream: one by one, or as an atomic batch.

use async_nats::{HeaderMap, Subject};
use bytes::Bytes;
use data_encoding::HEXLOWER;
use punctual_durable::{DurableError, NewEvent};
use tokio::time::Instant;

use crate::connection::{Connection, Publication, RequestError};
use crate::message::headers;

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
        let answer = self
            .connection
            .store(self.publication(message), end)
            .await?;
        Ok(answer["duplicate"].as_bool().unwrap_or(false))
    }

    /// Publishes messages as one batch: the stream stores all of them, in this order, or none.
    pub(crate) async fn publish_batch(
        &mut self,
        batch: &[Message],
        end: Instant,
    ) -> Result<(), RequestError> {
        let id = self.next_id();
        let messages = batch.iter().map(|message| self.publication(message));
        let stored = self.connection.store_batch(&id, messages.collect(), end);
        stored.await.map(drop)
    }

    fn publication(&self, message: &Message) -> Publication {
        let subject = Subject::from(self.subject.as_str());
        (subject, message.headers.clone(), message.payload.clone())
    }
}
