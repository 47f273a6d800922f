//! Settings of persistent events on NATS JetStream.

use std::path::PathBuf;
use std::sync::Arc;

use punctual_durable::EventStore;
use punctual_host::Problem;
use punctual_host::settings::{Key, Values};
use punctual_jetstream::{Credentials, JetStreamOptions, JetStreamStore, JetStreamTls};

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

const ON_SERVERS: &str =
    "--jetstream takes NATS servers that run, with JetStream, as nats://host:port";

fn check_server(text: &str) -> Result<(), String> {
    match text.split_once("://") {
        Some(("nats" | "tls", host)) if !host.is_empty() => Ok(()),
        _ => Err("expected nats://host:port or tls://host:port".to_owned()),
    }
}

/// Connects to the servers, if the settings name any.
pub(super) fn opened(values: &Values) -> Result<Option<Arc<dyn EventStore>>, Problem> {
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
    let store = JetStreamStore::open(options);
    let store = store.map_err(|error| Problem::new(format!("--jetstream: {error}"), ON_SERVERS))?;
    Ok(Some(Arc::new(store)))
}
