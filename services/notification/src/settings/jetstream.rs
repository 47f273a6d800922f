//! Settings of persistent events on NATS JetStream.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use punctual_durable::{InvalidName, Name};
use punctual_host::Problem;
use punctual_host::settings::{Key, Values};
use punctual_host::store::{SharedFrom, StoreError, StoreFile};
use punctual_jetstream::{
    Credentials, JetStreamOptions, JetStreamRecords, JetStreamStore, JetStreamTls,
};

use crate::journal::check_left;
use crate::service::NotificationService;
use crate::storage::KIND;

pub(super) const SERVERS: Key<Vec<String>> = Key::list("jetstream", check_server)
    .value_name("URL")
    .requires(&["store"])
    .doc(
        "Keep persistent events on these NATS servers with JetStream, as nats://host:port or tls://host:port, in place of \
         the file of --store, which still has channels, connections and filters. May be given more than once.",
    );
pub(super) const REPLICAS: Key<u64> = Key::number("jetstream-replicas", 1..=5)
    .default("1")
    .requires(&["jetstream"])
    .doc("Number of NATS servers that keep each event; 3 in a cluster survive the loss of one.");
pub(super) const PREFIX: Key<Option<String>> = Key::text("jetstream-prefix")
    .value_name("PREFIX")
    .default("punctual")
    .requires(&["jetstream"])
    .doc("First part of the names of streams and subjects, of letters, digits and `-`.");
pub(super) const CREDENTIALS: Key<Option<PathBuf>> = Key::path("jetstream-credentials")
    .requires(&["jetstream"])
    .doc("The file with a token and a key, as `nsc` writes it (.creds), that this server logs in with.");
pub(super) const TRUSTED: Key<Option<PathBuf>> = Key::path("jetstream-trusted")
    .requires(&["jetstream"])
    .doc("Trust certificates of the authorities in this file (PEM) besides the system's, and call NATS by TLS alone.");

pub(super) const CLUSTER: Key<Option<String>> = Key::text("cluster")
    .value_name("NAME")
    .requires(&["jetstream"])
    .doc(
        "Share the service with other servers that have the same NAME: one of them serves, and another takes its place, with \
         all that is kept, when it ends. Channels, connections and filters are kept on the NATS servers (2.12 or later), of \
         which --store is this server's copy. References name all servers by `also_in_ior` of --listen.",
    );
pub(super) const FROM_STORE: Key<bool> = Key::flag("cluster-from-store")
    .requires(&["cluster"])
    .doc(
        "Make the records that the servers share of those in the file of --store, when this server is the first to serve: to \
         make a cluster of one server, or to have them again after they were deleted. They have to be empty, or those of the \
         file already. Persistent events that are in the file, and not on the NATS servers, refuse the start.",
    );
pub(super) const LEASE: Key<Duration> = Key::time("cluster-lease")
    .default("5s")
    .requires(&["cluster"])
    .doc(
        "Time after which another server takes the place of one that sent no heartbeat; a server that the NATS servers \
         have not answered for six times as long ends. At least 300 ms; of servers with different times, the longer counts.",
    );

/// Shortest time after which events are handed out again that a server had.
const SHORTEST_WAIT: Duration = Duration::from_secs(2);

const ON_CLUSTER: &str =
    "a name of letters, digits, `-` and `_`; NATS servers of version 2.12 or later";
const ON_COPIES: &str = "name another file with --store to have the shared records; or delete their stream, and have them made of \
                         this file by --cluster-from-store";
const ON_SERVERS: &str =
    "--jetstream takes NATS servers that run, with JetStream, as nats://host:port";

fn check_server(text: &str) -> Result<(), String> {
    match text.split_once("://") {
        Some(("nats" | "tls", host)) if !host.is_empty() => Ok(()),
        _ => Err("expected nats://host:port or tls://host:port".to_owned()),
    }
}

/// Opens the service on the servers that the settings name, with its channels in a file or, in a cluster, on the servers,
/// too. `on_stores` is the help for a file that cannot be opened.
///
/// # Errors
/// The servers or the file cannot be opened.
pub(super) fn opened(
    values: &Values,
    path: &Path,
    on_stores: &'static str,
    on_file: impl FnOnce() -> Result<NotificationService, Problem>,
) -> Result<NotificationService, Problem> {
    let Some(events) = connected(values)? else {
        return on_file();
    };
    let Some(name) = values.get(&CLUSTER) else {
        let service = on_file()?;
        service.set_event_store(Arc::new(events));
        return Ok(service);
    };
    let bad = |error: &dyn Display| Problem::new(format!("--cluster: {error}"), ON_CLUSTER);
    let name: Name = name.parse().map_err(|error: InvalidName| bad(&error))?;
    let records = JetStreamRecords::new(&events, &name, values.get(&LEASE));
    let records = Arc::new(records.map_err(|error| bad(&error))?);
    let from = match values.get(&FROM_STORE) {
        true => SharedFrom::File,
        false => SharedFrom::Records,
    };
    // A file that cannot be this server's copy stops the start, and not the moment at which it is to serve.
    check(path, &records, from).map_err(|error| match &error {
        StoreError::NoCopy { .. } => Problem::new(error, ON_COPIES),
        _ => Problem::new(format!("{}: {error}", path.display()), on_stores),
    })?;
    let events = Arc::new(events);
    Ok(match from {
        SharedFrom::File => NotificationService::clustered_from_store(path, records, events),
        SharedFrom::Records => NotificationService::clustered(path, records, events),
    })
}

/// Checks that the file can be this server's copy of the shared records.
fn check(path: &Path, records: &JetStreamRecords, from: SharedFrom) -> Result<(), StoreError> {
    StoreFile::check_shared(path, KIND, records, from)?;
    match from {
        SharedFrom::File => check_left(path, records),
        SharedFrom::Records => Ok(()),
    }
}

/// Connects to the servers, if the settings name any.
fn connected(values: &Values) -> Result<Option<JetStreamStore>, Problem> {
    let servers = values.get(&SERVERS);
    if servers.is_empty() {
        return Ok(None);
    }
    let trusted = values.get(&TRUSTED);
    let options = JetStreamOptions {
        credentials: values
            .get(&CREDENTIALS)
            .map_or(Credentials::None, Credentials::File),
        tls: JetStreamTls {
            is_required: trusted.is_some(),
            authorities: trusted,
            identity: None,
        },
        prefix: values.get(&PREFIX).unwrap_or_default(),
        replicas: values.count(&REPLICAS),
        ..JetStreamOptions::new(servers)
    };
    let options = match values.get(&CLUSTER) {
        // The events that a server held come again to the next one after this time.
        Some(_) => JetStreamOptions {
            acknowledge_wait: values.get(&LEASE).max(SHORTEST_WAIT),
            ..options
        },
        None => options,
    };
    let store = JetStreamStore::open(options);
    let store = store.map_err(|error| Problem::new(format!("--jetstream: {error}"), ON_SERVERS))?;
    Ok(Some(store))
}
