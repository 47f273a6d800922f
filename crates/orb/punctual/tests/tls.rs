//! Calls over TLS, configured from files.
#![cfg(feature = "tls")]
#![allow(clippy::unwrap_used)]

#[path = "support/authority.rs"]
mod authority;
mod support;

use authority::Authority;
use punctual::protocol::ssliop::{ClientCertificate, TlsOptions};
use punctual::{
    InitError, Interface, ListenEndpoint, Orb, Otherwise, Policy, RootPoa, SetOverride,
    SystemExceptionKind as Kind,
};
use std::sync::Arc;
use std::time::Duration;
use support::{Echo, EchoImpl, watchdog};

const LIMIT: Duration = Duration::from_secs(60);

fn serving(options: TlsOptions, endpoints: &[(&str, &str)]) -> (Orb, Echo) {
    let mut builder = Orb::builder().configure(|config| config.tls = Some(options));
    for (protocol, place) in endpoints {
        builder = builder.listen(ListenEndpoint::new(protocol, place));
    }
    let server = builder.build().unwrap();
    let poa = server.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let echo = poa.activate(Arc::new(EchoImpl::default())).unwrap();
    (server, echo)
}

fn client(options: TlsOptions, server: &Orb, echo: &Echo) -> Echo {
    let client = Orb::builder().configure(|config| config.tls = Some(options));
    let client = client.build().unwrap();
    let text = server.object_to_string(echo).unwrap();
    Echo::from_object(client.string_to_object(&text).unwrap())
}

#[test]
fn calls_go_over_tls_with_both_sides_proved() {
    let _watchdog = watchdog(LIMIT);
    let authority = Authority::new();
    let server_options = TlsOptions {
        client_certificate: ClientCertificate::Required,
        ..authority.options("127.0.0.1")
    };
    let (server, echo) = serving(server_options, &[("ssliop", "127.0.0.1:0")]);
    let known = client(authority.options("client"), &server, &echo);
    assert_eq!(known.long(1).unwrap(), 1);
    let octets = vec![1; 3 << 20];
    assert_eq!(known.octets(&octets).unwrap(), octets);
    let connected = known.as_object().connected_to().unwrap();
    assert_eq!(connected.link(), "ssliop");

    let nobody = TlsOptions {
        certificate: None,
        key: None,
        ..authority.options("nobody")
    };
    assert!(client(nobody, &server, &echo).long(1).is_err());
    let other = Authority::new();
    let stranger = TlsOptions {
        trusted: vec![other.path("authority.pem")],
        ..authority.options("stranger")
    };
    let error = client(stranger, &server, &echo).long(1).unwrap_err();
    assert_eq!(error.kind(), Kind::Transient, "{error}");
    // Others are served on.
    assert_eq!(known.long(2).unwrap(), 2);
}

#[test]
fn giop_lite_goes_over_tls_too_and_plain_clients_take_the_plain_profile() {
    let _watchdog = watchdog(LIMIT);
    let authority = Authority::new();
    let endpoints = [
        ("ssliop", "127.0.0.1:0"),
        ("giop_lite+ssliop", "127.0.0.1:0"),
        ("iiop", "127.0.0.1:0"),
    ];
    let (server, echo) = serving(authority.options("127.0.0.1"), &endpoints);
    let secured = client(authority.options("client"), &server, &echo);
    for protocol in ["ssliop", "giop_lite+ssliop", "iiop"] {
        let policy = Policy::protocols(&[protocol], Otherwise::Raise);
        let object = secured.as_object();
        let object = object.set_policy_overrides(&[policy], SetOverride::Set);
        let echo = Echo::from_object(object.unwrap());
        assert_eq!(echo.long(1).unwrap(), 1, "{protocol}");
    }
    let plain = Orb::builder().build().unwrap();
    let text = server.object_to_string(&echo).unwrap();
    let plain = Echo::from_object(plain.string_to_object(&text).unwrap());
    assert_eq!(plain.long(1).unwrap(), 1);
    assert_eq!(plain.as_object().connected_to().unwrap().link(), "iiop");
}

#[test]
fn files_that_tls_cannot_use_stop_the_start_and_are_named() {
    let authority = Authority::new();
    let config = authority.path("orb.toml");
    let start = |text: &str| {
        std::fs::write(&config, text).unwrap();
        Orb::builder()
            .file(&config)
            .and_then(|builder| builder.build())
    };
    let missing = start("[tls]\ncertificate = 'no.pem'\nkey = 'no.key'").unwrap_err();
    assert!(matches!(missing, InitError::Tls(_)));
    assert!(missing.to_string().contains("no.pem"), "{missing}");
    let word = start("[tls]\nclient_certificate = 'perhaps'").unwrap_err();
    assert!(word.to_string().contains("perhaps"), "{word}");
    authority.options("good");
    start("[tls]\ncertificate = 'good.pem'\nkey = 'good.key'\ntrusted = ['authority.pem']")
        .unwrap();
    let no_table = Orb::builder().listen(ListenEndpoint::new("ssliop", ""));
    assert!(
        no_table
            .build()
            .unwrap_err()
            .to_string()
            .contains("`ssliop`")
    );
}
