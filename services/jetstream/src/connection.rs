//! Connection to the servers, and requests to JetStream's interface (`$JS.API`).

use std::fmt;
use std::time::Duration;

use async_nats::connection::State;
use async_nats::jetstream::context::{CreateStreamError, CreateStreamErrorKind};
use async_nats::jetstream::{Context, context::ContextBuilder};
use async_nats::{Client, ConnectOptions, Event, HeaderMap, Request, RequestErrorKind, Subject};
use bytes::Bytes;
use punctual_durable::DurableError;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, timeout, timeout_at};

use crate::runtime::Runtime;
use crate::settings::{Credentials, JetStreamOptions};

type Result<T> = std::result::Result<T, DurableError>;

/// Time between attempts to connect.
const PAUSE: Duration = Duration::from_millis(250);

/// Longest wait for the answer to one attempt to store something, which may be lost with a connection, or with the leader of a
/// cluster.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Longest wait for the answer to one attempt of another request.
const ANSWER: Duration = Duration::from_secs(2);

/// Bytes that the headers of a message take at most.
const HEADERS: usize = 512;

/// Longest wait for the servers' sign of life.
const PING: Duration = Duration::from_secs(5);

/// Subject, headers and content of a message.
pub(crate) type Publication = (Subject, HeaderMap, Bytes);

/// Connection to the servers, which is made again when it is lost.
#[derive(Clone)]
pub(crate) struct Connection {
    pub(crate) client: Client,
    pub(crate) context: Context,
    /// Number of times that a connection was made.
    pub(crate) connects: watch::Receiver<u64>,
    pub(crate) patience: Duration,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Connection({})", self.client.connection_state())
    }
}

/// Reason why a request has no result.
#[derive(Debug)]
pub(crate) enum RequestError {
    /// The servers have answered with an error.
    Refused { code: u64, description: String },
    /// There was no answer.
    Away(String),
}

/// JetStream's codes of errors.
pub(crate) mod code {
    pub(crate) const STREAM_NOT_FOUND: u64 = 10_059;
    /// There is a stream of the name, with other settings.
    pub(crate) const STREAM_EXISTS: u64 = 10_058;
    pub(crate) const CONSUMER_NOT_FOUND: u64 = 10_014;
    /// The stream has its maximum number of messages or bytes.
    pub(crate) const STORE_FAILED: u64 = 10_077;
    /// A batch has a message whose id is known.
    pub(crate) const BATCH_HAS_REPEATS: u64 = 10_201;
    /// Refusals that pass: no suitable servers, no quorum, another leader, too few resources, too many
    /// requests or batches, an attempt with the same id in progress, a batch of which a part was lost.
    const PASSING: [u64; 8] = [
        10_005, 10_008, 10_009, 10_023, 10_158, 10_167, 10_176, 10_210,
    ];

    /// Returns true for the code of a refusal that passes.
    pub(crate) fn is_passing(code: u64) -> bool {
        PASSING.contains(&code)
    }
}

impl RequestError {
    pub(crate) fn has_code(&self, number: u64) -> bool {
        matches!(self, Self::Refused { code, .. } if *code == number)
    }

    /// Returns true for refusals that pass, such as that of a cluster without a leader.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(self, Self::Refused { code, .. } if code::is_passing(*code))
    }
}

/// Attempts of a request, which may be repeated without harm. Its answer may be lost, and a cluster may have no leader for
/// a moment.
#[derive(Debug)]
pub(crate) struct Attempts {
    end: Instant,
}

impl Attempts {
    /// Waits until the next attempt; returns the error if it does not pass, or there is no time left.
    pub(crate) async fn again<E: MayPass>(&mut self, error: E) -> std::result::Result<(), E> {
        if !error.may_pass() || Instant::now() + PAUSE >= self.end {
            return Err(error);
        }
        tracing::debug!("JetStream is asked again: {error}");
        tokio::time::sleep(PAUSE).await;
        Ok(())
    }
}

/// Error after which the same request may succeed.
pub(crate) trait MayPass: fmt::Display {
    /// Returns true if that is the case.
    fn may_pass(&self) -> bool;
}

impl MayPass for RequestError {
    fn may_pass(&self) -> bool {
        matches!(self, Self::Away(_)) || self.is_passing()
    }
}

impl MayPass for DurableError {
    fn may_pass(&self) -> bool {
        matches!(self, Self::Away(_))
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { code, description } => write!(f, "{description} ({code})"),
            Self::Away(reason) => f.write_str(reason),
        }
    }
}

impl From<RequestError> for DurableError {
    fn from(error: RequestError) -> Self {
        match error {
            RequestError::Refused { .. } if !error.is_passing() => {
                DurableError::Invalid(error.to_string())
            }
            _ => DurableError::Away(error.to_string()),
        }
    }
}

fn longest_wait(patience: Duration) -> Duration {
    ANSWER.min(patience)
}

/// Returns the error for a refusal that the client library has read.
pub(crate) fn refused(error: &async_nats::jetstream::Error) -> DurableError {
    match code::is_passing(error.error_code().0) {
        true => DurableError::Away(error.to_string()),
        false => DurableError::Invalid(error.to_string()),
    }
}

/// Returns the error for a stream that was not made.
pub(crate) fn not_made(error: &CreateStreamError) -> DurableError {
    match error.kind() {
        CreateStreamErrorKind::JetStream(error) => refused(&error),
        _ => DurableError::Away(error.to_string()),
    }
}

impl Connection {
    /// Connects, and tries that for as long as the settings say.
    pub(crate) fn open(runtime: &Runtime, options: &JetStreamOptions) -> Result<Self> {
        if options.servers.is_empty() {
            return Err(DurableError::Invalid("no NATS server is named".to_owned()));
        }
        let options = options.clone();
        runtime.call(async move {
            let (count, connects) = watch::channel(0);
            let settings = connect_options(&options, count).await?;
            let client = connected(&options, settings).await?;
            let context = ContextBuilder::new().timeout(LONGEST_WAIT.min(options.patience));
            Ok(Self {
                context: context.build(client.clone()),
                client,
                connects,
                patience: options.patience,
            })
        })
    }

    /// Begins a request that may be repeated for as long as the settings say.
    pub(crate) fn attempts(&self) -> Attempts {
        Attempts {
            end: Instant::now() + self.patience,
        }
    }

    /// Sends a request that only reads, again while no answer comes.
    pub(crate) async fn asked(&self, subject: String, body: Bytes) -> Result<Value> {
        let mut attempts = self.attempts();
        loop {
            match self.request_with(subject.clone(), body.clone()).await {
                Ok(answer) => return Ok(answer),
                Err(error) => attempts.again(error).await?,
            }
        }
    }

    /// Removes what a request names. Returns false if it was not there, which the servers say by the code `absent`.
    pub(crate) async fn remove(&self, subject: String, absent: u64) -> Result<bool> {
        let mut attempts = self.attempts();
        let mut may_be_done = false;
        loop {
            match self.request(subject.clone()).await {
                Ok(_) => return Ok(true),
                // Perhaps an attempt whose answer was lost has removed it.
                Err(error) if error.has_code(absent) => return Ok(may_be_done),
                Err(error) => {
                    may_be_done |= matches!(error, RequestError::Away(_));
                    attempts.again(error).await?;
                }
            }
        }
    }

    /// Sends a request to JetStream's interface, such as `STREAM.INFO.name`.
    pub(crate) async fn request(
        &self,
        subject: String,
    ) -> std::result::Result<Value, RequestError> {
        self.request_with(subject, Bytes::new()).await
    }

    /// Sends a request with a body.
    pub(crate) async fn request_with(
        &self,
        subject: String,
        body: Bytes,
    ) -> std::result::Result<Value, RequestError> {
        let request = Request::new().payload(body).timeout(None);
        let reply = self
            .client
            .send_request(format!("$JS.API.{subject}"), request);
        // The time covers the way to the connection, too, which may be full while the servers are away.
        let reply = timeout(longest_wait(self.patience), reply).await;
        let reply = reply.map_err(|_| RequestError::Away("no answer in time".to_owned()))?;
        let reply = reply.map_err(|error| RequestError::Away(error.to_string()))?;
        parsed(&reply.payload)
    }

    /// Returns true if there is a connection now, as far as is known.
    pub(crate) fn is_made(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// Returns the names that a paged request lists.
    pub(crate) async fn names(&self, subject: String, field: &str) -> Result<Vec<String>> {
        let mut names = Vec::new();
        loop {
            let offset = json!({ "offset": names.len() }).to_string();
            let page = self.asked(subject.clone(), offset.into()).await?;
            let more = page[field].as_array().map_or(&[][..], Vec::as_slice);
            let before = names.len();
            names.extend(more.iter().filter_map(Value::as_str).map(str::to_owned));
            let total = page["total"].as_u64().unwrap_or(0);
            if names.len() as u64 >= total || names.len() == before {
                return Ok(names);
            }
        }
    }

    /// Returns the length of the longest content of a message with headers, in bytes.
    pub(crate) fn longest_content(&self) -> usize {
        self.client.max_payload().saturating_sub(HEADERS)
    }

    /// Publishes messages as one batch, whose id no other has: the stream stores all of them, in this order, or none. Returns
    /// its answer.
    pub(crate) async fn store_batch(
        &self,
        id: &str,
        messages: Vec<Publication>,
        end: Instant,
    ) -> std::result::Result<Value, RequestError> {
        let count = messages.len();
        for (number, (subject, mut headers, payload)) in (1..).zip(messages) {
            if count == 1 {
                return self.store((subject, headers, payload), end).await;
            }
            headers.insert("Nats-Batch-Id", id);
            headers.insert("Nats-Batch-Sequence", number.to_string());
            if number == count {
                headers.insert("Nats-Batch-Commit", "1");
                return self.store((subject, headers, payload), end).await;
            }
            self.publish((subject, headers, payload), end).await?;
        }
        Ok(Value::Null)
    }

    /// Publishes a message that the stream does not answer.
    async fn publish(
        &self,
        (subject, headers, payload): Publication,
        end: Instant,
    ) -> std::result::Result<(), RequestError> {
        let sent = self.client.publish_with_headers(subject, headers, payload);
        let sent = timeout_at(end, sent).await;
        let sent = sent.map_err(|_| RequestError::Away("the connection is cut off".to_owned()))?;
        sent.map_err(|error| RequestError::Away(error.to_string()))
    }

    /// Publishes a message, and waits for the stream's answer until the end, or [`LONGEST_WAIT`].
    pub(crate) async fn store(
        &self,
        (subject, headers, payload): Publication,
        end: Instant,
    ) -> std::result::Result<Value, RequestError> {
        let request = Request::new()
            .headers(headers)
            .payload(payload)
            .timeout(None);
        let reply = self.client.send_request(subject, request);
        let reply = timeout_at(end.min(Instant::now() + LONGEST_WAIT), reply).await;
        let reply = reply.map_err(|_| RequestError::Away("no answer in time".to_owned()))?;
        let reply = reply.map_err(|error| match error.kind() {
            RequestErrorKind::NoResponders => {
                RequestError::Away("the stream has no leader, or was removed".to_owned())
            }
            _ => RequestError::Away(error.to_string()),
        })?;
        parsed(&reply.payload)
    }

    /// Waits until the server has taken all that was sent before.
    pub(crate) async fn round_trip(&self) -> Result<()> {
        // A new inbox has no subscriber, which the server reports.
        let request = Request::new().timeout(None);
        let inbox = self.client.new_inbox();
        let reply = timeout(self.patience, self.client.send_request(inbox, request)).await;
        let reply = reply.map_err(|_| DurableError::Away("no answer in time".to_owned()))?;
        match reply.map_err(|error| (error.kind(), error)) {
            Ok(_) | Err((RequestErrorKind::NoResponders, _)) => Ok(()),
            Err((_, error)) => Err(DurableError::Away(error.to_string())),
        }
    }

    /// Returns true if the server is of this version, or a later one.
    pub(crate) fn has_version(&self, major: i64, minor: i64) -> bool {
        self.client.is_server_compatible(major, minor, 0)
    }
}

/// Returns the answer of a reply in JSON, or the error that it contains.
fn parsed(reply: &[u8]) -> std::result::Result<Value, RequestError> {
    let reply: std::result::Result<Value, _> = serde_json::from_slice(reply);
    let no_answer = |_| RequestError::Away("the answer is not JetStream's".to_owned());
    let reply = reply.map_err(no_answer)?;
    let Some(error) = reply.get("error") else {
        return Ok(reply);
    };
    Err(RequestError::Refused {
        code: error["err_code"].as_u64().unwrap_or(0),
        description: error["description"]
            .as_str()
            .unwrap_or("refused")
            .to_owned(),
    })
}

async fn connect_options(
    options: &JetStreamOptions,
    count: watch::Sender<u64>,
) -> Result<ConnectOptions> {
    let mut settings = ConnectOptions::new()
        .name("punctual")
        .ping_interval(PING)
        .reconnect_delay_callback(|attempt| PAUSE.saturating_mul(attempt.min(8) as u32))
        .event_callback(move |event| {
            if matches!(event, Event::Connected) {
                count.send_modify(|count| *count += 1);
            }
            tracing::debug!("connection to NATS: {event}");
            async {}
        })
        .require_tls(options.tls.is_required);
    if let Some(authorities) = &options.tls.authorities {
        settings = settings.add_root_certificates(authorities.clone());
    }
    if let Some((certificate, key)) = &options.tls.identity {
        settings = settings.add_client_certificate(certificate.clone(), key.clone());
    }
    match options.credentials.clone() {
        Credentials::None => Ok(settings),
        Credentials::Password { user, password } => Ok(settings.user_and_password(user, password)),
        Credentials::Token(token) => Ok(settings.token(token)),
        Credentials::File(path) => settings.credentials_file(&path).await.map_err(|error| {
            DurableError::Invalid(format!("the credentials in {}: {error}", path.display()))
        }),
    }
}

async fn connected(options: &JetStreamOptions, settings: ConnectOptions) -> Result<Client> {
    let mut last = "no answer".to_owned();
    let trying = async {
        loop {
            match settings.clone().connect(options.servers.clone()).await {
                Ok(client) => return client,
                Err(error) => last = error.to_string(),
            }
            tokio::time::sleep(PAUSE).await;
        }
    };
    let client = timeout(options.patience, trying).await;
    client.map_err(|_| DurableError::Away(format!("{}: {last}", options.addresses().join(", "))))
}
