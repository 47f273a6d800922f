//! Several processes at one stream: another one takes over a reader.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use punctual_durable::{EventLog, EventStore, LogSettings, Most, Name, NewEvent, Position, Reader};
use punctual_jetstream::{JetStreamOptions, JetStreamStore};

use crate::nats::{LIMIT, Nats};

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

/// Opens the log as another process does.
fn opened(server: &str) -> Arc<dyn EventLog> {
    let options = JetStreamOptions {
        acknowledge_wait: Duration::from_secs(2),
        ..JetStreamOptions::new([server])
    };
    let store = JetStreamStore::open(options).unwrap();
    store
        .open_log(&name("shared"), LogSettings::default())
        .unwrap()
}

fn append(log: &dyn EventLog, numbers: std::ops::Range<u32>) {
    let event = |number: u32| NewEvent::new(number.to_string().into_bytes());
    log.append(numbers.map(event).collect()).unwrap();
}

fn fetch(reader: &dyn Reader, count: usize) -> (Vec<u32>, Vec<Position>) {
    let mut all = Vec::new();
    while all.len() < count {
        let got = reader
            .fetch(Most::events(count - all.len()), LIMIT)
            .unwrap();
        assert!(!got.is_empty(), "events that came: {}", all.len());
        all.extend(got);
    }
    let number = |bytes: &[u8]| std::str::from_utf8(bytes).unwrap().parse::<u32>().unwrap();
    all.iter()
        .map(|one| (number(&one.bytes), one.position))
        .unzip()
}

#[test]
fn a_reader_that_was_closed_is_taken_over_in_order() {
    let Some(nats) = Nats::start() else { return };
    let (one, other) = (opened(&nats.url), opened(&nats.url));
    let reader = one.open_reader(&name("reader")).unwrap();
    append(&*other, 0..100);
    let (numbers, positions) = fetch(&*reader, 50);
    assert_eq!(numbers, (0..50).collect::<Vec<_>>());
    reader.acknowledge(&positions[..10]);
    drop(reader);
    let taken = other.open_reader(&name("reader")).unwrap();
    let (numbers, _) = fetch(&*taken, 90);
    assert_eq!(numbers, (10..100).collect::<Vec<_>>());
}

/// Variable with the address of the server, for the process that is killed.
const SERVER: &str = "PUNCTUAL_JETSTREAM_TAKEOVER";

#[test]
fn a_reader_of_a_killed_process_is_taken_over_in_order_after_the_wait() {
    let Some(nats) = Nats::start() else { return };
    let log = opened(&nats.url);
    drop(log.open_reader(&name("reader")).unwrap());
    append(&*log, 0..100);
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([
        "--exact",
        "takeover::process_that_holds_a_reader",
        "--nocapture",
    ]);
    command.env(SERVER, &nats.url).stdout(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let reports = BufReader::new(process.stdout.take().unwrap());
    let is_holding = reports
        .lines()
        .any(|line| line.unwrap().ends_with("holding"));
    assert!(is_holding);
    process.kill().unwrap();
    process.wait().unwrap();
    let taken = log.open_reader(&name("reader")).unwrap();
    let (numbers, _) = fetch(&*taken, 90);
    assert_eq!(numbers, (10..100).collect::<Vec<_>>());
}

#[test]
fn process_that_holds_a_reader() {
    let Ok(server) = std::env::var(SERVER) else {
        return;
    };
    let log = opened(&server);
    let reader = log.open_reader(&name("reader")).unwrap();
    let (_, positions) = fetch(&*reader, 50);
    reader.acknowledge(&positions[..10]);
    reader.flush().unwrap();
    println!("holding");
    loop {
        std::thread::park();
    }
}

#[test]
fn a_reader_that_keeps_the_order_waits_for_what_another_process_holds() {
    let Some(nats) = Nats::start() else { return };
    let (one, other) = (opened(&nats.url), opened(&nats.url));
    let reader = one.open_reader(&name("reader")).unwrap();
    append(&*one, 0..10);
    let (_, positions) = fetch(&*reader, 10);
    reader.acknowledge(&positions[..5]);
    reader.flush().unwrap();
    let second = other.open_reader(&name("reader")).unwrap();
    second.keep_order();
    append(&*one, 10..20);
    // Longer than a reader waits that does not keep the order.
    let early = second
        .fetch(Most::events(1), Duration::from_secs(12))
        .unwrap();
    assert!(early.is_empty(), "5 to 9 come first: {early:?}");
    drop(reader);
    let (numbers, _) = fetch(&*second, 15);
    assert_eq!(numbers, (5..20).collect::<Vec<_>>());
}
