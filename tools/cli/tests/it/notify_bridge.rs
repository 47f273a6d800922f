//! `punctual notify bridge`: events of a channel on NATS subjects, and messages as events of a channel. Skipped where there is no
//! `nats-server` (in the path, or named by `PUNCTUAL_NATS_SERVER`).

use crate::nats::Nats;
use crate::support::{Process, punctual, text};
use punctual_jetstream::{Bridge, BridgeMessage, JetStreamOptions, Subscription};
use serde_json::Value;
use std::io::{BufRead, BufReader, Lines};
use std::net::TcpListener;
use std::path::Path;
use std::process::{ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// Time after which a test fails that waits for something.
const LIMIT: Duration = Duration::from_secs(120);

fn started(arguments: &[&str]) -> Process {
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    command.args(arguments).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    Process(command.spawn().unwrap())
}

/// Starts a service with a channel; returns its factory and the channel's id.
fn service(store: &Path) -> (Process, String, String) {
    let store = store.to_str().unwrap();
    let listen = ["--listen", "iiop://127.0.0.1:0"];
    let words = [&["notify", "serve", "--store", store][..], &listen].concat();
    let mut service = started(&words);
    let factory = service.reference();
    let created = punctual(&["notify", "create", "--persistent-events", &factory]);
    let id = text(created.stdout).trim().to_owned();
    (service, factory, id)
}

/// Starts a bridge, and waits until it is connected.
fn bridge(nats: &Nats, (factory, id): (&str, &str), options: &[&str]) -> Process {
    let words = [
        "notify",
        "bridge",
        factory,
        "--channel",
        id,
        "--nats",
        &nats.url,
    ];
    let mut bridge = started(&[&words[..], options].concat());
    bridge.says("connected");
    bridge
}

fn push((factory, id): (&str, &str), kind: &str, number: u32) {
    let field = format!("number={{\"type\": \"long\", \"value\": {number}}}");
    let words = [
        "notify",
        "push",
        factory,
        "--channel",
        id,
        "--domain",
        "Telecom",
    ];
    let pushed = punctual(&[&words[..], &["--type", kind, "--field", &field]].concat());
    assert!(pushed.status.success(), "{}", text(pushed.stderr));
}

/// Starts a consumer, and waits until it is connected; returns the lines that it prints.
fn pull((factory, id): (&str, &str)) -> (Process, Lines<BufReader<ChildStdout>>) {
    let mut consumer = started(&["notify", "pull", factory, "--channel", id]);
    consumer.says("connected");
    let lines = BufReader::new(consumer.0.stdout.take().unwrap()).lines();
    (consumer, lines)
}

fn next(messages: &mut Subscription) -> BridgeMessage {
    let begin = Instant::now();
    while begin.elapsed() < LIMIT {
        if let Some(message) = messages.next(Duration::from_millis(100)).unwrap() {
            return message;
        }
    }
    panic!("no message");
}

fn number(event: &Value) -> i64 {
    assert_eq!(event["filterable_data"][0]["name"], "number");
    event["filterable_data"][0]["value"]["value"]
        .as_i64()
        .unwrap()
}

#[test]
fn events_are_messages_and_messages_events_once_each() {
    let Some(nats) = Nats::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (_service, factory, id) = service(&folder.path().join("store.redb"));
    let channel = (factory.as_str(), id.as_str());
    let (_consumer, mut pulled) = pull(channel);
    let program = Bridge::open(&JetStreamOptions::new([&nats.url])).unwrap();
    let mut messages = program.subscribe("plant.>", 1_000).unwrap();
    let options = [
        "--publish",
        "plant",
        "--subscribe",
        "plant.>",
        "--filter",
        "$number < 100",
    ];
    let mut bridge = bridge(&nats, channel, &options);

    push(channel, "NT ALARM", 1);
    let message = next(&mut messages);
    assert_eq!(message.subject, "plant.Telecom.NT_ALARM");
    let event: Value = serde_json::from_slice(&message.bytes).unwrap();
    assert_eq!(number(&event), 1);
    let mut in_channel =
        || -> Value { serde_json::from_str(&pulled.next().unwrap().unwrap()).unwrap() };
    assert_eq!(number(&in_channel()), 1);

    // A program without CORBA says what it has read, with another number; what is no event is left out, and does not stop others.
    let mut said = event;
    for bytes in [&b"{}"[..], b"\xff"] {
        let message = BridgeMessage {
            subject: "plant.x".to_owned(),
            headers: Vec::new(),
            bytes: bytes.to_vec().into(),
        };
        program.publish(message).unwrap();
        next(&mut messages);
    }
    for number in [2, 200] {
        said["filterable_data"][0]["value"]["value"] = number.into();
        let message = BridgeMessage {
            subject: "plant.x".to_owned(),
            headers: Vec::new(),
            bytes: said.to_string().into_bytes().into(),
        };
        program.publish(message).unwrap();
        assert_eq!(next(&mut messages).subject, "plant.x");
    }
    assert_eq!(number(&in_channel()), 2);
    assert_eq!(number(&in_channel()), 200);

    // Nothing has gone round: the next message and the next event are the next that are made.
    // An event that no message can carry does not stop those behind it.
    push(channel, &"x".repeat(2_000), 4);
    assert_eq!(number(&in_channel()), 4);
    push(channel, "NT ALARM", 101);
    push(channel, "NT ALARM", 3);
    let event: Value = serde_json::from_slice(&next(&mut messages).bytes).unwrap();
    assert_eq!(number(&event), 3, "101 does not meet the filter");
    assert_eq!(number(&in_channel()), 101);
    assert_eq!(number(&in_channel()), 3);

    bridge.signal("-TERM");
    assert!(bridge.0.wait().unwrap().success());
    let channels = punctual(&[
        "notify",
        "watch",
        &factory,
        "--channel",
        &id,
        "--looks",
        "1",
        "--json",
    ]);
    let look: Value = serde_json::from_slice(&channels.stdout).unwrap();
    assert_eq!(look["consumers"].as_array().unwrap().len(), 1, "{look}");
}

#[test]
fn a_bridge_that_is_kept_and_killed_misses_nothing() {
    let Some(nats) = Nats::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (_service, factory, id) = service(&folder.path().join("store.redb"));
    let channel = (factory.as_str(), id.as_str());
    let kept = folder.path().join("proxy");
    // An address that no other test uses.
    let free = TcpListener::bind(("127.79.5.7", 0))
        .unwrap()
        .local_addr()
        .unwrap();
    let listen = format!("iiop://{free}");
    let options = [
        "--publish",
        "plant",
        "--form",
        "cdr",
        "--keep",
        kept.to_str().unwrap(),
    ];
    let options = [&options[..], &["-ORBListenEndpoints", &listen]].concat();
    let program = Bridge::open(&JetStreamOptions::new([&nats.url])).unwrap();
    let mut messages = program.subscribe("plant.>", 1_000).unwrap();

    let mut first = bridge(&nats, channel, &options);
    push(channel, "A", 0);
    assert_eq!(next(&mut messages).subject, "plant.Telecom.A");
    first.signal("-KILL");
    first.0.wait().unwrap();
    for number in 1..20 {
        push(channel, "B", number);
    }
    let _second = bridge(&nats, channel, &options);
    let mut others = 0;
    // An event may come twice: the last one of the first bridge.
    while others < 19 {
        let message = next(&mut messages);
        let header = (
            "Content-Type".to_owned(),
            "application/vnd.omg.cdr".to_owned(),
        );
        assert!(message.headers.contains(&header));
        others += u32::from(message.subject == "plant.Telecom.B");
    }
}

#[test]
fn a_bridge_without_a_direction_or_without_nats_says_so() {
    let refused = punctual(&[
        "notify",
        "bridge",
        "corbaloc::127.0.0.1:1/X",
        "--nats",
        "nats://127.0.0.1:1",
    ]);
    let error = text(refused.stderr);
    assert!(
        !refused.status.success() && error.contains("--publish"),
        "{error}"
    );
    let folder = tempfile::tempdir().unwrap();
    let (_service, factory, id) = service(&folder.path().join("store.redb"));
    let words = [
        "notify",
        "bridge",
        &factory,
        "--channel",
        &id,
        "--publish",
        "plant",
    ];
    for nats in ["nats://127.0.0.1:1", "127.0.0.1", "http://127.0.0.1:1"] {
        let refused = punctual(&[&words[..], &["--nats", nats]].concat());
        assert!(!refused.status.success(), "{nats}");
        assert!(text(refused.stderr).contains("--nats takes"), "{nats}");
    }
    let Some(nats) = Nats::start() else { return };
    let words = [&words[..words.len() - 1], &["a..b", "--nats", &nats.url]].concat();
    let error = text(punctual(&words).stderr);
    assert!(error.contains("is no subject"), "{error}");
}
