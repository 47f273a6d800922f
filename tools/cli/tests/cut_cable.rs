//! A network cable that is cut during calls: the caller gets an exception within the configured
//! time-outs.
//!
//! Two network namespaces and a pair of virtual Ethernet devices; needs root and `ip` (iproute2),
//! and is skipped with a printed reason without them.
#![allow(clippy::unwrap_used, missing_docs)]

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(40);

/// Two network namespaces (hosts) and the cable between them, removed when dropped.
struct Hosts {
    client: String,
    server: String,
}

impl Hosts {
    fn new() -> Result<Self, String> {
        let id = std::process::id();
        let hosts = Self {
            client: format!("pct-c{id}"),
            server: format!("pct-s{id}"),
        };
        let (client, server) = (hosts.client.as_str(), hosts.server.as_str());
        ip(&["netns", "add", client])?;
        ip(&["netns", "add", server])?;
        let peer = ["peer", "name", "pct1", "netns", server];
        ip(&[
            &["-n", client, "link", "add", "pct0", "type", "veth"][..],
            &peer,
        ]
        .concat())?;
        for (host, device, address) in [
            (client, "pct0", "198.18.77.1/30"),
            (server, "pct1", "198.18.77.2/30"),
        ] {
            ip(&["-n", host, "address", "add", address, "dev", device])?;
            ip(&["-n", host, "link", "set", device, "up"])?;
        }
        Ok(hosts)
    }

    /// Cuts the cable. Both ends stay up: data is lost silently, as by a cut cable behind a switch.
    fn cut(&self) {
        ip(&[
            "-n",
            &self.server,
            "address",
            "del",
            "198.18.77.2/30",
            "dev",
            "pct1",
        ])
        .unwrap();
        ip(&["-n", &self.server, "link", "set", "pct1", "arp", "off"]).unwrap();
    }

    fn start(host: &str, part: &str, config: &Path, arguments: &[&str]) -> Owned {
        let mut command = Command::new("ip");
        command
            .args(["netns", "exec", host, env!("CARGO_BIN_EXE_punctual"), part])
            .arg("-ORBConfigFile")
            .arg(config)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        Owned(command.spawn().unwrap())
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for host in [&self.client, &self.server] {
            let _ = ip(&["netns", "del", host]);
        }
    }
}

struct Owned(Child);

impl Drop for Owned {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn ip(arguments: &[&str]) -> Result<(), String> {
    match Command::new("ip").args(arguments).output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Err(format!("`ip` (Debian: iproute2): {error}")),
    }
}

#[test]
fn a_cut_cable_ends_the_call_with_an_exception_that_says_why() {
    let hosts = match Hosts::new() {
        Ok(hosts) => hosts,
        Err(reason) => {
            eprintln!("skipped: no network namespaces here: {reason}");
            return;
        }
    };
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("orb.toml");
    let short = "[tcp]\nuser_timeout_ms = 1500\nkeep_alive_idle_s = 1\nkeep_alive_interval_s = 1\n\
                 keep_alive_probes = 2\n";
    std::fs::write(&config, short).unwrap();
    let reference = folder.path().join("cubit.ior");
    let file = reference.to_str().unwrap();
    let listen = [
        "-ORBListenEndpoints",
        "iiop://198.18.77.2:0",
        "--ior-file",
        file,
    ];
    let _server = Hosts::start(&hosts.server, "demo-server", &config, &listen);
    let began = Instant::now();
    while !reference.exists() {
        assert!(began.elapsed() < LIMIT, "the server does not start");
        std::thread::sleep(Duration::from_millis(10));
    }
    let ior = format!("file://{file}");
    let call = ["--ior", ior.as_str(), "--calls", "100000000"];
    let mut client = Hosts::start(&hosts.client, "demo-client", &config, &call);
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
    let output = Command::new("ip")
        .args([
            "netns",
            "exec",
            host,
            "cat",
            "/sys/class/net/pct1/statistics/rx_bytes",
        ])
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout)
        .trim()
        .parse()
        .unwrap_or(0)
}
