//! Store of logs on JetStream.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy, StorageType};
use parking_lot::Mutex;
use punctual_durable::{DurableError, EventLog, EventStore, LogSettings, Name, WhenFull};
use tokio::sync::mpsc;

use crate::connection::{Connection, code, not_made};
use crate::log::JetLog;
use crate::outgoing::Outgoing;
use crate::publisher::{Append, Publisher};
use crate::runtime::Runtime;
use crate::settings::JetStreamOptions;
use crate::shared::{LogAccess, LogShared, ReaderLimits};

type Result<T> = std::result::Result<T, DurableError>;

/// Store of logs on JetStream, which several processes share. The connection is closed when the
/// store, its logs and its readers have all been dropped.
#[derive(Debug)]
pub struct JetStreamStore {
    connection: Connection,
    runtime: Arc<Runtime>,
    options: JetStreamOptions,
    logs: Mutex<BTreeMap<Name, Open>>,
}

/// Log that is open in this process.
#[derive(Debug)]
struct Open {
    shared: LogShared,
    appends: mpsc::WeakSender<Append>,
}

impl JetStreamStore {
    /// Connects to the servers.
    ///
    /// # Errors
    /// [`DurableError::Invalid`] for settings; [`DurableError::Away`] if no server answers in time.
    pub fn open(options: JetStreamOptions) -> Result<Self> {
        let is_allowed = |sign: char| sign.is_ascii_alphanumeric() || sign == '-';
        if options.prefix.is_empty() || !options.prefix.chars().all(is_allowed) {
            let what = format!(
                "the prefix {:?} has other signs than letters, digits and `-`",
                options.prefix
            );
            return Err(DurableError::Invalid(what));
        }
        let runtime = Arc::new(Runtime::start()?);
        let connection = Connection::open(&runtime, &options)?;
        Ok(Self {
            connection,
            runtime,
            options,
            logs: Mutex::default(),
        })
    }

    pub(crate) fn parts(&self) -> (Arc<Runtime>, Connection) {
        (self.runtime.clone(), self.connection.clone())
    }

    /// Returns the first part of names, and the number of servers that keep each stream.
    pub(crate) fn placement(&self) -> (&str, usize) {
        (&self.options.prefix, self.options.replicas)
    }

    fn stream(&self, log: &Name) -> String {
        format!("{}_{log}", self.options.prefix)
    }

    fn subject(&self, log: &Name) -> String {
        format!("{}.{log}", self.options.prefix)
    }

    fn config(&self, log: &Name, settings: LogSettings) -> Config {
        let most = |number: u64| i64::try_from(number).unwrap_or(i64::MAX).max(1);
        Config {
            name: self.stream(log),
            subjects: vec![self.subject(log)],
            retention: RetentionPolicy::Interest,
            storage: StorageType::File,
            num_replicas: self.options.replicas,
            max_messages: most(settings.quota.events),
            max_bytes: most(settings.quota.bytes),
            discard: match settings.quota.when_full {
                WhenFull::Refuse => DiscardPolicy::New,
                WhenFull::DropOldest => DiscardPolicy::Old,
            },
            duplicate_window: settings.repeat_window,
            allow_message_ttl: self.connection.has_version(2, 11),
            allow_atomic_publish: self.connection.has_version(2, 12),
            ..Config::default()
        }
    }

    fn configure(&self, log: &Name, settings: LogSettings) -> Result<()> {
        let (connection, config) = (self.connection.clone(), self.config(log, settings));
        self.runtime.call(async move {
            let mut attempts = connection.attempts();
            loop {
                let context = &connection.context;
                match context.create_or_update_stream(config.clone()).await {
                    Ok(_) => return Ok(()),
                    Err(error) => attempts.again(not_made(&error)).await?,
                }
            }
        })
    }

    fn handle(&self, shared: LogShared, appends: mpsc::Sender<Append>) -> Arc<dyn EventLog> {
        let access = LogAccess {
            runtime: self.runtime.clone(),
            connection: self.connection.clone(),
            shared,
            limits: ReaderLimits {
                window: self.options.window.max(1),
                acknowledge_wait: self.options.acknowledge_wait,
            },
        };
        Arc::new(JetLog { access, appends })
    }

    /// Starts the task that stores a log's events.
    fn start(&self, log: &Name, shared: &LogShared) -> Result<mpsc::Sender<Append>> {
        let (send, appends) = mpsc::channel(self.options.waiting_appends.max(1));
        let connection = self.connection.clone();
        let outgoing = Outgoing::new(connection, self.subject(log))?;
        let publisher = Publisher::new(outgoing, shared.clone());
        self.runtime.spawn(publisher.run(appends));
        Ok(send)
    }
}

impl EventStore for JetStreamStore {
    /// Calls of all that has this store's connection are given up if they have no answer within a second, and at once when
    /// there was one without an answer.
    fn end_waiting(&self) {
        self.runtime.end_waiting();
    }

    fn open_log(&self, name: &Name, settings: LogSettings) -> Result<Arc<dyn EventLog>> {
        let mut logs = self.logs.lock();
        self.configure(name, settings)?;
        if let Some(open) = logs.get(name)
            && let Some(appends) = open.appends.upgrade()
        {
            open.shared.set_quota(settings.quota);
            return Ok(self.handle(open.shared.clone(), appends));
        }
        // Readers may be open though the handles of the log are not.
        let known = logs.get(name).map(|open| open.shared.clone());
        let shared = known
            .unwrap_or_else(|| LogShared::new(name.clone(), self.stream(name), settings.quota));
        shared.set_quota(settings.quota);
        let appends = self.start(name, &shared)?;
        let open = Open {
            shared: shared.clone(),
            appends: appends.downgrade(),
        };
        logs.insert(name.clone(), open);
        Ok(self.handle(shared, appends))
    }

    fn remove_log(&self, name: &Name) -> Result<bool> {
        let mut logs = self.logs.lock();
        let subject = format!("STREAM.DELETE.{}", self.stream(name));
        let connection = self.connection.clone();
        let is_removed = self
            .runtime
            .call(async move { connection.remove(subject, code::STREAM_NOT_FOUND).await })?;
        if let Some(open) = logs.remove(name) {
            open.shared.remove();
        }
        Ok(is_removed)
    }

    fn log_names(&self) -> Result<Vec<Name>> {
        let connection = self.connection.clone();
        let names = self
            .runtime
            .call(async move { connection.names("STREAM.NAMES".to_owned(), "streams").await })?;
        let prefix = format!("{}_", self.options.prefix);
        let own = names.iter().filter_map(|name| name.strip_prefix(&prefix));
        let mut names: Vec<Name> = own.filter_map(|name| name.parse().ok()).collect();
        names.sort();
        Ok(names)
    }
}
