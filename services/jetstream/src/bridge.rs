//! Messages on NATS subjects, without persistence: for programs that take part without CORBA.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_nats::{HeaderMap, Subscriber};
use bytes::Bytes;
use futures_util::StreamExt;
use punctual_durable::DurableError;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::connection::Connection;
use crate::runtime::Runtime;
use crate::settings::JetStreamOptions;
use crate::store::JetStreamStore;

type Result<T> = std::result::Result<T, DurableError>;

/// Longest subject, in bytes.
const LONGEST: usize = 1_024;

/// Message of a subject.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BridgeMessage {
    /// Subject, as `plant.line3.alarm`: words, separated by dots.
    pub subject: String,
    /// Headers, in any order: names and values.
    pub headers: Vec<(String, String)>,
    /// Content.
    pub bytes: Bytes,
}

/// Publisher and subscriber of NATS subjects.
#[derive(Debug)]
pub struct Bridge {
    connection: Connection,
    runtime: Arc<Runtime>,
}

/// Subscription of a subject, which ends when this is dropped.
pub struct Subscription {
    messages: mpsc::Receiver<BridgeMessage>,
    lost: Arc<AtomicU64>,
    runtime: Arc<Runtime>,
    _end: oneshot::Sender<()>,
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Subscription")
    }
}

impl Bridge {
    /// Connects to NATS servers, which need not have JetStream.
    ///
    /// # Errors
    /// [`DurableError::Invalid`] for settings; [`DurableError::Away`] if no server answers in time.
    pub fn open(options: &JetStreamOptions) -> Result<Self> {
        let runtime = Arc::new(Runtime::start()?);
        let connection = Connection::open(&runtime, options)?;
        Ok(Self {
            connection,
            runtime,
        })
    }

    /// Returns a bridge by the connection of a store.
    #[must_use]
    pub fn of(store: &JetStreamStore) -> Self {
        let (runtime, connection) = store.parts();
        Self {
            connection,
            runtime,
        }
    }

    /// Checks the subject of a message, or a prefix with words behind it.
    ///
    /// # Errors
    /// [`DurableError::Invalid`] for a subject with wildcards or empty words.
    pub fn check(subject: &str) -> Result<()> {
        check_subject(subject, false)
    }

    /// Publishes a message. Returns when it is on its way: it is not known if anybody gets it.
    ///
    /// # Errors
    /// [`DurableError::Invalid`] for a subject with wildcards or empty words, and for malformed
    /// headers; [`DurableError::Away`] if the connection is cut off for longer than the settings
    /// permit.
    pub fn publish(&self, message: BridgeMessage) -> Result<()> {
        self.publish_all(vec![message])
    }

    /// Publishes messages in their order. Returns when all are on their way, as [`Bridge::publish`] does.
    ///
    /// # Errors
    /// As [`Bridge::publish`]. Of malformed messages nothing is published; after [`DurableError::Away`] some may have been.
    pub fn publish_all(&self, messages: Vec<BridgeMessage>) -> Result<()> {
        let prepared = messages.into_iter().map(|message| {
            check_subject(&message.subject, false)?;
            Ok((
                message.subject,
                header_map(&message.headers)?,
                message.bytes,
            ))
        });
        let prepared = prepared.collect::<Result<Vec<_>>>()?;
        let (client, patience) = (self.connection.client.clone(), self.connection.patience);
        self.runtime.call(async move {
            let sending = async {
                for (subject, headers, bytes) in prepared {
                    let sent = client.publish_with_headers(subject, headers, bytes).await;
                    sent.map_err(|error| DurableError::Invalid(error.to_string()))?;
                }
                client
                    .flush()
                    .await
                    .map_err(|error| DurableError::Away(error.to_string()))
            };
            let cut_off = || DurableError::Away("the connection is cut off".to_owned());
            timeout(patience, sending).await.map_err(|_| cut_off())?
        })
    }

    /// Subscribes to a subject, in which `*` stands for a word, and `>` for all that follow. At most
    /// `capacity` messages wait to be taken; the latest beyond that are lost, and counted. The server of
    /// this connection knows of the subscription when this returns; others of its cluster learn of it a
    /// little later.
    ///
    /// # Errors
    /// [`DurableError::Invalid`] for a malformed subject; [`DurableError::Away`] if the connection is
    /// cut off.
    pub fn subscribe(&self, subject: &str, capacity: usize) -> Result<Subscription> {
        check_subject(subject, true)?;
        let (connection, subject) = (self.connection.clone(), subject.to_owned());
        let subscriber = self.runtime.call(async move {
            let subscriber = connection.client.subscribe(subject).await;
            let subscriber =
                subscriber.map_err(|error| DurableError::Invalid(error.to_string()))?;
            // The server knows of it when this returns.
            connection.round_trip().await?;
            Ok(subscriber)
        })?;
        Ok(self.followed(subscriber, capacity))
    }

    /// Starts the task of a subscription.
    fn followed(&self, mut subscriber: Subscriber, capacity: usize) -> Subscription {
        let (send, messages) = mpsc::channel(capacity.max(1));
        let (end, mut ended) = oneshot::channel::<()>();
        let lost = Arc::<AtomicU64>::default();
        let counted = lost.clone();
        self.runtime.spawn(async move {
            loop {
                let message = tokio::select! {
                    _ = &mut ended => return,
                    message = subscriber.next() => message,
                };
                let Some(message) = message else {
                    return;
                };
                if send.try_send(bridged(&message)).is_err() {
                    counted.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        Subscription {
            messages,
            lost,
            runtime: self.runtime.clone(),
            _end: end,
        }
    }
}

impl Subscription {
    /// Returns the next message; waits for it up to `patience`.
    ///
    /// # Errors
    /// [`DurableError::Away`] if the connection was closed.
    pub fn next(&mut self, patience: Duration) -> Result<Option<BridgeMessage>> {
        if let Ok(message) = self.messages.try_recv() {
            return Ok(Some(message));
        }
        let messages = &mut self.messages;
        let next = self
            .runtime
            .wait(async { timeout(patience, messages.recv()).await.ok() })
            .flatten();
        let closed = || DurableError::Away("the connection was closed".to_owned());
        next.map_or(Ok(None), |message| message.map(Some).ok_or_else(closed))
    }

    /// Returns the number of messages that were lost since too many waited.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

fn bridged(message: &async_nats::Message) -> BridgeMessage {
    let headers = message.headers.iter().flat_map(HeaderMap::iter);
    let headers = headers.flat_map(|(name, values)| {
        values
            .iter()
            .map(move |value| (name.to_string(), value.as_str().to_owned()))
    });
    BridgeMessage {
        subject: message.subject.to_string(),
        headers: headers.collect(),
        bytes: message.payload.clone(),
    }
}

fn header_map(headers: &[(String, String)]) -> Result<HeaderMap> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let malformed = || DurableError::Invalid(format!("header {name:?} is malformed"));
        let name: async_nats::HeaderName = name.parse().map_err(|_| malformed())?;
        let value: async_nats::HeaderValue = value.parse().map_err(|_| malformed())?;
        map.append(name, value);
    }
    Ok(map)
}

/// Checks the form of a subject: words of visible signs, separated by dots.
fn check_subject(subject: &str, may_have_wildcards: bool) -> Result<()> {
    let words: Vec<&str> = subject.split('.').collect();
    let is_word = |(place, word): (usize, &&str)| match *word {
        "*" => may_have_wildcards,
        ">" => may_have_wildcards && place + 1 == words.len(),
        word => {
            !word.is_empty()
                && !word.contains(|sign: char| {
                    sign.is_whitespace() || sign.is_control() || "*>".contains(sign)
                })
        }
    };
    if subject.len() <= LONGEST && words.iter().enumerate().all(is_word) {
        return Ok(());
    }
    let shown: String = subject.chars().take(80).collect();
    let wildcards = if may_have_wildcards {
        ""
    } else {
        " for messages"
    };
    Err(DurableError::Invalid(format!(
        "{shown:?} is no subject{wildcards}"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_words_and_wildcards_stand_for_whole_ones() {
        for good in ["a", "plant.line3.alarm"] {
            check_subject(good, false).unwrap();
            check_subject(good, true).unwrap();
        }
        for wild in ["*", ">", "plant.*.alarm", "plant.>"] {
            check_subject(wild, true).unwrap();
            assert!(check_subject(wild, false).is_err());
        }
        for bad in [
            "",
            ".",
            "a..b",
            "a b",
            "a.>.b",
            "a*",
            "a\r\nPUB",
            &"x".repeat(2_000),
        ] {
            let error = check_subject(bad, true).unwrap_err();
            assert!(error.to_string().contains("no subject"), "{error}");
        }
    }
}
