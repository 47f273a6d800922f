//! Time lines of two hosts with clocks of their own, joined by their requests.
//!
//! A time namespace shifts the monotonic clock by an offset that the test knows and the files do not tell.

use crate::namespaces::{Hosts, Owned, skipped};
use serde_json::Value;
use std::process::{Command, Stdio};

/// Seconds by which the client's clock is ahead.
const AHEAD: i64 = 7_000;

/// Time lines of a client and a server on two hosts, of which the client's clock is ahead.
struct Recorded {
    folder: tempfile::TempDir,
}

impl Recorded {
    /// Records them; `None` after a printed reason, if that is not possible here.
    fn new() -> Option<Self> {
        let shifted =
            ["--time", "--fork", "--monotonic", &AHEAD.to_string()].map(ToOwned::to_owned);
        let can_shift = Command::new("unshare").args(&shifted).arg("true").output();
        if !can_shift.is_ok_and(|output| output.status.success()) {
            skipped("no time namespaces here (`unshare --time`, as root)");
            return None;
        }
        let hosts = Hosts::new()?;
        let folder = tempfile::tempdir().unwrap();
        let recorded = Self { folder };
        let names = ["cubit.ior", "client.json", "server.json"];
        let [reference, client, server] = names.map(|name| recorded.path(name));
        let listen = ["demo-server", "-ORBListenEndpoints", "iiop://198.18.77.2:0"];
        let options = ["--ior-file", &reference, "-ORBTimeline", &server];
        let mut serves = Hosts::start(
            &hosts.server,
            &[&listen[..], &options].concat(),
            Stdio::null(),
        );
        while std::fs::read(&reference).map_or(true, |text| text.is_empty()) {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let mut calls = Hosts::command(&hosts.client, "unshare");
        calls.args(&shifted).arg(env!("CARGO_BIN_EXE_punctual"));
        calls.args(["demo-client", "--ior", &format!("file://{reference}")]);
        calls.args(["--calls", "200", "-ORBTimeline", &client]);
        calls.stdout(Stdio::null());
        let mut calls = Owned(calls.spawn().unwrap());
        assert!(calls.0.wait().unwrap().success());
        let id = serves.0.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-TERM", &id])
                .status()
                .unwrap()
                .success()
        );
        assert!(serves.0.wait().unwrap().success());

        Some(recorded)
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    /// Returns the result of joining them.
    fn joined(&self, clocks: &str) -> Value {
        let files = ["client.json", "server.json"].map(|name| self.path(name));
        let joined = Command::new(env!("CARGO_BIN_EXE_punctual"))
            .args(["timeline", "join", "--json", "--clocks", clocks])
            .args(files)
            .output()
            .unwrap();
        assert!(joined.status.success(), "{joined:?}");
        serde_json::from_slice(&joined.stdout).unwrap()
    }

    /// Returns whether a daemon has told the kernel that its clock is synchronised, and how far TAI is ahead.
    fn is_kept(&self) -> bool {
        let recorded = std::fs::read(self.path("client.json")).unwrap();
        let recorded: Value = serde_json::from_slice(&recorded).unwrap();
        let begin = &recorded["otherData"]["clock"]["begin"];
        begin["synchronised"] == true && begin["tai_offset"].as_i64() > Some(0)
    }
}

#[test]
fn the_clock_of_another_host_is_found_by_the_requests_of_both() {
    let Some(recorded) = Recorded::new() else {
        return;
    };
    let joined = recorded.joined("requests");
    holds(&joined);
    let pieces = &joined["clocks"][0]["pieces"];
    assert_eq!((&joined["contradicted"], pieces), (&0.into(), &1.into()));
}

/// Runs with a clock that is kept: in the virtual machine of `cargo xtask network`, for one.
#[test]
fn hosts_whose_clocks_a_daemon_keeps_are_joined_by_tai_and_no_request_contradicts_it() {
    let Some(recorded) = Recorded::new() else {
        return;
    };
    if !recorded.is_kept() {
        println!("skipped: no daemon keeps this machine's clock, or it knows no TAI");
        return;
    }
    let joined = recorded.joined("time-of-day");
    holds(&joined);
    let clock = &joined["clocks"][0];
    assert_eq!(clock["by"], "time-of-day");
    assert_eq!(clock["contradicting_offset"], Value::Null, "{clock}");
    assert_eq!(joined["contradicted"], 0);
    println!("by the kept clocks: {clock}");
    // Both errors together are less than what requests tell.
    let by_requests = recorded.joined("requests");
    println!("by requests: {}", by_requests["clocks"][0]);
    let uncertainty = |joined: &Value| joined["clocks"][0]["uncertainty"].as_i64();
    let is_better = uncertainty(&joined) < uncertainty(&by_requests);
    let chosen = recorded.joined("auto");
    let by = if is_better { "time-of-day" } else { "requests" };
    assert_eq!(chosen["clocks"][0]["by"], by);
}

/// Checks that the offset that was found is the true one, within its uncertainty.
fn holds(joined: &Value) {
    let clock = &joined["clocks"][0];
    let (offset, uncertainty) = (
        clock["offset"].as_i64().unwrap(),
        clock["uncertainty"].as_i64().unwrap(),
    );
    let error = offset + AHEAD * 1_000_000_000;
    assert!(error.abs() <= uncertainty, "{clock}");
}
