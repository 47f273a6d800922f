//! A network cable that is cut during calls: the caller gets an exception within the configured
//! time-outs.

use crate::namespaces::Hosts;
use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(40);

#[test]
fn a_cut_cable_ends_the_call_with_an_exception_that_says_why() {
    let Some(hosts) = Hosts::new() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("orb.toml");
    let short = "[tcp]\nuser_timeout_ms = 1500\nkeep_alive_idle_s = 1\nkeep_alive_interval_s = 1\n\
                 keep_alive_probes = 2\n";
    std::fs::write(&config, short).unwrap();
    let reference = folder.path().join("cubit.ior");
    let file = reference.to_str().unwrap();
    let config = config.to_str().unwrap();
    let listen = [
        "-ORBListenEndpoints",
        "iiop://198.18.77.2:0",
        "--ior-file",
        file,
    ];
    let server = [&["demo-server", "-ORBConfigFile", config][..], &listen].concat();
    let _server = Hosts::start(&hosts.server, &server, Stdio::null());
    let began = Instant::now();
    while !reference.exists() {
        assert!(began.elapsed() < LIMIT, "the server does not start");
        std::thread::sleep(Duration::from_millis(10));
    }
    let ior = format!("file://{file}");
    let call = ["--ior", ior.as_str(), "--calls", "100000000"];
    let client = [&["demo-client", "-ORBConfigFile", config][..], &call].concat();
    let mut client = Hosts::start(&hosts.client, &client, Stdio::null());
    // Calls are in progress when the first traffic has reached the server's end.
    while received(&hosts.server) < 100_000 {
        assert!(began.elapsed() < LIMIT, "no traffic");
        std::thread::sleep(Duration::from_millis(10));
    }
    hosts.cut();
    while client.0.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < LIMIT, "the caller hangs");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(!client.0.wait().unwrap().success());
    let mut said = String::new();
    client
        .0
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    for part in ["COMM_FAILURE", "iiop://198.18.77.2", "COMPLETED_MAYBE"] {
        assert!(said.contains(part), "{said}");
    }
}

/// Returns the number of bytes received at the server's end of the cable.
fn received(host: &str) -> u64 {
    let output = Hosts::command(host, "cat")
        .arg("/sys/class/net/pct1/statistics/rx_bytes")
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout)
        .trim()
        .parse()
        .unwrap_or(0)
}
