//! Time lines of two hosts with clocks of their own, joined by their requests.
//!
//! A time namespace shifts the monotonic clock by an offset that the test knows and the files do not tell.

use crate::namespaces::{Hosts, Owned};
use serde_json::Value;
use std::process::{Command, Stdio};

/// Seconds by which the client's clock is ahead.
const AHEAD: i64 = 7_000;

#[test]
fn the_clock_of_another_host_is_found_by_the_requests_of_both() {
    let shifted = ["--time", "--monotonic", &AHEAD.to_string()].map(ToOwned::to_owned);
    let can_shift = Command::new("unshare").args(&shifted).arg("true").output();
    if !can_shift.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: no time namespaces here (`unshare --time`, as root)");
        return;
    }
    let Some(hosts) = Hosts::new() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let [reference, client, server] = ["cubit.ior", "client.json", "server.json"].map(path);
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

    let joined = Command::new(env!("CARGO_BIN_EXE_punctual"))
        .args([
            "timeline", "join", &client, &server, "--json", "--clocks", "requests",
        ])
        .output()
        .unwrap();
    assert!(joined.status.success(), "{joined:?}");
    let joined: Value = serde_json::from_slice(&joined.stdout).unwrap();
    let clock = &joined["clocks"][0];
    let (offset, uncertainty) = (
        clock["offset"].as_i64().unwrap(),
        clock["uncertainty"].as_i64().unwrap(),
    );
    let error = offset + AHEAD * 1_000_000_000;
    assert!(error.abs() <= uncertainty, "{clock}");
    assert_eq!(
        (&joined["contradicted"], &clock["pieces"]),
        (&0.into(), &1.into())
    );
}
