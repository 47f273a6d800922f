//! Writes to the stream, each only if no other server has written since the one before.

use std::time::Duration;

use data_encoding::BASE64;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::message::{Message, Root, lease_of, write_of};
use crate::connection::{Attempts, Connection, RequestError};

/// Maximum number of messages in one write: that of a batch, less some.
pub(super) const MOST: usize = 900;

const EXPECTED: &str = "Nats-Expected-Last-Sequence";

/// Codes of a refusal since another message was stored meanwhile.
const WRONG_LAST: [u64; 2] = [10_071, 10_164];

/// Code of a message that is not there.
const NO_MESSAGE: u64 = 10_037;

/// Reason why a write has failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The servers refuse it, and would again.
    Refused(String),
    /// Another server has taken the right to write.
    Lost(String),
    /// The servers cannot be reached, or have not said whether it was written.
    Away(String),
}

/// State of the stream, as a server that waits sees it.
#[derive(Debug)]
pub(super) struct StreamState {
    /// Number of the last message.
    pub(super) last: u64,
    /// Lease of the server that has the right to write, if any has.
    pub(super) lease: Option<Duration>,
}

/// Writer of the stream's messages.
#[derive(Debug)]
pub(super) struct Writer {
    root: Root,
    /// Name of the holder, which is different for each process and time.
    holder: String,
    lease: Duration,
    writes: u64,
    attempts: u64,
    /// Number of the last message in the stream, as far as is known.
    last: u64,
    /// Moment of the last write that was confirmed.
    pub(super) confirmed: Instant,
}

/// Reason why another message was stored before a write, if it is not another server's.
enum Outcome {
    /// An attempt whose answer was lost has written it.
    Written,
    /// The last message is one of this writer's before.
    Behind,
}

impl Writer {
    /// Makes the writer that goes on after the message with this number.
    pub(super) fn new(root: Root, holder: String, lease: Duration, last: u64) -> Self {
        Self {
            root,
            holder,
            lease,
            writes: 0,
            attempts: 0,
            last,
            confirmed: Instant::now(),
        }
    }

    /// Returns the number of the last message.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// Sends a heartbeat, which is the last one if this server ends.
    pub(super) async fn beat(
        &mut self,
        connection: &Connection,
        is_ending: bool,
    ) -> Result<(), Failure> {
        let beat = self.root.heartbeat(&self.holder, self.lease, is_ending);
        self.write(connection, &[beat]).await
    }

    /// Writes messages, all or none.
    ///
    /// # Errors
    /// See [`Failure`]. If that is [`Failure::Away`], the messages may have been written.
    pub(super) async fn write(
        &mut self,
        connection: &Connection,
        messages: &[Message],
    ) -> Result<(), Failure> {
        self.writes += 1;
        let write = format!("{}/{}", self.holder, self.writes);
        let mut attempts = connection.attempts();
        loop {
            let sent = Instant::now();
            let error = match self.attempt(connection, messages, &write).await {
                Ok(last) => {
                    self.last = last;
                    self.confirmed = sent;
                    return Ok(());
                }
                Err(error) => error,
            };
            let error = match is_wrong_last(&error) {
                false => error,
                true => match self.outcome(connection, &write, &mut attempts).await? {
                    Outcome::Written => {
                        self.confirmed = sent;
                        return Ok(());
                    }
                    Outcome::Behind => RequestError::Away("an earlier write came late".to_owned()),
                },
            };
            attempts.again(error).await.map_err(Failure::of)?;
        }
    }

    /// Sends messages once; returns the number of the last one.
    async fn attempt(
        &mut self,
        connection: &Connection,
        messages: &[Message],
        write: &str,
    ) -> Result<u64, RequestError> {
        self.attempts += 1;
        let batch = format!("{}-{}", self.holder, self.attempts);
        let mut all: Vec<_> = messages.iter().map(|one| one.publication(write)).collect();
        if let Some((_, headers, _)) = all.first_mut() {
            headers.insert(EXPECTED, self.last.to_string());
        }
        let end = Instant::now() + connection.patience;
        let answer = connection.store_batch(&batch, all, end).await?;
        let number = answer["seq"].as_u64();
        number.ok_or_else(not_jetstream)
    }

    /// Finds out what the stream has, after a write was refused.
    async fn outcome(
        &mut self,
        connection: &Connection,
        write: &str,
        attempts: &mut Attempts,
    ) -> Result<Outcome, Failure> {
        let (last, found) = loop {
            match last_write(connection, &self.root).await {
                Ok(found) => break found,
                Err(error) => attempts.again(error).await.map_err(Failure::of)?,
            }
        };
        match found {
            Some(found) if found == write => {
                self.last = last;
                Ok(Outcome::Written)
            }
            Some(found) if found.split('/').next() == Some(&self.holder) => {
                self.last = last;
                Ok(Outcome::Behind)
            }
            _ => Err(Failure::Lost("another server serves now".to_owned())),
        }
    }
}

impl Failure {
    fn of(error: RequestError) -> Self {
        match error {
            RequestError::Refused { .. } if !error.is_passing() => Self::Refused(error.to_string()),
            _ => Self::Away(error.to_string()),
        }
    }
}

fn is_wrong_last(error: &RequestError) -> bool {
    WRONG_LAST.iter().any(|code| error.has_code(*code))
}

fn not_jetstream() -> RequestError {
    RequestError::Away("the answer is not JetStream's".to_owned())
}

/// Returns the number of the last message, and the write that stored it.
async fn last_write(
    connection: &Connection,
    root: &Root,
) -> Result<(u64, Option<String>), RequestError> {
    let last = last_number(connection, root).await?;
    let found = message(connection, root, json!({ "seq": last })).await?;
    let write = found.and_then(|found| write_of(&found.headers).map(str::to_owned));
    Ok((last, write))
}

/// Message that the stream has.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) headers: String,
    pub(super) payload: Vec<u8>,
}

/// Returns the last message of a subject, if there is one.
pub(super) async fn last_message(
    connection: &Connection,
    root: &Root,
    subject: String,
) -> Result<Option<Stored>, RequestError> {
    message(connection, root, json!({ "last_by_subj": subject })).await
}

/// Returns the message that a request describes, if there is one.
async fn message(
    connection: &Connection,
    root: &Root,
    request: Value,
) -> Result<Option<Stored>, RequestError> {
    let subject = format!("STREAM.MSG.GET.{}", root.stream());
    let request = request.to_string();
    let found = match connection.request_with(subject, request.into()).await {
        Ok(found) => found,
        Err(error) if error.has_code(NO_MESSAGE) => return Ok(None),
        Err(error) => return Err(error),
    };
    let bytes = |field: &str| {
        let text = found["message"][field].as_str().unwrap_or_default();
        BASE64.decode(text.as_bytes()).unwrap_or_default()
    };
    Ok(Some(Stored {
        headers: String::from_utf8_lossy(&bytes("hdrs")).into_owned(),
        payload: bytes("data"),
    }))
}

async fn last_number(connection: &Connection, root: &Root) -> Result<u64, RequestError> {
    let info = connection
        .request(format!("STREAM.INFO.{}", root.stream()))
        .await?;
    let last = info["state"]["last_seq"].as_u64();
    last.ok_or_else(not_jetstream)
}

/// Returns the state of the stream now.
pub(super) async fn stream_state(
    connection: &Connection,
    root: &Root,
) -> Result<StreamState, RequestError> {
    // The number first: if a heartbeat comes in between, a claim after this number is refused.
    let last = last_number(connection, root).await?;
    let beat = last_message(connection, root, root.holder()).await?;
    let lease = beat.and_then(|beat| lease_of(&beat.payload));
    Ok(StreamState { last, lease })
}
