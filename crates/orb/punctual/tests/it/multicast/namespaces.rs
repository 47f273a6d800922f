//! Members on two hosts, which are network namespaces with a cable between them. Needs root.

use super::process::{joining, telling};
use super::support::{INTERFACE, LIMIT};
use crate::support::watchdog;
use std::io::{BufRead, BufReader};
use std::net::UdpSocket;
use std::process::Command;
use std::sync::atomic::{AtomicU8, Ordering};

/// Two namespaces with a cable between them; deleted when dropped.
struct Hosts([String; 2]);

impl Hosts {
    /// Makes the hosts; `None`, said on standard output, where that is not possible.
    fn new() -> Option<Self> {
        static NEXT: AtomicU8 = AtomicU8::new(0);
        let (process, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let names = ["a", "b"].map(|name| format!("punctual-mc-{process}-{number}{name}"));
        let hosts = Self(names);
        let [a, b] = &hosts.0;
        let made = ip(&["netns", "add", a]) && ip(&["netns", "add", b]);
        if !made {
            let required = std::env::var_os("PUNCTUAL_REQUIRE_NETWORK").is_some();
            let why = "network namespaces need root and the command `ip`";
            assert!(!required, "PUNCTUAL_REQUIRE_NETWORK is set, and {why}");
            println!("skipped: {why}");
            return None;
        }
        let cable = [
            "-n", a, "link", "add", "cable", "type", "veth", "peer", "name", "cable", "netns", b,
        ];
        assert!(ip(&cable));
        for (host, address) in [(a, "10.77.0.1/24"), (b, "10.77.0.2/24")] {
            assert!(ip(&["-n", host, "addr", "add", address, "dev", "cable"]));
            let ipv6 = address.replace("10.77.0.", "fd77::").replace("/24", "/64");
            // Not every machine has IPv6.
            ip(&["-n", host, "addr", "add", &ipv6, "dev", "cable", "nodad"]);
            assert!(ip(&["-n", host, "link", "set", "cable", "up"]));
            assert!(ip(&["-n", host, "link", "set", "lo", "up"]));
        }
        Some(hosts)
    }

    /// Returns the command that runs this program on a host.
    fn on(&self, host: usize) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.0[host]]);
        command.arg(std::env::current_exe().unwrap());
        command.env(INTERFACE, "cable");
        command
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for name in &self.0 {
            ip(&["netns", "del", name]);
        }
    }
}

fn ip(arguments: &[&str]) -> bool {
    let output = Command::new("ip").args(arguments).output();
    output.is_ok_and(|output| output.status.success())
}

#[test]
fn members_on_two_hosts_hear_a_sender_on_one_of_them() {
    let _watchdog = watchdog(LIMIT);
    let Some(hosts) = Hosts::new() else {
        return;
    };
    all_hear(&hosts, "corbaloc:miop:1.0@1.0-tests-3/239.192.77.1:4712");
}

#[test]
fn members_on_two_hosts_hear_a_sender_to_an_ipv6_group_of_their_link() {
    let _watchdog = watchdog(LIMIT);
    if let Err(error) = UdpSocket::bind("[::1]:0") {
        println!("skipped: there is no IPv6: {error}");
        return;
    }
    let Some(hosts) = Hosts::new() else {
        return;
    };
    all_hear(&hosts, "corbaloc:miop:1.0@1.0-tests-4/[FF02::4d:0:1]:4713");
}

/// Has a member on each host hear what one of the hosts sends to the group.
fn all_hear(hosts: &Hosts, url: &str) {
    let members = [0, 1].map(|host| joining(hosts.on(host), url).spawn().unwrap());
    let mut members = members.map(|mut child| {
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        (child, lines)
    });
    for (_, lines) in &mut members {
        assert!(lines.any(|line| line.unwrap().ends_with("@joined")));
    }
    // The cable's first packets may be lost, while the interfaces come up.
    let heard = members.map(|(mut child, mut lines)| {
        std::thread::spawn(move || {
            let heard = lines.any(|line| line.unwrap().ends_with("@there all"));
            drop(child.stdin.take());
            heard && child.wait().unwrap().success()
        })
    });
    while !heard.iter().all(std::thread::JoinHandle::is_finished) {
        let mut sender = telling(hosts.on(0), url).spawn().unwrap();
        assert!(sender.wait().unwrap().success());
    }
    for thread in heard {
        assert!(thread.join().unwrap());
    }
}
