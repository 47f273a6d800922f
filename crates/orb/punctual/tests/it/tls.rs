//! Calls over TLS, configured from files.
#![cfg(feature = "tls")]
#![allow(clippy::unwrap_used)]

use crate::authority;
use crate::support;

use authority::Authority;
use punctual::policy::{Otherwise, Security};
use punctual::protocol::ssliop::{ClientCertificate, TlsOptions};
use punctual::{
    InitError, Interface, ListenEndpoint, Orb, OrbBuilder, Policy, RootPoa, SetOverride,
    SystemException, SystemExceptionKind as Kind,
};
use punctual_cdr::{ByteOrder, GiopVersion};
use punctual_ior::{
    AssociationOptions, Component, Endpoint, IiopProfile, Ior, SslSecTrans, TaggedComponent,
};
use std::io::Write;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
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
    // Other clients are still served.
    assert_eq!(known.long(2).unwrap(), 2);
}

#[test]
fn references_say_whether_clients_must_have_certificates() {
    let _watchdog = watchdog(LIMIT);
    let authority = Authority::new();
    for (client_certificate, demanded) in [
        (ClientCertificate::None, false),
        (ClientCertificate::Wanted, false),
        (ClientCertificate::Required, true),
    ] {
        let options = TlsOptions {
            client_certificate,
            ..authority.options("127.0.0.1")
        };
        let (server, echo) = serving(options, &[("ssliop", "127.0.0.1:0")]);
        let ior: Ior = server.object_to_string(&echo).unwrap().parse().unwrap();
        let profile = IiopProfile::decode(&ior.profiles[0].data).unwrap();
        let mut offers = profile
            .components
            .iter()
            .filter_map(|one| match one.decode() {
                Ok(Component::SslSecTrans(offer)) => Some(offer),
                _ => None,
            });
        let offer = offers.next().unwrap();
        let in_client = AssociationOptions::ESTABLISH_TRUST_IN_CLIENT;
        assert_eq!(offer.target_requires.contain(in_client), demanded);
        assert!(offer.target_supports.contain(in_client));
    }
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
    let by = |protocol: &str, security| {
        let policies = [
            Policy::protocols(&[protocol], Otherwise::Raise),
            Policy::Security(security),
        ];
        let object = secured.as_object();
        object
            .set_policy_overrides(&policies, SetOverride::Set)
            .unwrap()
    };
    let in_clear = Echo::from_object(by("iiop", Security::Prefer)).long(1);
    assert_eq!(in_clear.unwrap_err().kind(), Kind::InvPolicy);
    for (protocol, security) in [
        ("ssliop", Security::Require),
        ("giop_lite+ssliop", Security::Prefer),
        ("iiop", Security::Off),
    ] {
        let object = by(protocol, security);
        let echo = Echo::from_object(object);
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

/// Attacker between a client and the server: it breaks every TLS handshake, so that the client
/// might send the data unencrypted.
struct Between {
    tls: u16,
    tcp: u16,
    /// Number of connections made to the unencrypted TCP port.
    in_clear: Arc<AtomicUsize>,
    handshakes: Arc<AtomicUsize>,
}

impl Between {
    fn start() -> Self {
        let breaking = |count: Arc<AtomicUsize>| {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let port = listener.local_addr().unwrap().port();
            std::thread::spawn(move || {
                for connection in listener.incoming().map_while(Result::ok) {
                    count.fetch_add(1, Ordering::SeqCst);
                    // Garbage to a TLS client, and to a GIOP client, too.
                    let _ = (&connection).write_all(b"no such thing here");
                }
            });
            port
        };
        let (in_clear, handshakes) = (Arc::default(), Arc::default());
        Self {
            tls: breaking(Arc::clone(&handshakes)),
            tcp: breaking(Arc::clone(&in_clear)),
            in_clear,
            handshakes,
        }
    }

    /// Returns a reference as made by a server that listens on both ports, the TCP port and the TLS
    /// port.
    fn reference(&self, supports: u16, requires: u16) -> String {
        self.of_profiles(&[(self.tcp, vec![security(self.tls, supports, requires)])])
    }

    /// Returns a reference with these profiles, each with a TCP port of this host and components.
    fn of_profiles(&self, profiles: &[(u16, Vec<TaggedComponent>)]) -> String {
        let profile = |(port, components): &(u16, Vec<TaggedComponent>)| {
            let profile = IiopProfile {
                version: GiopVersion::V1_2.into(),
                host: "127.0.0.1".to_owned(),
                port: *port,
                object_key: b"key".to_vec(),
                components: components.clone(),
            };
            profile.to_tagged(ByteOrder::NATIVE).unwrap()
        };
        let ior = Ior {
            type_id: Echo::REPOSITORY_ID.to_owned(),
            profiles: profiles.iter().map(profile).collect(),
        };
        ior.to_string()
    }

    fn call(&self, orb: &Orb, reference: &str) -> SystemException {
        Echo::from_object(orb.string_to_object(reference).unwrap())
            .long(1)
            .unwrap_err()
    }
}

fn security(port: u16, supports: u16, requires: u16) -> TaggedComponent {
    TaggedComponent::ssl_sec_trans(&SslSecTrans {
        target_supports: AssociationOptions(supports),
        target_requires: AssociationOptions(requires),
        port,
    })
}

/// Security association options, supported and required, in Punctual's references with a TCP port,
/// and in omniORB's.
const OFFERED: (u16, u16) = (0xff, 1);
const DEMANDED_BY_OMNIORB: (u16, u16) = (0x66, 0x42);

#[test]
fn who_breaks_handshakes_gets_nothing_in_clear() {
    let _watchdog = watchdog(LIMIT);
    let authority = Authority::new();
    for security in [Security::Prefer, Security::Require] {
        let client = Orb::builder().configure(|config| {
            config.tls = Some(authority.options("client"));
            config.security = security;
        });
        let client = client.build().unwrap();
        for (supports, requires) in [OFFERED, DEMANDED_BY_OMNIORB] {
            let between = Between::start();
            between.call(&client, &between.reference(supports, requires));
            assert!(between.handshakes.load(Ordering::SeqCst) > 0);
            assert_eq!(between.in_clear.load(Ordering::SeqCst), 0);
        }
    }
    // An explicit option allows it.
    let client = Orb::builder().arguments(["-ORBSecurity", "off"].map(str::to_owned));
    let client = client.unwrap().0.build().unwrap();
    let between = Between::start();
    let (supports, requires) = DEMANDED_BY_OMNIORB;
    between.call(&client, &between.reference(supports, requires));
    assert!(between.in_clear.load(Ordering::SeqCst) > 0);
}

#[test]
fn without_tls_what_is_demanded_is_refused_and_what_is_offered_goes_in_clear() {
    let _watchdog = watchdog(LIMIT);
    let client = Orb::builder().build().unwrap();
    let between = Between::start();
    let (supports, requires) = DEMANDED_BY_OMNIORB;
    let refused = between.call(&client, &between.reference(supports, requires));
    assert_eq!(refused.kind(), Kind::InvPolicy);
    for part in ["EstablishTrustInClient", "[tls]", "security = off"] {
        assert!(refused.to_string().contains(part), "{refused}");
    }
    assert_eq!(between.in_clear.load(Ordering::SeqCst), 0);
    let (supports, requires) = OFFERED;
    between.call(&client, &between.reference(supports, requires));
    assert!(between.in_clear.load(Ordering::SeqCst) > 0);
    let strict = Orb::builder().configure(|config| config.security = Security::Require);
    let strict = strict.build().unwrap();
    let refused = between.call(&strict, &between.reference(supports, requires));
    assert!(
        refused.to_string().contains("security = require"),
        "{refused}"
    );
}

#[test]
fn a_client_without_tls_is_told_what_to_configure_for_a_reference_that_leads_by_tls_alone() {
    let _watchdog = watchdog(LIMIT);
    let authority = Authority::new();
    let (server, echo) = serving(authority.options("127.0.0.1"), &[("ssliop", "127.0.0.1:0")]);
    let text = server.object_to_string(&echo).unwrap();
    let client = Orb::builder().build().unwrap();
    let echo = Echo::from_object(client.string_to_object(&text).unwrap());
    let refused = echo.long(1).unwrap_err();
    assert_eq!(refused.kind(), Kind::Transient, "{refused}");
    for part in [
        "unknown link `ssliop`",
        "[tls]",
        "OrbConfig::tls",
        "`trusted`",
    ] {
        assert!(refused.to_string().contains(part), "{refused}");
    }
    // No endpoint can listen there either.
    let listens = Orb::builder().listen(ListenEndpoint::new("ssliop", "127.0.0.1:0"));
    let refused = listens.build().unwrap_err();
    assert!(refused.to_string().contains("[tls]"), "{refused}");
}

#[test]
fn a_demand_holds_however_the_reference_says_it() {
    let _watchdog = watchdog(LIMIT);
    let authority = Authority::new();
    let (supports, requires) = DEMANDED_BY_OMNIORB;
    for has_tls in [true, false] {
        for endpoints in [1, 32] {
            let client = Orb::builder().configure(|config| {
                config.tls = has_tls.then(|| authority.options("client"));
                config.budgets.endpoints = endpoints;
            });
            let client = client.build().unwrap();
            let between = Between::start();
            // Without a port for TLS, and in a component that does not decode.
            let nowhere = security(0, supports, requires);
            let mut broken = security(between.tls, supports, requires);
            broken.data.truncate(3);
            for component in [nowhere, broken] {
                let reference = between.of_profiles(&[(between.tcp, vec![component])]);
                let refused = between.call(&client, &reference);
                assert_eq!(refused.kind(), Kind::InvPolicy, "{refused}");
            }
            assert_eq!(between.in_clear.load(Ordering::SeqCst), 0);
            if !has_tls {
                continue;
            }
            // Behind more endpoints than are tried.
            let other = Endpoint {
                host: "127.0.0.1".to_owned(),
                port: between.tcp,
            };
            let other = TaggedComponent::alternate_iiop_address(&other).unwrap();
            let profiles = [
                (between.tcp, vec![other; 40]),
                (0, vec![security(between.tls, supports, requires)]),
            ];
            between.call(&client, &between.of_profiles(&profiles));
            assert_eq!(between.in_clear.load(Ordering::SeqCst), 0);
            assert!(between.handshakes.load(Ordering::SeqCst) > 0);
        }
    }
}

#[test]
fn a_server_with_tls_and_tcp_is_called_by_tls_where_the_client_has_it() {
    let _watchdog = watchdog(LIMIT);
    let authority = Authority::new();
    for endpoints in [
        [("ssliop", "127.0.0.1:0"), ("iiop", "127.0.0.1:0")],
        [("iiop", "127.0.0.1:0"), ("ssliop", "127.0.0.1:0")],
    ] {
        let (server, echo) = serving(authority.options("127.0.0.1"), &endpoints);
        let secured = client(authority.options("client"), &server, &echo);
        assert_eq!(secured.long(1).unwrap(), 1);
        assert_eq!(secured.as_object().connected_to().unwrap().link(), "ssliop");
        // Its one IIOP profile offers both.
        let profiles: Vec<_> = echo.as_object().ior().iiop_profiles().collect();
        assert_eq!(profiles.len(), 1);
    }
}

/// Returns a builder of an ORB that requires TLS.
fn strict(options: TlsOptions) -> OrbBuilder {
    Orb::builder().configure(|config| {
        config.tls = Some(options);
        config.security = Security::Require;
    })
}

#[test]
fn where_protection_is_required_the_default_endpoint_is_one_of_tls() {
    let _watchdog = watchdog(LIMIT);
    let authority = Authority::new();
    let server = strict(authority.options("localhost")).build().unwrap();
    let poa = server.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let echo: Echo = poa.activate(Arc::new(EchoImpl::default())).unwrap();
    let protocols: Vec<String> = server
        .endpoints()
        .into_iter()
        .map(|endpoint| endpoint.protocol)
        .collect();
    assert_eq!(protocols, ["ssliop"]);
    // No profile leads by TCP in clear.
    let ior: Ior = server.object_to_string(&echo).unwrap().parse().unwrap();
    let ports = ior.iiop_profiles().map(|profile| profile.unwrap().port);
    assert_eq!(ports.collect::<Vec<_>>(), [0]);
}

#[test]
fn where_protection_is_required_an_endpoint_in_clear_is_refused() {
    let _watchdog = watchdog(LIMIT);
    let authority = Authority::new();
    for protocol in ["iiop", "giop_lite+iiop"] {
        let endpoint = ListenEndpoint::new(protocol, "127.0.0.1:0");
        let server = strict(authority.options("localhost")).listen(endpoint);
        let error = server.build().unwrap_err().to_string();
        assert!(
            error.contains(protocol) && error.contains("security is require"),
            "{error}"
        );
    }
    let local = strict(authority.options("localhost")).listen(ListenEndpoint::new("uiop", ""));
    let server = local.build().unwrap();
    server.listen().unwrap();
    let added = server.add_endpoint(ListenEndpoint::iiop("127.0.0.1", 0));
    assert_eq!(added.unwrap_err().kind(), Kind::Initialize);
    assert_eq!(server.endpoints().len(), 1);
}

#[test]
fn without_a_certificate_objects_are_not_served_in_clear_instead() {
    let _watchdog = watchdog(LIMIT);
    let authority = Authority::new();
    let options = TlsOptions {
        certificate: None,
        key: None,
        ..authority.options("localhost")
    };
    let client = strict(options).build().unwrap();
    let error = client.listen().unwrap_err();
    assert_eq!(error.kind(), Kind::Initialize);
    let text = error.to_string();
    assert!(
        text.contains("ssliop") && text.contains("certificate"),
        "{text}"
    );
    assert!(client.endpoints().is_empty());
    // Without [tls] at all, too.
    let bare = Orb::builder().configure(|config| config.security = Security::Require);
    let text = bare.build().unwrap().listen().unwrap_err().to_string();
    assert!(text.contains("ssliop") && text.contains("[tls]"), "{text}");
}

#[test]
fn a_client_hears_why_its_callback_is_not_called() {
    let _watchdog = watchdog(LIMIT);
    let authority = Authority::new();
    let endpoint = ListenEndpoint::new("ssliop", "localhost:0");
    let server = strict(authority.options("localhost")).listen(endpoint);
    let server = server.build().unwrap();
    let poa = server.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let echo: Echo = poa.activate(Arc::new(EchoImpl::default())).unwrap();
    // The client has TLS, and listens in clear.
    let client = Orb::builder()
        .configure(|config| config.tls = Some(authority.options("localhost")))
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .build()
        .unwrap();
    let poa = client.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let callback: Echo = poa.activate(Arc::new(EchoImpl::default())).unwrap();
    let reference = server.object_to_string(&echo).unwrap();
    let seen = Echo::from_object(client.string_to_object(&reference).unwrap());
    let refused = seen.bounce(&callback, 1).unwrap_err();
    assert_eq!(refused.kind(), Kind::InvPolicy);
    assert_eq!(refused.minor(), punctual::minor::NO_PROTECTED_ENDPOINT);
    assert!(
        refused.to_string().contains("no endpoint of TLS"),
        "{refused}"
    );
}
