//! Links between the event channels of two hosts, over a cable that loses datagrams and is cut: what was lost is what
//! the counts say.

use crate::namespaces::{Hosts, Owned, ip};
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Time after which something that should happen has not: long, for busy machines.
const PATIENCE: Duration = Duration::from_secs(90);

/// Number of events whose link loses some.
const EVENTS: u64 = 2_000;

/// Event channel of a host: its process, and its reference.
struct Channel {
    host: String,
    _process: Owned,
    reference: String,
}

impl Channel {
    fn start(host: &str, address: &str, more: &[&str]) -> Self {
        let listen = format!("iiop://{address}:2810");
        let all = [
            "events",
            "serve",
            "--listen",
            &listen,
            "--status",
            "127.0.0.1:2811",
        ];
        let mut process = Hosts::start(host, &[&all[..], more].concat(), Stdio::piped());
        let mut lines = BufReader::new(process.0.stdout.take().unwrap()).lines();
        let reference = lines.find_map(|line| line.ok().filter(|it| it.starts_with("IOR:")));
        let reference = reference.expect("the channel prints its reference");
        // The pipe stays read, so that nothing that is printed stops the process.
        std::thread::spawn(move || lines.for_each(drop));
        Self {
            host: host.to_owned(),
            _process: process,
            reference,
        }
    }

    /// Returns a metric.
    fn metric(&self, name: &str) -> u64 {
        let get = "exec 3<>/dev/tcp/127.0.0.1/2811; printf 'GET /metrics HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3";
        let output = Hosts::command(&self.host, "bash")
            .args(["-c", get])
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let name = format!("punctual_events_{name}");
        let value = text.lines().find_map(|line| {
            let (key, value) = line.split_once(' ')?;
            (key == name || key == format!("{name}_total"))
                .then(|| value.trim().parse::<f64>().ok())?
        });
        value.unwrap_or_else(|| panic!("no {name} in {text}")) as u64
    }

    fn push(&self, count: u64) {
        let count = count.to_string();
        let push = [
            "events",
            "push",
            &self.reference,
            "--type",
            "16",
            "--ttl",
            "1",
            "--count",
            &count,
        ];
        let mut pushed = Hosts::start(&self.host, &push, Stdio::null());
        let mut said = String::new();
        pushed
            .0
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut said)
            .unwrap();
        assert!(pushed.0.wait().unwrap().success(), "{said}");
    }

    /// Starts a subscriber to the channel, whose events keep the links going.
    fn subscriber(&self) -> Owned {
        let subscribe = ["events", "subscribe", &self.reference, "--type", "16"];
        let subscriber = Hosts::start(&self.host, &subscribe, Stdio::null());
        eventually("the subscriber connects", || self.metric("consumers") >= 1);
        subscriber
    }
}

fn eventually(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Makes a host's cable lose packets, and returns whether it repeats some, too: by netem, or by a queue for 1 Mbit/s that
/// is soon full, where the kernel has no netem.
fn lose(host: &str, device: &str) -> Result<bool, String> {
    let set = |how: &[&str]| {
        let all = [
            "netns", "exec", host, "tc", "qdisc", "replace", "dev", device, "root",
        ];
        ip(&[&all[..], how].concat())
    };
    let netem = [
        "netem",
        "loss",
        "10%",
        "duplicate",
        "5%",
        "delay",
        "1ms",
        "1ms",
    ];
    match set(&netem) {
        Ok(()) => Ok(true),
        Err(_) => set(&["tbf", "rate", "1mbit", "burst", "2kb", "limit", "3000"]).map(|()| false),
    }
}

/// Lets a host's cable lose nothing.
fn keep(host: &str, device: &str) {
    ip(&[
        "netns", "exec", host, "tc", "qdisc", "del", "dev", device, "root",
    ])
    .unwrap();
}

#[test]
fn multicast_over_a_lossy_cable_loses_what_the_counts_say() {
    let Some(hosts) = Hosts::new() else {
        return;
    };
    let group = |address| format!("udp://239.255.77.1:10001?datagram=256&interface={address}");
    let (here, there) = (group("198.18.77.1"), group("198.18.77.2"));
    let sender = Channel::start(&hosts.client, "198.18.77.1", &["--send", &here]);
    let receiver = Channel::start(&hosts.server, "198.18.77.2", &["--receive", &there]);
    // The first event arrives, so that its number is known.
    eventually("the link is up", || {
        sender.push(1);
        receiver.metric("udp_received_events") > 0
    });
    let (sent, received) = (
        sender.metric("udp_sent_events"),
        receiver.metric("udp_received_events"),
    );
    let repeats = match lose(&hosts.client, "pct0") {
        Ok(repeats) => repeats,
        Err(reason) => {
            eprintln!("skipped: packets cannot be lost on purpose here: {reason}");
            return;
        }
    };
    sender.push(EVENTS);
    eventually("all are sent", || {
        sender.metric("udp_sent_events") >= sent + EVENTS
    });
    keep(&hosts.client, "pct0");
    // The last event arrives, so that those before it are known to be lost.
    let before = receiver.metric("udp_received_events");
    eventually("the link is up again", || {
        sender.push(1);
        receiver.metric("udp_received_events") > before
    });
    eventually("what was lost is what is counted", || {
        let sent = sender.metric("udp_sent_events") - sent;
        let received = receiver.metric("udp_received_events") - received;
        let lost = receiver.metric("udp_lost_messages") + receiver.metric("udp_missing_messages");
        println!("sent {sent}, received {received}, lost {lost}");
        lost > 0 && received < sent && sent == received + lost
    });
    assert!(!repeats || receiver.metric("udp_repeated_datagrams") > 0);
}

#[test]
fn a_gateway_over_a_cut_cable_loses_no_more_than_is_counted_and_comes_back() {
    let Some(hosts) = Hosts::new() else {
        return;
    };
    let there = Channel::start(
        &hosts.server,
        "198.18.77.2",
        &[
            "--push",
            "target",
            "--push-timeout",
            "500ms",
            "--most-failures",
            "2",
        ],
    );
    let here = Channel::start(
        &hosts.client,
        "198.18.77.1",
        &["--receive", &there.reference],
    );
    let _subscriber = here.subscriber();
    eventually("the gateway connects", || {
        here.metric("connected_channels") == 1
    });
    there.push(100);
    eventually("events cross", || here.metric("channel_events") == 100);
    ip(&["-n", &hosts.client, "link", "set", "pct0", "down"]).unwrap();
    there.push(100);
    // The consumer that the gateway was is disconnected, and what it did not get is counted.
    eventually("the gateway is given up", || there.metric("consumers") == 0);
    ip(&["-n", &hosts.client, "link", "set", "pct0", "up"]).unwrap();
    eventually("the gateway comes back", || there.metric("consumers") == 1);
    let before = here.metric("channel_events");
    there.push(100);
    eventually("events cross again", || {
        here.metric("channel_events") >= before + 100
    });
    let (received, pushed) = (
        here.metric("channel_events"),
        there.metric("received_events"),
    );
    let lost = there.metric("lost_events");
    println!("pushed {pushed}, received {received}, lost {lost}");
    assert_eq!(pushed, 300);
    assert!(
        received + lost >= pushed,
        "pushed {pushed}, received {received}, lost {lost}"
    );
    assert!(here.metric("channel_connections") >= 2);
}
