//! Settings of services whose store is in etcd: those that all of them have.

use std::path::PathBuf;
use std::time::Duration;

use punctual_host::Problem;
use punctual_host::settings::{Key, Values};

use crate::{ClientOptions, Tls, User};

/// Setting `etcd-timeout`.
pub const TIMEOUT: Key<Duration> = Key::time("etcd-timeout")
    .default("2s")
    .requires(&["etcd"])
    .doc("Time limit of a call to etcd.");
/// Setting `etcd-trusted`.
pub const TRUSTED: Key<Vec<PathBuf>> = Key::paths("etcd-trusted")
    .requires(&["etcd"])
    .doc(
        "Call etcd by TLS, and trust certificates of the authorities in this file (PEM). May be given more than once.",
    );
/// Setting `etcd-certificate`.
pub const CERTIFICATE: Key<Option<PathBuf>> = Key::path("etcd-certificate")
    .requires(&["etcd-trusted", "etcd-key"])
    .doc("The certificate that this server shows to etcd (PEM).");
/// Setting `etcd-key`.
pub const KEY: Key<Option<PathBuf>> = Key::path("etcd-key")
    .requires(&["etcd-certificate"])
    .doc("The private key of that certificate (PEM).");
/// Setting `etcd-user`.
pub const USER: Key<Option<String>> = Key::text("etcd-user")
    .value_name("NAME")
    .requires(&["etcd", "etcd-password-file"])
    .doc("The name that this server logs in to etcd with.");
/// Setting `etcd-password-file`.
pub const PASSWORD_FILE: Key<Option<PathBuf>> = Key::path("etcd-password-file")
    .requires(&["etcd-user"])
    .doc("The file whose first line is that user's password.");

/// Advice for errors of a service that opens its store in etcd.
pub const ADVICE: &str =
    "--etcd takes members of a cluster, --etcd-prefix a prefix of keys that no other program uses";
const ON_PASSWORD: &str = "--etcd-password-file is a file whose first line is the password";

/// Checks a member of a cluster, or several with commas between them, as a service's setting `etcd` has them.
///
/// # Errors
/// What is expected instead.
pub fn check_endpoint(text: &str) -> Result<(), String> {
    match text.is_empty() {
        true => Err("expected host:port".to_owned()),
        false => Ok(()),
    }
}

/// Returns how a cluster is called whose members a service's setting `etcd` names; `None` if it names none.
///
/// # Errors
/// The file of the password cannot be read.
pub fn client(
    values: &Values,
    endpoints: &Key<Vec<String>>,
) -> Result<Option<ClientOptions>, Problem> {
    let named = values.get(endpoints);
    let endpoints = named.iter().flat_map(|text| text.split(','));
    let endpoints: Vec<String> = endpoints.map(str::to_owned).collect();
    if endpoints.is_empty() {
        return Ok(None);
    }
    Ok(Some(ClientOptions {
        endpoints,
        patience: values.get(&TIMEOUT),
        tls: tls(values),
        user: user(values)?,
    }))
}

fn tls(values: &Values) -> Option<Tls> {
    let trusted = values.get(&TRUSTED);
    (!trusted.is_empty()).then(|| Tls {
        trusted,
        certificate: values.get(&CERTIFICATE),
        key: values.get(&KEY),
    })
}

fn user(values: &Values) -> Result<Option<User>, Problem> {
    let Some((name, file)) = values.get(&USER).zip(values.get(&PASSWORD_FILE)) else {
        return Ok(None);
    };
    let text = std::fs::read_to_string(&file);
    let text =
        text.map_err(|error| Problem::new(format!("{}: {error}", file.display()), ON_PASSWORD))?;
    let password = text.lines().next().unwrap_or_default().to_owned();
    Ok(Some(User { name, password }))
}
