//! The network: three hosts and one of clients as network namespaces, which a bridge in a namespace of its own joins.

use std::path::PathBuf;
use std::process::Command;

/// Number of hosts.
pub(crate) const HOSTS: usize = 3;

/// Name whose addresses are those of all hosts.
pub(crate) const NAME: &str = "groups.chaos";

/// Namespaces, until this is dropped.
#[derive(Debug)]
pub(crate) struct Net {
    /// Beginning of the namespaces' names.
    prefix: String,
}

/// Returns the address of a host; the one behind the last is that of clients.
pub(crate) fn address(host: usize) -> String {
    format!("10.77.0.{}", host + 1)
}

impl Net {
    /// Makes the namespaces.
    ///
    /// # Errors
    /// They cannot be made here.
    pub(crate) fn make(prefix: &str) -> Result<Self, String> {
        let net = Self::named(prefix);
        let bridge = net.bridge();
        ip(&["netns", "add", &bridge])?;
        ip(&["-n", &bridge, "link", "add", "br0", "type", "bridge"])?;
        ip(&["-n", &bridge, "link", "set", "br0", "up"])?;
        for host in 0..=HOSTS {
            let (space, port) = (net.space(host), format!("h{host}"));
            ip(&["netns", "add", &space])?;
            ip(&[
                "-n", &bridge, "link", "add", &port, "type", "veth", "peer", "name", "eth0",
                "netns", &space,
            ])?;
            ip(&["-n", &bridge, "link", "set", &port, "master", "br0", "up"])?;
            let place = format!("{}/24", address(host));
            ip(&["-n", &space, "address", "add", &place, "dev", "eth0"])?;
            ip(&["-n", &space, "link", "set", "eth0", "up"])?;
            ip(&["-n", &space, "link", "set", "lo", "up"])?;
            let names = (0..HOSTS).map(|host| format!("{} {NAME}\n", address(host)));
            let folder = net.files(host);
            std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
            std::fs::write(folder.join("hosts"), names.collect::<String>())
                .map_err(|error| error.to_string())?;
        }
        Ok(net)
    }

    /// Returns namespaces that another process has made; they stay when this is forgotten.
    pub(crate) fn named(prefix: &str) -> Self {
        Self {
            prefix: prefix.to_owned(),
        }
    }

    /// Returns the name of a host's namespace.
    pub(crate) fn space(&self, host: usize) -> String {
        format!("{}-{host}", self.prefix)
    }

    fn bridge(&self) -> String {
        format!("{}-bridge", self.prefix)
    }

    /// Returns the folder of files that the host has in place of those in /etc.
    fn files(&self, host: usize) -> PathBuf {
        PathBuf::from("/etc/netns").join(self.space(host))
    }

    /// Cuts a host off, or joins it again.
    pub(crate) fn cut(&self, host: usize, is_cut: bool) -> Result<(), String> {
        let state = if is_cut { "down" } else { "up" };
        let port = format!("h{host}");
        ip(&["-n", &self.bridge(), "link", "set", &port, state])
    }

    /// Parts two hosts from one another, or joins them again: what one sends to the other is lost.
    pub(crate) fn part(&self, (one, other): (usize, usize), is_parted: bool) -> Result<(), String> {
        for (from, to) in [(one, other), (other, one)] {
            let (space, to) = (self.space(from), address(to));
            let neighbour = ["-n", &space, "neighbour"];
            match is_parted {
                // No device has this address.
                true => {
                    let lost = ["lladdr", "02:00:00:00:00:01", "nud", "permanent"];
                    let place = ["replace", &to, "dev", "eth0"];
                    ip(&[&neighbour[..], &place, &lost].concat())?;
                }
                false => ip(&[&neighbour[..], &["del", &to, "dev", "eth0"]].concat())?,
            }
        }
        Ok(())
    }

    /// Removes the namespaces.
    pub(crate) fn remove(&self) {
        for space in (0..=HOSTS).map(|host| self.space(host)) {
            let _ = ip(&["netns", "del", &space]);
        }
        let _ = ip(&["netns", "del", &self.bridge()]);
        for host in 0..=HOSTS {
            let _ = std::fs::remove_dir_all(self.files(host));
        }
        // Others may have theirs there.
        let _ = std::fs::remove_dir("/etc/netns");
    }
}

fn ip(arguments: &[&str]) -> Result<(), String> {
    let done = Command::new("ip").args(arguments).output();
    let done = done.map_err(|error| format!("ip: {error}"))?;
    match done.status.success() {
        true => Ok(()),
        false => {
            let why = String::from_utf8_lossy(&done.stderr);
            Err(format!("ip {}: {}", arguments.join(" "), why.trim()))
        }
    }
}
