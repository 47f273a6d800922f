//! `punctual naming serve` with systemd and Prometheus: notifications, HTTP replies, and its end.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::support;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::process::{Command, Stdio};

use punctual::{Interface, Orb};
use punctual_naming::cos_naming::{NameComponent, NamingContext};
use support::{Process, serve};

fn asked(address: &str, path: &str) -> String {
    let mut peer = TcpStream::connect(address).unwrap();
    peer.write_all(format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").as_bytes())
        .unwrap();
    let mut reply = String::new();
    peer.read_to_string(&mut reply).unwrap();
    reply
}

/// Returns the value of a metric.
fn value(metrics: &str, name: &str) -> f64 {
    let line = metrics
        .lines()
        .find(|line| line.starts_with(&format!("{name} ")));
    let line = line.unwrap_or_else(|| panic!("no {name} in {metrics}"));
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

#[test]
fn metrics_of_names_and_of_groups_in_one_process_have_names_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = serve(&["--groups", "--status", "127.0.0.1:0", "--store"]);
    command.arg(folder.path().join("names.redb"));
    let mut server = Process(command.spawn().unwrap());
    let status = server.says("status at http://");
    let metrics = asked(&status, "/metrics");
    let mut families: Vec<&str> = metrics
        .lines()
        .filter(|line| line.starts_with("# TYPE "))
        .collect();
    let all = families.len();
    families.sort_unstable();
    families.dedup();
    assert_eq!(families.len(), all, "{metrics}");
    for name in ["punctual_naming_store_bytes", "punctual_group_store_bytes"] {
        assert!(value(&metrics, name) > 0.0, "{name}");
    }
}

#[test]
fn systemd_is_told_that_it_serves_goes_on_and_ends_and_metrics_count_what_clients_do() {
    let folder = tempfile::tempdir().unwrap();
    let notify = folder.path().join("notify");
    let told = UnixDatagram::bind(&notify).unwrap();
    let next = || told_by(&told);
    let mut command = serve(&["--status", "127.0.0.1:0", "--store"]);
    command.arg(folder.path().join("names.redb"));
    command
        .env("NOTIFY_SOCKET", &notify)
        .env("WATCHDOG_USEC", "20000");
    command.env_remove("WATCHDOG_PID");
    let mut server = Process(command.spawn().unwrap());
    let status = server.says("status at http://");
    assert_eq!(next(), "READY=1");
    assert_eq!(next(), "WATCHDOG=1");
    assert_eq!(next(), "WATCHDOG=1");

    let orb = Orb::builder().build().unwrap();
    let root = root_of(&orb, &mut server);
    let name = |id: &str| path(&[id]);
    for id in ["one", "two"] {
        root.bind(&name(id), Some(root.as_object())).unwrap();
    }
    root.bind(&name("two"), Some(root.as_object())).unwrap_err();
    root.resolve(&name("one")).unwrap();
    root.resolve(&name("three")).unwrap_err();

    assert!(asked(&status, "/health").starts_with("HTTP/1.1 200"));
    assert!(asked(&status, "/ready").starts_with("HTTP/1.1 200"));
    let metrics = asked(&status, "/metrics");
    for (name, expected) in [
        ("punctual_naming_change_seconds_count", 3.0),
        ("punctual_naming_change_refused_total", 1.0),
        ("punctual_naming_commit_seconds_count", 2.0),
        ("punctual_naming_resolve_seconds_count", 2.0),
        ("punctual_naming_resolve_refused_total", 1.0),
        ("punctual_naming_bindings", 2.0),
        ("punctual_naming_contexts", 1.0),
        ("punctual_naming_ready", 1.0),
    ] {
        assert_eq!(value(&metrics, name), expected, "{name}");
    }
    assert!(value(&metrics, "punctual_naming_store_bytes") > 0.0);

    server.signal("-TERM");
    while next() != "STOPPING=1" {}
    assert!(server.0.wait().unwrap().success());
}

/// Returns the next notification of the server, received in place of systemd.
fn told_by(socket: &UnixDatagram) -> String {
    let mut text = [0; 64];
    let length = socket.recv(&mut text).unwrap();
    String::from_utf8_lossy(&text[..length]).into_owned()
}

fn root_of(orb: &Orb, server: &mut Process) -> NamingContext {
    NamingContext::from_object(orb.string_to_object(&server.reference()).unwrap())
}

fn path(ids: &[&str]) -> Vec<NameComponent> {
    let component = |id: &&str| NameComponent {
        id: (*id).to_owned(),
        kind: String::new(),
    };
    ids.iter().map(component).collect()
}

#[test]
fn a_request_that_has_begun_is_answered_before_a_terminated_server_ends() {
    let folder = tempfile::tempdir().unwrap();
    let notify = folder.path().join("notify");
    let told = UnixDatagram::bind(&notify).unwrap();
    let mut command = serve(&["--memory"]);
    command.env("NOTIFY_SOCKET", &notify);
    let mut server = Process(command.spawn().unwrap());
    let orb = Orb::builder().build().unwrap();
    let root = root_of(&orb, &mut server);
    assert_eq!(told_by(&told), "READY=1");
    // A context of another server, which answers slowly.
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = elsewhere.local_addr().unwrap();
    let slow = orb
        .string_to_object(&format!("corbaloc::{address}/Slow"))
        .unwrap();
    let slow = NamingContext::from_object(slow);
    root.bind_context(&path(&["slow"]), Some(&slow)).unwrap();
    let client = std::thread::spawn(move || root.resolve(&path(&["slow", "pump"])));
    let (mut asked, _) = elsewhere.accept().unwrap();
    let mut request = [0; 12];
    asked.read_exact(&mut request).unwrap();
    server.signal("-TERM");
    assert_eq!(told_by(&told), "STOPPING=1");
    assert_eq!(
        server.0.try_wait().unwrap(),
        None,
        "the request is unanswered"
    );
    drop((asked, elsewhere));
    // The client receives this server's report of the other server's failure: its own connection
    // has not broken.
    let answer = client.join().unwrap().unwrap_err().to_string();
    assert!(answer.contains("raised by the server"), "{answer}");
    assert!(server.0.wait().unwrap().success());
}

#[test]
fn a_socket_that_systemd_has_opened_is_served_and_what_came_before_the_server_waits_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = socket.local_addr().unwrap().port();
    // As systemd does: descriptor 3, for the process of this number.
    let started = |endpoint: &str| {
        let mut command = Command::new("sh");
        let activate = "export LISTEN_PID=$$ LISTEN_FDS=1; exec 3<&0 0</dev/null; exec \"$@\"";
        command.args(["-c", activate, "sh", env!("CARGO_BIN_EXE_punctual")]);
        command.args(["naming", "serve", "--listen", endpoint, "--store"]);
        command.arg(folder.path().join("names.redb"));
        command.stdin(OwnedFd::from(socket.try_clone().unwrap()));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Process(command.spawn().unwrap())
    };
    let orb = Orb::builder().build().unwrap();
    let root = orb.string_to_object(&format!("corbaloc::127.0.0.1:{port}/NameService"));
    let root = NamingContext::from_object(root.unwrap());
    let (asking, object) = (root.clone(), root.as_object().clone());
    let client = std::thread::spawn(move || asking.bind(&path(&["root"]), Some(&object)));
    let endpoint = "iiop://127.0.0.1:1/inherited=0";
    let mut server = started(endpoint);
    client.join().unwrap().unwrap();
    server.signal("-TERM");
    assert!(server.0.wait().unwrap().success());
    // The port was never closed.
    let asking = root.clone();
    let client = std::thread::spawn(move || asking.resolve(&path(&["root"])));
    let again = started(endpoint);
    assert!(client.join().unwrap().unwrap().is_some());

    // Its file is unlocked again.
    drop(again);
    let mut refused = started("iiop://127.0.0.1:1/inherited=1");
    let (mut said, mut errors) = (String::new(), refused.0.stderr.take().unwrap());
    errors.read_to_string(&mut said).unwrap();
    assert!(!refused.0.wait().unwrap().success());
    assert!(
        said.contains("socket 1 was not passed to this process: it got 1"),
        "{said}"
    );
}

#[cfg(not(feature = "web"))]
#[test]
fn a_page_that_is_not_built_in_is_refused_with_how_to_build_it() {
    let refused = serve(&["--memory", "--web", "127.0.0.1:0"])
        .output()
        .unwrap();
    assert!(!refused.status.success());
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("not built into this program"), "{said}");
    assert!(said.contains("the default features"), "{said}");
}
