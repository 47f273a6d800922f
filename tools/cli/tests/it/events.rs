//! `punctual events`: a channel, and commands that push into it and read from it.

use crate::support::{Process, punctual, text};
use serde_json::Value;
use std::io::{BufRead, BufReader, Lines, Read};
use std::process::{ChildStdout, Command, Stdio};

fn start(arguments: &[&str]) -> Process {
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    command.args(arguments).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    Process(command.spawn().unwrap())
}

/// Starts a channel at a Unix socket, where it has the same reference each time.
fn channel(socket: &str) -> (Process, String) {
    let listen = format!("uiop://{socket}");
    let mut channel = start(&["events", "serve", "--listen", &listen]);
    let reference = channel.reference();
    assert!(reference.starts_with("IOR:"), "{reference}");
    (channel, reference)
}

/// Subscriber whose lines are read; it is connected.
struct Subscriber {
    process: Process,
    lines: Lines<BufReader<ChildStdout>>,
    said: Lines<BufReader<std::process::ChildStderr>>,
}

impl Subscriber {
    fn new(reference: &str, arguments: &[&str]) -> Self {
        let all = [&["events", "subscribe", reference][..], arguments].concat();
        let mut process = start(&all);
        let lines = BufReader::new(process.0.stdout.take().unwrap()).lines();
        let said = BufReader::new(process.0.stderr.take().unwrap()).lines();
        let mut this = Self {
            process,
            lines,
            said,
        };
        this.connects();
        this
    }

    /// Waits until it is connected, once more each time.
    fn connects(&mut self) {
        let connected = self.said.find(|line| line.as_ref().unwrap() == "connected");
        assert!(connected.is_some(), "the subscriber ended");
    }

    fn line(&mut self) -> String {
        self.lines.next().unwrap().unwrap()
    }

    fn json(&mut self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }
}

fn push(reference: &str, arguments: &[&str]) -> String {
    let output = punctual(&[&["events", "push", reference][..], arguments].concat());
    let said = text(output.stderr);
    assert!(output.status.success(), "{said}");
    text(output.stdout)
}

#[test]
fn pushed_events_are_printed_as_lines_and_as_json() {
    let folder = tempfile::tempdir().unwrap();
    let (_channel, reference) = channel(folder.path().join("socket").to_str().unwrap());
    let mut lines = Subscriber::new(&reference, &[]);
    let mut json = Subscriber::new(&reference, &["--type", "17,18", "--json"]);
    push(
        &reference,
        &["--type", "16", "--source", "3", "--text", "valve open"],
    );
    let any = r#"{"type": "long", "value": 5}"#;
    let pushed = push(
        &reference,
        &[
            "--type", "17", "--hex", "00ff", "--any", any, "--ttl", "2", "--json",
        ],
    );
    assert_eq!(pushed.trim(), r#"{"pushed":1}"#);
    assert_eq!(lines.line(), r#"type 16 source 3 ttl 0 "valve open""#);
    assert_eq!(lines.line(), "type 17 source 1 ttl 2 00ff 5");
    let seen = json.json();
    assert_eq!(
        (&seen["type"], &seen["octets"]),
        (&17.into(), &"00ff".into())
    );
    assert_eq!(seen["any"], 5);
}

#[test]
fn a_subscriber_ends_after_as_many_events_as_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let (_channel, reference) = channel(folder.path().join("socket").to_str().unwrap());
    let mut subscriber = Subscriber::new(&reference, &["--count", "2"]);
    push(&reference, &["--type", "16", "--count", "3"]);
    assert_eq!(subscriber.lines.by_ref().count(), 2);
    assert!(subscriber.process.0.wait().unwrap().success());
}

#[test]
fn a_subscriber_goes_on_when_the_channel_was_killed_and_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let socket = socket.to_str().unwrap();
    let (killed, reference) = channel(socket);
    let mut subscriber = Subscriber::new(&reference, &[]);
    push(&reference, &["--type", "16"]);
    assert_eq!(subscriber.line(), "type 16 source 1 ttl 0");
    killed.signal("-KILL");
    drop(killed);
    let (_again, same) = channel(socket);
    assert_eq!(same, reference);
    subscriber.connects();
    push(&reference, &["--type", "17"]);
    assert_eq!(subscriber.line(), "type 17 source 1 ttl 0");
}

#[test]
fn a_table_of_what_passes_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let (_channel, reference) = channel(folder.path().join("socket").to_str().unwrap());
    let mut watching = start(&[
        "events",
        "watch",
        &reference,
        "--interval",
        "50ms",
        "--json",
    ]);
    let mut lines = BufReader::new(watching.0.stdout.take().unwrap()).lines();
    let mut look = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    while look()["is_connected"] != true {}
    push(
        &reference,
        &[
            "--type", "16", "--source", "3", "--count", "5", "--text", "12345678",
        ],
    );
    let seen = loop {
        let seen = look();
        if seen["events"][0]["events"] == 5 && seen["channel"]["consumers"][0]["pushed"] == 5 {
            break seen;
        }
    };
    let consumer = &seen["channel"]["consumers"][0];
    assert_eq!(seen["channel"]["consumer_count"], 1);
    assert_eq!(consumer["state"], "connected");
    assert_eq!(
        (&consumer["dropped"], &consumer["queued"]),
        (&0.into(), &0.into())
    );
    assert!(
        consumer["peer"].as_str().unwrap().starts_with("iiop://"),
        "{seen}"
    );
    let row = &seen["events"][0];
    assert_eq!((&row["type"], &row["source"]), (&"16".into(), &"3".into()));
}

#[test]
fn what_is_no_channel_is_an_error_with_a_next_step() {
    let nowhere = "corbaloc::127.0.0.1:1/EventService";
    let output = punctual(&["events", "push", nowhere, "--type", "16"]);
    let said = text(output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("TRANSIENT"), "{said}");
    let output = punctual(&["events", "push", "no reference", "--type", "16"]);
    let said = text(output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("punctual events serve"), "{said}");
    let output = punctual(&[
        "events",
        "push",
        nowhere,
        "--type",
        "16",
        "--any",
        r#"{"type": "long", "value": "x"}"#,
    ]);
    assert!(text(output.stderr).contains("--any takes JSON"));
    let output = punctual(&["events", "push", nowhere, "--type", "16", "--hex", "0"]);
    assert!(text(output.stderr).contains("two hexadecimal digits"));
}

#[test]
fn a_bad_setting_stops_the_start() {
    let serve = ["events", "serve", "--listen", "iiop://127.0.0.1:0"];
    for (arguments, named) in [
        (["--send", "udp://10.0.0.1"], "239.255.1.1:10001"),
        (["--without", "eid"], "timestamps"),
        (["--dispatching", "lines"], "reactive"),
    ] {
        let output = punctual(&[&serve[..], &arguments].concat());
        let said = text(output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(named), "{said}");
    }
}

#[test]
fn a_subscriber_that_cannot_connect_says_why() {
    let nowhere = "corbaloc::127.0.0.1:1/EventService";
    let mut process = start(&["events", "subscribe", nowhere]);
    let mut said = BufReader::new(process.0.stderr.take().unwrap()).lines();
    let problem = said.find(|line| line.as_ref().unwrap().starts_with("not connected"));
    let problem = problem.unwrap().unwrap();
    assert!(problem.contains("TRANSIENT"), "{problem}");
}

#[test]
fn a_subscriber_ends_when_the_reader_of_its_lines_has_gone() {
    let folder = tempfile::tempdir().unwrap();
    let (_channel, reference) = channel(folder.path().join("socket").to_str().unwrap());
    let mut subscriber = Subscriber::new(&reference, &[]);
    drop(subscriber.lines);
    push(&reference, &["--type", "16"]);
    assert!(subscriber.process.0.wait().unwrap().success());
}

#[test]
fn a_channel_asks_the_scheduler_of_another_process_for_its_levels() {
    const IDL: &str = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../services/scheduler/idl/RtecScheduler.idl"
    );
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| format!("uiop://{}", folder.path().join(name).display());
    let mut scheduler = start(&["schedule", "serve", "--listen", &at("scheduler")]);
    let plans = scheduler.reference();
    let call = |arguments: &[&str]| {
        let output = punctual(&[&["call", "--idl", IDL, &plans][..], arguments].concat());
        assert!(output.status.success(), "{}", text(output.stderr));
    };
    let attributes = "{\"handle\": 1, \"criticality\": \"HIGH_CRITICALITY\", \"wc_time\": 30000, \"typical_time\": 0, \
                      \"cached_time\": 0, \"period\": 100000, \"importance\": \"LOW_IMPORTANCE\", \"quantum\": 0, \
                      \"threads\": 1, \"info_type\": \"OPERATION\"}";
    call(&["create", "\"radar.read\""]);
    call(&["set", "-d", attributes]);
    call(&["recompute_scheduling", "1", "99"]);
    let serve = |of: &str, name: &str, handle: &str| {
        let listen = at(name);
        let arguments = ["events", "serve", "--listen", &listen, "--scheduler", of];
        let options = ["--real-time", "off", "--handle", handle];
        start(&[&arguments[..], &options].concat())
    };
    let mut channel = serve(&plans, "channel", "7=radar.read");
    let reference = channel.reference();
    let mut subscriber = Subscriber::new(&reference, &[]);
    push(&reference, &["--type", "16"]);
    assert_eq!(subscriber.line(), "type 16 source 1 ttl 0");
    let refused = |mut process: Process, why: &str| {
        let mut said = String::new();
        let mut output = process.0.stderr.take().unwrap();
        output.read_to_string(&mut said).unwrap();
        let status = process.0.wait().unwrap();
        assert!(!status.success() && said.contains(why), "{said}");
    };
    refused(
        serve(&plans, "misnamed", "7=rader.read"),
        "no operation `rader.read`",
    );
    let nobody = format!("corbaloc:uiop:{}|S", folder.path().join("gone").display());
    refused(serve(&nobody, "alone", "7=radar.read"), "does not answer");
}
