#![allow(missing_docs, clippy::unwrap_used)]
//! Calls over the loopback of `AF_VSOCK`. They are skipped where the kernel has none; `cargo xtask vsock` runs them in a virtual
//! machine that has it.

use punctual::policy::Collocation;
use punctual::prelude::*;
use punctual::protocol::vsock::Vsock;
use punctual::protocol::{Address, Deadline, Link, Properties};
use punctual::{ListenEndpoint, OrbConfig, SystemExceptionKind as Kind};
use punctual_example_vsock::{Guest, Machine};
use std::time::Duration;

/// Returns whether the kernel has no loopback, and says why the test does nothing then.
fn is_skipped() -> bool {
    let link = Vsock::default();
    let tried = link
        .listen(&Address::new("vsock", "local:0"), &Properties::NONE)
        .and_then(|acceptor| {
            let limit = Deadline::after(Duration::from_secs(60));
            link.connect(acceptor.address(), &Properties::NONE, limit)
        });
    if let Err(why) = &tried {
        let required = std::env::var_os("PUNCTUAL_REQUIRE_VSOCK").is_some();
        assert!(!required, "PUNCTUAL_REQUIRE_VSOCK is set, and {why}");
        eprintln!("skipped: {why}");
    }
    tried.is_err()
}

fn orb(endpoint: Option<&str>, configure: impl FnOnce(&mut OrbConfig)) -> Orb {
    let builder = Orb::builder().configure(|config| {
        config.collocation = Collocation::None;
        configure(config);
    });
    let builder = match endpoint {
        Some(text) => builder.listen(text.parse().unwrap()),
        None => builder,
    };
    builder.build().unwrap()
}

fn serve(orb: &Orb) -> Guest {
    let root = orb.root_poa().unwrap();
    let guest: Guest = root.activate(Machine).unwrap();
    orb.ior_table().unwrap().bind("Guest", &guest).unwrap();
    root.manager().activate().unwrap();
    guest
}

fn seen_by(client: &Orb, reference: &str) -> Guest {
    Guest::narrow(client.string_to_object(reference).unwrap()).unwrap()
}

#[test]
fn calls_go_by_each_protocol_and_each_way_of_serving() {
    if is_skipped() {
        return;
    }
    for endpoint in [
        "vsock://local:0",
        "vsock://",
        "vsock://:0/receive_buffer=8192",
        "giop_lite+vsock://local:0",
        "vsock://local:0/concurrency=reactive",
        "vsock://local:0/concurrency=leader_followers&threads=2",
        "vsock://local:0/concurrency=thread_per_connection",
    ] {
        let server = orb(Some(endpoint), |_| {});
        let text = server.object_to_string(&serve(&server)).unwrap();
        let client = orb(None, |_| {});
        let guest = seen_by(&client, &text);
        let octets: Vec<u8> = (0..=250).cycle().take(3 << 20).collect();
        assert!(*guest.copy(&octets).unwrap() == *octets, "{endpoint}");
        let at = guest.as_object().connected_to().unwrap();
        assert_eq!(at.link(), "vsock", "{endpoint}");
        client.shutdown(true).unwrap();
        server.shutdown(true).unwrap();
    }
}

#[test]
fn a_typed_reference_names_the_machine_and_the_port() {
    if is_skipped() {
        return;
    }
    let server = orb(Some("vsock://local:0"), |_| {});
    let _guest = serve(&server);
    let endpoints = server.endpoints();
    let [ListenEndpoint { place, .. }] = endpoints.as_slice() else {
        panic!("{endpoints:?}");
    };
    let client = orb(None, |_| {});
    let (cid, port) = place.split_once(':').unwrap();
    assert_eq!(cid, "1");
    for url in [
        format!("corbaloc:vsock:{place}/Guest"),
        format!("corbaloc:vsock:local:{port}/Guest"),
        format!("corbaloc:giop+vsock:{place}/Guest"),
    ] {
        let hostname = seen_by(&client, &url).hostname().unwrap();
        assert!(!hostname.is_empty(), "{url}");
    }
}

#[test]
fn a_server_that_has_gone_is_a_transient_that_says_so() {
    if is_skipped() {
        return;
    }
    let server = orb(Some("vsock://local:0"), |_| {});
    let text = server.object_to_string(&serve(&server)).unwrap();
    let client = orb(None, |_| {});
    let guest = seen_by(&client, &text);
    guest.hostname().unwrap();
    server.shutdown(true).unwrap();
    drop(server);
    let error = guest.hostname().unwrap_err();
    assert_eq!(error.kind(), Kind::Transient, "{error}");
    assert!(error.to_string().contains("nothing listens"), "{error}");
}

#[test]
fn a_machine_without_a_way_says_what_it_lacks() {
    let client = orb(None, |config| {
        config.timeouts.connect = Some(Duration::from_secs(20));
    });
    // A port that hardly anything listens at, of this machine: no other is asked.
    let object = client
        .string_to_object("corbaloc:vsock:local:4123456789/Guest")
        .unwrap();
    let error = Guest::from_object(object).hostname().unwrap_err();
    assert_eq!(error.kind(), Kind::Transient, "{error}");
    let text = error.to_string();
    let said = ["nothing listens", "modprobe vsock_loopback"];
    assert!(said.iter().any(|one| text.contains(one)), "{text}");
}
