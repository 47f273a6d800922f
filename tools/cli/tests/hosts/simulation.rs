//! An interactive simulation on three hosts, whose states go by multicast, while the cable of one is cut.

use crate::namespaces::{Hosts, Owned, ip, skipped};
use serde_json::Value;
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

/// Time after which something that should happen has not: long, for busy machines.
const PATIENCE: Duration = Duration::from_secs(90);

/// Three hosts at one switch, removed when dropped.
struct Switched {
    switch: String,
    names: [String; 3],
}

impl Switched {
    /// Makes the hosts; `None` after a printed reason, if that is not possible here.
    fn new() -> Option<Self> {
        let id = std::process::id();
        let hosts = Self {
            switch: format!("pct-w{id}"),
            names: [0, 1, 2].map(|number| format!("pct-{number}{id}")),
        };
        let made = hosts.make();
        made.inspect_err(|reason| skipped(&format!("no network namespaces here: {reason}")))
            .ok()?;
        Some(hosts)
    }

    fn make(&self) -> Result<(), String> {
        let switch = self.switch.as_str();
        ip(&["netns", "add", switch])?;
        ip(&[
            "-n",
            switch,
            "link",
            "add",
            "switch",
            "type",
            "bridge",
            "mcast_snooping",
            "0",
        ])?;
        ip(&["-n", switch, "link", "set", "switch", "up"])?;
        for (number, name) in self.names.iter().enumerate() {
            self.connect(number, name)?;
        }
        Ok(())
    }

    fn connect(&self, number: usize, name: &str) -> Result<(), String> {
        let (switch, port) = (self.switch.as_str(), format!("port{number}"));
        ip(&["netns", "add", name])?;
        let cable = ["link", "add", "pct0", "type", "veth", "peer", "name", &port];
        ip(&[&["-n", name][..], &cable, &["netns", switch]].concat())?;
        ip(&["-n", switch, "link", "set", &port, "master", "switch"])?;
        ip(&["-n", switch, "link", "set", &port, "up"])?;
        let address = format!("{}/29", address(number));
        ip(&["-n", name, "address", "add", &address, "dev", "pct0"])?;
        ip(&["-n", name, "link", "set", "pct0", "up"])?;
        ip(&["-n", name, "link", "set", "lo", "up"])
    }

    /// Cuts a host's cable at the switch, or mends it: the host does not notice.
    fn set_port(&self, number: usize, state: &str) {
        let port = format!("port{number}");
        ip(&["-n", &self.switch, "link", "set", &port, state]).unwrap();
    }
}

impl Drop for Switched {
    fn drop(&mut self) {
        for name in self.names.iter().chain([&self.switch]) {
            let _ = ip(&["netns", "del", name]);
        }
    }
}

fn address(number: usize) -> String {
    format!("198.18.78.{}", number + 1)
}

/// Simulation of one host.
struct Simulated {
    input: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
    _process: Owned,
}

impl Simulated {
    fn start(hosts: &Switched, number: usize) -> Self {
        let mut command = Hosts::command(&hosts.names[number], env!("CARGO_BIN_EXE_punctual"));
        let (host, interface) = (number.to_string(), address(number));
        command.args([
            "demo",
            "simulation",
            "--host",
            &host,
            "--interface",
            &interface,
        ]);
        command.args(["--heartbeat", "1s"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = Owned(command.spawn().unwrap());
        let mut this = Self {
            input: process.0.stdin.take().unwrap(),
            answers: BufReader::new(process.0.stdout.take().unwrap()).lines(),
            _process: process,
        };
        this.answer();
        this
    }

    fn ask(&mut self, request: &str) -> Value {
        writeln!(self.input, "{request}").unwrap();
        self.answer()
    }

    fn answer(&mut self) -> Value {
        let line = self.answers.next().expect("the host has ended");
        serde_json::from_str(&line.unwrap()).unwrap()
    }
}

/// Counts of all hosts, and a condition for them.
fn eventually(hosts: &mut [Simulated], what: &str, holds: impl Fn(&[Value]) -> bool) -> Vec<Value> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let counts: Vec<_> = hosts.iter_mut().map(|host| host.ask("count")).collect();
        if holds(&counts) {
            return counts;
        }
        assert!(Instant::now() < deadline, "{what}: {counts:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn number(counts: &Value, name: &str) -> u64 {
    counts[name].as_u64().unwrap()
}

/// Returns whether each host knows of all that the others have sent whether it arrived.
fn is_accounted(counts: &[Value]) -> bool {
    let sent: u64 = counts.iter().map(|one| number(one, "sent")).sum();
    counts.iter().all(|one| {
        let others = sent - number(one, "sent");
        number(one, "received") + number(one, "lost") == others
    })
}

#[test]
fn three_hosts_show_a_hundred_entities_and_count_what_a_cut_cable_loses() {
    let Some(hosts) = Switched::new() else {
        return;
    };
    let mut simulated: Vec<_> = (0..3)
        .map(|number| Simulated::start(&hosts, number))
        .collect();
    for host in &mut simulated {
        host.ask("start");
    }
    // 100 entities: of 34, 33 and 33, each host shows those of the others.
    eventually(&mut simulated, "all show all", |counts| {
        let shown: Vec<_> = counts.iter().map(|one| number(one, "shown")).collect();
        shown == [66, 67, 67]
    });
    hosts.set_port(2, "down");
    let before = simulated[2].ask("count");
    let sent = |counts: &[Value]| number(&counts[0], "sent");
    let at_cut = number(&simulated[0].ask("count"), "sent");
    eventually(&mut simulated, "the others go on", |counts| {
        sent(counts) > at_cut + 100
    });
    hosts.set_port(2, "up");
    let received = number(&before, "received");
    eventually(&mut simulated, "the cut host hears again", |counts| {
        number(&counts[2], "received") > received + 50
    });
    // The last states have the numbers of all before them; a host may miss those, too.
    let deadline = Instant::now() + PATIENCE;
    let counts = loop {
        let counts: Vec<_> = simulated.iter_mut().map(|host| host.ask("stop")).collect();
        std::thread::sleep(Duration::from_millis(100));
        let counts_now: Vec<_> = simulated.iter_mut().map(|host| host.ask("count")).collect();
        if is_accounted(&counts_now) {
            break counts_now;
        }
        assert!(Instant::now() < deadline, "not accounted: {counts:?}");
    };
    println!("{counts:#?}");
    assert!(number(&counts[2], "lost") >= 100, "{counts:?}");
    assert!(
        counts
            .iter()
            .all(|one| number(one, "foreign") == 0 && number(one, "saved") > 0)
    );
}
