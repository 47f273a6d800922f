//! Servers that want credentials, and TLS.

use std::path::{Path, PathBuf};
use std::time::Duration;

use punctual_durable::{DurableError, EventStore, LogSettings, NewEvent};
use punctual_jetstream::{Credentials, JetStreamOptions, JetStreamStore, JetStreamTls};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use crate::nats::{self, Nats};

/// Opens a log and appends to it.
fn append(options: JetStreamOptions) -> Result<(), DurableError> {
    let store = JetStreamStore::open(options)?;
    let log = store.open_log(&"log".parse().unwrap(), LogSettings::default())?;
    log.append(vec![NewEvent::new(vec![1])]).map(drop)
}

fn password(password: &str) -> Credentials {
    Credentials::Password {
        user: "anna".to_owned(),
        password: password.to_owned(),
    }
}

#[test]
fn a_password_is_needed_where_the_server_wants_one_and_errors_do_not_show_it() {
    let Some(nats) = Nats::start_with(&["--user", "anna", "--pass", "right-secret"]) else {
        return;
    };
    let options = |credentials| JetStreamOptions {
        credentials,
        ..nats.options()
    };
    append(options(password("right-secret"))).unwrap();
    for credentials in [password("wrong-secret"), Credentials::None] {
        let hasty = JetStreamOptions {
            patience: Duration::from_secs(1),
            ..options(credentials)
        };
        let error = append(hasty).unwrap_err().to_string();
        assert!(error.contains("authorization"), "{error}");
        assert!(!error.contains("secret"), "{error}");
    }
}

#[test]
fn a_token_is_a_credential_too() {
    let Some(nats) = Nats::start_with(&["--auth", "the-token"]) else {
        return;
    };
    let options = JetStreamOptions {
        credentials: Credentials::Token("the-token".to_owned()),
        ..nats.options()
    };
    append(options).unwrap();
}

#[test]
fn a_file_of_credentials_that_is_not_there_is_named() {
    let Some(nats) = Nats::start() else { return };
    let options = JetStreamOptions {
        credentials: Credentials::File(PathBuf::from("/nowhere/a.creds")),
        ..nats.options()
    };
    let error = append(options).unwrap_err();
    assert!(error.to_string().contains("/nowhere/a.creds"), "{error}");
}

/// Writes an authority, and a certificate and key that it has signed, for the address of the servers.
fn certificates(folder: &Path) -> [PathBuf; 3] {
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let server = CertificateParams::new(vec![nats::host().to_string()]).unwrap();
    let certificate = server.signed_by(&key, &issuer).unwrap();
    let files = ["authority.pem", "server.pem", "server.key"].map(|name| folder.join(name));
    let texts = [issuer.pem(), certificate.pem(), key.serialize_pem()];
    for (file, text) in files.iter().zip(texts) {
        std::fs::write(file, text).unwrap();
    }
    files
}

#[test]
fn a_connection_is_encrypted_and_the_server_authenticated_by_the_authorities_named() {
    let folder = tempfile::tempdir().unwrap();
    let files = certificates(folder.path());
    let [authority, certificate, key] = files.each_ref().map(|path| path.to_str().unwrap());
    let words = ["--tls", "--tlscert", certificate, "--tlskey", key];
    let Some(nats) = Nats::start_with(&words) else {
        return;
    };
    let options = |authorities| JetStreamOptions {
        tls: JetStreamTls {
            is_required: true,
            authorities,
            identity: None,
        },
        patience: Duration::from_secs(2),
        ..nats.options()
    };
    append(options(Some(PathBuf::from(authority)))).unwrap();
    let error = append(options(None)).unwrap_err();
    assert!(matches!(error, DurableError::Away(_)), "{error}");
}

#[test]
fn a_password_in_the_address_of_a_server_is_not_shown() {
    let options = JetStreamOptions {
        patience: Duration::from_millis(500),
        ..JetStreamOptions::new([
            "nats://anna:secret@127.0.0.1:1",
            "nats://secret@127.0.0.1:2",
        ])
    };
    assert!(!format!("{options:?}").contains("secret"), "{options:?}");
    let error = JetStreamStore::open(options).unwrap_err().to_string();
    assert!(!error.contains("secret"), "{error}");
    assert!(error.contains("127.0.0.1:1"), "{error}");
}
