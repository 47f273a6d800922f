//! Two network namespaces and a cable between them.

use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// Prints why a test is skipped.
///
/// # Panics
/// `PUNCTUAL_REQUIRE_NETWORK` is set.
pub(crate) fn skipped(why: &str) {
    let required = std::env::var_os("PUNCTUAL_REQUIRE_NETWORK").is_some();
    assert!(
        !required,
        "PUNCTUAL_REQUIRE_NETWORK is set, and there are {why}"
    );
    println!("skipped: there are {why}");
}

/// Two network namespaces (hosts) and the cable between them, removed when dropped.
pub(crate) struct Hosts {
    pub(crate) client: String,
    pub(crate) server: String,
}

impl Hosts {
    /// Makes the hosts; `None` after a printed reason, if that is not possible here.
    pub(crate) fn new() -> Option<Self> {
        let made = Self::made();
        made.inspect_err(|reason| skipped(&format!("no network namespaces here: {reason}")))
            .ok()
    }

    fn made() -> Result<Self, String> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let id = format!("{}-{number}", std::process::id());
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
            ip(&["-n", host, "link", "set", "lo", "up"])?;
        }
        Ok(hosts)
    }

    /// Cuts the cable. Both ends stay up: data is lost silently, as by a cut cable behind a switch.
    pub(crate) fn cut(&self) {
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

    /// Returns a program's command on a host.
    pub(crate) fn command(host: &str, program: &str) -> Command {
        let mut command = Command::new("ip");
        command
            .args(["netns", "exec", host, program])
            .stdin(Stdio::null());
        command
    }

    /// Starts the `punctual` command on a host.
    pub(crate) fn start(host: &str, arguments: &[&str], output: Stdio) -> Owned {
        let mut command = Self::command(host, env!("CARGO_BIN_EXE_punctual"));
        command
            .args(arguments)
            .stdout(output)
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

/// Process that is killed when this is dropped.
pub(crate) struct Owned(pub(crate) Child);

impl Drop for Owned {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Calls `ip`.
pub(crate) fn ip(arguments: &[&str]) -> Result<(), String> {
    match Command::new("ip").args(arguments).output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Err(format!("`ip` (Debian: iproute2): {error}")),
    }
}
