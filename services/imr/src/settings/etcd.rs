//! Settings of a store in etcd.

use std::path::PathBuf;
use std::time::Duration;

use punctual_host::Problem;
use punctual_host::settings::{Key, Values};

use crate::locator::{EtcdOptions, LocatorService};
use crate::{ClientOptions, EtcdTls, EtcdUser};

pub(super) const ENDPOINTS: Key<Vec<String>> = Key::list("etcd", check_endpoint)
    .value_name("HOST:PORT")
    .conflicts(&["store", "activator"])
    .doc(
        "Keep servers and activators in an etcd cluster, which any number of repositories share: its members as host:port. May be \
         given more than once. Processes are started by activators of their own, as `punctual imr activator`.",
    );
pub(super) const PREFIX: Key<Option<String>> = Key::text("etcd-prefix")
    .value_name("PREFIX")
    .default("/punctual/imr")
    .requires(&["etcd"])
    .doc("Prefix of the keys in etcd. Repositories with the same prefix share their servers.");
pub(super) const TIMEOUT: Key<Duration> = Key::time("etcd-timeout")
    .default("2s")
    .requires(&["etcd"])
    .doc("Time limit of a call to etcd.");
pub(super) const TAKE_OVER: Key<Duration> = Key::time("etcd-take-over")
    .default("5s")
    .requires(&["etcd"])
    .doc(
        "Time after which the other repositories take over the starts of one that shows no sign of life, in whole seconds from 1 s \
         on. It shows one after each third of this time.",
    );
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
pub(super) fn stored(values: &Values) -> Result<Option<LocatorService>, Problem> {
    let endpoints = values.get(&ENDPOINTS).into_iter();
    let endpoints =
        endpoints.flat_map(|text| text.split(',').map(str::to_owned).collect::<Vec<_>>());
    let endpoints: Vec<String> = endpoints.collect();
    if endpoints.is_empty() {
        return Ok(None);
    }
    let options = EtcdOptions {
        client: ClientOptions {
            endpoints,
            patience: values.get(&TIMEOUT),
            tls: tls(values),
            user: user(values)?,
        },
        prefix: values.get(&PREFIX).unwrap_or_default(),
        lease: values.get(&TAKE_OVER),
    };
    let service = LocatorService::in_etcd(&options);
    service
        .map(Some)
        .map_err(|error| Problem::new(format!("etcd: {error}"), ON_ETCD))
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
