//! Records that the servers of a service share, on a stream that one of them writes at a time.
//!
//! | subject | message |
//! |---|---|
//! | `PREFIX-shared.NAME.holder` | heartbeats of the server that writes |
//! | `PREFIX-shared.NAME.record.TABLE.NUMBER` | a record's value; or its removal, which is kept for an hour |
//!
//! The stream keeps the latest message of each subject. Each write states the number of the last message that the writer
//! knows of, and NATS refuses it if another has been stored since: once a server has taken the right to write, the one
//! before can write nothing, however late its messages arrive. No clocks are compared: a server that waits takes the
//! right when no message was stored for the time of the lease by its own clock, and a holder whose messages NATS has
//! not confirmed for six times as long gives it up.
//!
//! ```text
//! message     records and heartbeats as messages
//! writer      writes, each only if no other server has written
//! turn        waiting for the right to write, and heartbeats
//! ```

mod message;
mod turn;
mod writer;

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_nats::jetstream::consumer::{DeliverPolicy, pull};
use async_nats::jetstream::context::{CreateStreamError, CreateStreamErrorKind};
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy, StorageType};
use futures_util::StreamExt;
use punctual_durable::{DurableError, Moment, Name};
use punctual_host::store::{SharedRecord, SharedRecords, StoreError};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::connection::{Connection, LONGEST_WAIT, code, not_made};
use crate::runtime::Runtime;
use crate::store::JetStreamStore;

use message::{Root, is_removal, record};
use writer::{Failure, Writer, last_message};

/// Shortest time of a lease.
const SHORTEST: Duration = Duration::from_millis(300);

const WITHOUT: &str = "this server does not have the right to write";

/// Records that the servers of a service share, and the right to write them: see the [`Turn`](punctual_host::Turn).
pub struct JetStreamRecords {
    runtime: Arc<Runtime>,
    connection: Connection,
    root: Root,
    replicas: usize,
    lease: Duration,
    right: Arc<Right>,
}

/// Right to write, as far as this process has it.
struct Right {
    /// `None` before this process has had the right.
    writer: Mutex<Option<Writer>>,
    loss: OnceLock<String>,
}

impl Right {
    fn lose(&self, reason: &str) {
        // The first reason counts.
        if self.loss.set(reason.to_owned()).is_ok() {
            tracing::error!("this server has lost the right to serve: {reason}");
        }
    }
}

impl fmt::Debug for JetStreamRecords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JetStreamRecords")
            .field("stream", &self.root.stream())
            .field("loss", &self.right.loss.get())
            .finish_non_exhaustive()
    }
}

impl JetStreamRecords {
    /// Makes the records with a name, on the servers of a store. Servers with the same name share them. Another one may
    /// take the right to write when there was no heartbeat of its holder for the time `lease`, or that of the holder if it is
    /// longer.
    ///
    /// # Errors
    /// [`DurableError::Invalid`]: the servers are older than 2.12; the lease is shorter than 300 ms.
    pub fn new(store: &JetStreamStore, name: &Name, lease: Duration) -> Result<Self, DurableError> {
        let (runtime, connection) = store.parts();
        if !connection.has_version(2, 12) {
            let what = "records are shared by NATS servers of version 2.12 or later";
            return Err(DurableError::Invalid(what.to_owned()));
        }
        if lease < SHORTEST {
            let what = format!("the lease of {lease:?} is shorter than {SHORTEST:?}");
            return Err(DurableError::Invalid(what));
        }
        let (prefix, replicas) = store.placement();
        Ok(Self {
            runtime,
            connection,
            root: Root::new(prefix, name),
            replicas,
            lease,
            right: Arc::new(Right {
                writer: Mutex::default(),
                loss: OnceLock::new(),
            }),
        })
    }

    fn config(&self) -> Config {
        Config {
            name: self.root.stream(),
            subjects: vec![self.root.all()],
            retention: RetentionPolicy::Limits,
            discard: DiscardPolicy::Old,
            storage: StorageType::File,
            num_replicas: self.replicas,
            max_messages_per_subject: 1,
            allow_message_ttl: true,
            allow_atomic_publish: true,
            first_sequence: Some(first_number()),
            ..Config::default()
        }
    }

    /// Makes the stream, if it is not there; returns `None` at the end of the process.
    fn make_stream(&self, is_ending: &mut dyn FnMut() -> bool) -> Result<Option<()>, DurableError> {
        let (connection, config) = (self.connection.clone(), self.config());
        self.runtime.call_until(is_ending, async move {
            let mut attempts = connection.attempts();
            loop {
                let context = &connection.context;
                // One that is there may have more replicas, and serves another server.
                match context.get_or_create_stream(config.clone()).await {
                    Ok(_) => return Ok(()),
                    // Another server has made it meanwhile.
                    Err(error) if is_there(&error) => {
                        attempts
                            .again(DurableError::Away(error.to_string()))
                            .await?;
                    }
                    Err(error) => attempts.again(not_made(&error)).await?,
                }
            }
        })
    }

    fn check(&self) -> Result<(), StoreError> {
        match self.right.loss.get() {
            Some(loss) => Err(StoreError::Away(loss.clone())),
            None => Ok(()),
        }
    }
}

/// Returns whether a stream was not made as it is there.
fn is_there(error: &CreateStreamError) -> bool {
    match error.kind() {
        CreateStreamErrorKind::JetStream(error) => error.error_code().0 == code::STREAM_EXISTS,
        _ => false,
    }
}

/// Returns the number of the first message of a stream that is made now: the microseconds since 1970. One that is made again
/// after it was deleted has no number that the one before has had, which a server may still state in a write.
fn first_number() -> u64 {
    Moment::now().0.saturating_mul(1_000).max(1)
}

/// Reads all messages up to one with this number or a later one.
async fn read(
    connection: &Connection,
    stream: &str,
    last: u64,
) -> Result<Vec<SharedRecord>, DurableError> {
    let away = |error: &dyn fmt::Display| DurableError::Away(error.to_string());
    let config = pull::OrderedConfig {
        deliver_policy: DeliverPolicy::All,
        ..pull::OrderedConfig::default()
    };
    let stream = connection.context.get_stream_no_info(stream).await;
    let stream = stream.map_err(|error| away(&error))?;
    let consumer = stream.create_consumer(config).await;
    let consumer = consumer.map_err(|error| away(&error))?;
    let mut messages = consumer.messages().await.map_err(|error| away(&error))?;
    let mut records = Vec::new();
    loop {
        let next = timeout(LONGEST_WAIT, messages.next()).await;
        let next = next.map_err(|_| away(&"no message of the stream in time"))?;
        let message = next.ok_or_else(|| away(&"the stream has ended"))?;
        let message = message.map_err(|error| away(&error))?;
        let number = message
            .info()
            .map_err(|error| away(&error))?
            .stream_sequence;
        records.extend(record(&message.message));
        // The holder's heartbeats come last.
        if number >= last {
            return Ok(records);
        }
    }
}

/// Reads the value of a record.
async fn find(
    connection: &Connection,
    root: &Root,
    (table, number): (&str, u64),
) -> Result<Option<Vec<u8>>, DurableError> {
    let mut attempts = connection.attempts();
    loop {
        match last_message(connection, root, root.record(table, number)).await {
            Ok(None) => return Ok(None),
            Ok(Some(found)) if is_removal(&found.headers) => return Ok(None),
            Ok(Some(found)) => return Ok(Some(found.payload)),
            // No server has shared anything yet.
            Err(error) if error.has_code(code::STREAM_NOT_FOUND) => return Ok(None),
            Err(error) => attempts.again(error).await?,
        }
    }
}

impl SharedRecords for JetStreamRecords {
    fn name(&self) -> String {
        format!("(stream {})", self.root.stream())
    }

    fn most_at_once(&self) -> usize {
        writer::MOST
    }

    fn find(&self, table: &str, number: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let (connection, root) = (self.connection.clone(), self.root.clone());
        let table = table.to_owned();
        let found = self
            .runtime
            .call(async move { find(&connection, &root, (&table, number)).await });
        found.map_err(|error| StoreError::Away(error.to_string()))
    }

    fn read(&self) -> Result<Vec<SharedRecord>, StoreError> {
        self.check()?;
        let (connection, right) = (self.connection.clone(), self.right.clone());
        let stream = self.root.stream();
        let records = self.runtime.call(async move {
            let last = right.writer.lock().await.as_ref().map(Writer::last);
            let last = last.ok_or_else(|| DurableError::Away(WITHOUT.to_owned()))?;
            let mut attempts = connection.attempts();
            loop {
                // The consumer may be lost with a node of a cluster.
                match read(&connection, &stream, last).await {
                    Ok(records) => return Ok(records),
                    Err(error) => attempts.again(error).await?,
                }
            }
        });
        records.map_err(|error| StoreError::Away(error.to_string()))
    }

    fn write(&self, records: &[SharedRecord]) -> Result<(), StoreError> {
        self.check()?;
        let longest = self.connection.longest_content();
        let messages = self.root.messages(records, longest)?;
        let (connection, right) = (self.connection.clone(), self.right.clone());
        let written = self.runtime.call(async move {
            let mut writer = right.writer.lock().await;
            if let Some(loss) = right.loss.get() {
                return Ok(Err(Failure::Lost(loss.clone())));
            }
            let Some(writer) = writer.as_mut() else {
                return Ok(Err(Failure::Lost(WITHOUT.to_owned())));
            };
            for part in messages.chunks(writer::MOST) {
                if let Err(failure) = writer.write(&connection, part).await {
                    if let Failure::Lost(reason) = &failure {
                        right.lose(reason);
                    }
                    return Ok(Err(failure));
                }
            }
            Ok(Ok(()))
        });
        let written = written.unwrap_or_else(|error| Err(Failure::Away(error.to_string())));
        written.map_err(|failure| match failure {
            Failure::Refused(reason) => StoreError::Io(reason),
            Failure::Lost(reason) => StoreError::Away(reason),
            Failure::Away(reason) => StoreError::Unknown(reason),
        })
    }
}
