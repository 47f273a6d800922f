//! Settings of a store in etcd.

use std::path::PathBuf;
use std::time::Duration;

use punctual_host::Problem;
use punctual_host::settings::{Key, Values};

use crate::service::{NamingService, OpenError};
use crate::store::{EtcdOptions, EtcdStore, EtcdTls, EtcdUser};

pub(super) const ENDPOINTS: Key<Vec<String>> = Key::list("etcd", check_endpoint)
    .value_name("HOST:PORT")
    .conflicts(&["store", "memory"])
    .doc(
        "Keep bindings in an etcd cluster, which any number of naming servers share: its members as host:port. May be \
         given more than once.",
    );
pub(super) const PREFIX: Key<Option<String>> = Key::text("etcd-prefix")
    .value_name("PREFIX")
    .default("/punctual/naming")
    .requires(&["etcd"])
    .doc("Prefix of the keys in etcd. Servers with the same prefix serve the same names.");
pub(super) const TIMEOUT: Key<Duration> = Key::time("etcd-timeout")
    .default("2s")
    .requires(&["etcd"])
    .doc("Time limit of a call to etcd.");
pub(super) const STALENESS: Key<Duration> = Key::time("etcd-staleness")
    .default("3s")
    .requires(&["etcd"])
    .doc("Maximum age of names that are read: after that time without news from etcd, reading raises TRANSIENT.");
pub(super) const READ_STALE: Key<bool> = Key::flag("read-stale")
    .requires(&["etcd"])
    .doc("Go on reading while etcd is unreachable, however old the names are.");
pub(super) const TRUSTED: Key<Vec<PathBuf>> = Key::paths("etcd-trusted")
    .requires(&["etcd"])
    .doc(
        "Call etcd by TLS, and trust certificates of the authorities in this file (PEM). May be given more than once.",
    );
pub(super) const CERTIFICATE: Key<Option<PathBuf>> = Key::path("etcd-certificate")
    .requires(&["etcd-trusted", "etcd-key"])
    .doc("The certificate that this server shows to etcd (PEM).");
pub(super) const KEY: Key<Option<PathBuf>> = Key::path("etcd-key")
    .requires(&["etcd-certificate"])
    .doc("The private key of that certificate (PEM).");
pub(super) const USER: Key<Option<String>> = Key::text("etcd-user")
    .value_name("NAME")
    .requires(&["etcd", "etcd-password-file"])
    .doc("The name that this server logs in to etcd with.");
pub(super) const PASSWORD_FILE: Key<Option<PathBuf>> = Key::path("etcd-password-file")
    .requires(&["etcd-user"])
    .doc("The file whose first line is that user's password.");

const ON_ETCD: &str =
    "--etcd takes members of a cluster, --etcd-prefix a prefix of keys that no other program uses";
const ON_PASSWORD: &str = "--etcd-password-file is a file whose first line is the password";

fn check_endpoint(text: &str) -> Result<(), String> {
    match text.is_empty() {
        true => Err("expected host:port".to_owned()),
        false => Ok(()),
    }
}

/// Opens the service on a store in etcd, if the settings name a cluster.
pub(super) fn stored(values: &Values) -> Result<Option<NamingService>, Problem> {
    let endpoints = values.get(&ENDPOINTS).into_iter();
    let endpoints =
        endpoints.flat_map(|text| text.split(',').map(str::to_owned).collect::<Vec<_>>());
    let endpoints: Vec<String> = endpoints.collect();
    if endpoints.is_empty() {
        return Ok(None);
    }
    let options = EtcdOptions {
        prefix: values.get(&PREFIX).unwrap_or_default(),
        patience: values.get(&TIMEOUT),
        staleness: values.get(&STALENESS),
        reads_stale: values.get(&READ_STALE),
        tls: tls(values),
        user: user(values)?,
        ..EtcdOptions::at(endpoints)
    };
    let store = EtcdStore::connect(options).map_err(OpenError);
    let service = store.and_then(|store| NamingService::on(Box::new(store)));
    let service = service.map_err(|error| Problem::new(format!("etcd: {error}"), ON_ETCD))?;
    Ok(Some(service))
}

fn tls(values: &Values) -> Option<EtcdTls> {
    let trusted = values.get(&TRUSTED);
    (!trusted.is_empty()).then(|| EtcdTls {
        trusted,
        certificate: values.get(&CERTIFICATE),
        key: values.get(&KEY),
    })
}

fn user(values: &Values) -> Result<Option<EtcdUser>, Problem> {
    let Some((name, file)) = values.get(&USER).zip(values.get(&PASSWORD_FILE)) else {
        return Ok(None);
    };
    let text = std::fs::read_to_string(&file);
    let text =
        text.map_err(|error| Problem::new(format!("{}: {error}", file.display()), ON_PASSWORD))?;
    let password = text.lines().next().unwrap_or_default().to_owned();
    Ok(Some(EtcdUser { name, password }))
}
