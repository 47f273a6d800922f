//! Hosts of the experiments with networks: two network namespaces with a cable, and the rules of the devices at its ends.

use crate::Result;
use crate::child::PARENT;
use serde::Serialize;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

/// Addresses of the hosts.
pub(in crate::rt) const SERVER: &str = "198.18.79.2";
const CLIENT: &str = "198.18.79.1";
/// Device at each end of the cable.
const DEVICE: &str = "pnb0";

/// Rules of the devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rt) enum Rules {
    /// None.
    Plain,
    /// A token bucket whose packets wait in three bands, by their class in the host (`SO_PRIORITY`).
    Bands,
    /// Two classes: packets with the DSCP EF go first.
    ByDscp,
    /// A queue of the device for class 6, with a twentieth of the rate, and one for the others (`mqprio`).
    Queues,
    /// A token bucket that takes packets of each connection in turn (`fq`).
    Fair,
    /// Launch times of the monotonic clock (`fq`).
    Launch,
    /// A queue of the device for class 6, with launch times of the clock of TAI (`mqprio`, `etf`).
    LaunchTai,
}

/// Receipt of packets by the devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rt) enum Receiving {
    /// By the processor's list of packets that wait, which has no number to poll by: as a cable's device does by itself.
    Backlog,
    /// By a queue of the device, read in an interrupt (NAPI).
    Napi,
    /// By a queue of the device, read by a thread of the kernel's.
    NapiThreads,
    /// By processor 0 at the client and processor 1 at the server (RPS).
    Steered,
}

/// Way between the hosts.
#[derive(Clone, Copy, Debug)]
pub(in crate::rt) struct Way {
    /// Mbit/s in each direction.
    pub(in crate::rt) rate: u32,
    /// Milliseconds in each direction.
    pub(in crate::rt) delay: u32,
    /// Percent of the packets.
    pub(in crate::rt) loss: u32,
}

/// Process of one side in its namespace; killed when this is dropped.
pub(in crate::rt) struct Side {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Side {
    /// Starts `rt COMMAND` in a namespace, with a task as JSON.
    pub(in crate::rt) fn start(host: &str, command: &str, task: &impl Serialize) -> Result<Self> {
        let mut child = Command::new("ip")
            .args(["netns", "exec", host])
            .arg(std::env::current_exe()?)
            .args(["rt", command, &serde_json::to_string(task)?])
            // `ip` becomes the program, so that this process is its parent.
            .env(PARENT, std::process::id().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = child.stdout.take().ok_or("a child without pipes")?;
        Ok(Self {
            child,
            output: BufReader::new(output),
        })
    }

    /// Returns the next line that it prints.
    ///
    /// # Errors
    /// It has ended before.
    pub(in crate::rt) fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            let status = self.child.wait()?;
            return Err(
                format!("a process of the experiment ended before its answer: {status}").into(),
            );
        }
        Ok(line.trim().to_owned())
    }

    /// Waits until it has ended.
    ///
    /// # Errors
    /// It has failed.
    pub(in crate::rt) fn stop(&mut self) -> Result<()> {
        self.end_input();
        let status = self.child.wait()?;
        match status.success() {
            true => Ok(()),
            false => Err(format!("a process of the experiment ended with {status}").into()),
        }
    }

    /// Ends its standard input.
    pub(in crate::rt) fn end_input(&mut self) {
        self.child.stdin.take();
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Two network namespaces with a cable, removed when this is dropped, or by the next run if this one is interrupted.
pub(in crate::rt) struct Hosts {
    pub(in crate::rt) client: String,
    pub(in crate::rt) server: String,
}

impl Hosts {
    /// Makes them.
    ///
    /// # Errors
    /// There are no network namespaces here, or no right to make some.
    pub(in crate::rt) fn new() -> Result<Self> {
        Self::made().map_err(|reason| {
            format!("{reason}; it takes root, `ip` and `tc` (Debian: iproute2), and a kernel with network namespaces")
                .into()
        })
    }

    fn made() -> Result<Self> {
        // A run that was interrupted has not removed its own.
        let known = Command::new("ip").args(["netns", "list"]).output();
        let known = known.map_err(|error| format!("`ip`: {error}"))?;
        let is_running = |id: u32| Path::new("/proc").join(id.to_string()).exists();
        for name in left_behind(&String::from_utf8_lossy(&known.stdout), is_running) {
            run_tool("ip", &["netns", "del", name])?;
        }
        let id = std::process::id();
        let hosts = Self {
            client: format!("pnb-c{id}"),
            server: format!("pnb-s{id}"),
        };
        let (client, server) = (hosts.client.as_str(), hosts.server.as_str());
        run_tool("ip", &["netns", "add", client])?;
        run_tool("ip", &["netns", "add", server])?;
        // Two queues for packets to send at each end, for `mqprio`.
        let queues = ["numtxqueues", "2", "numrxqueues", "2"];
        let own = ["link", "add", DEVICE];
        let peer = ["peer", "name", DEVICE, "netns", server];
        run_tool(
            "ip",
            &[
                &["-n", client][..],
                &own,
                &queues,
                &["type", "veth"],
                &peer,
                &queues,
            ]
            .concat(),
        )?;
        for (host, address) in [(client, CLIENT), (server, SERVER)] {
            let address = format!("{address}/30");
            run_tool(
                "ip",
                &["-n", host, "address", "add", &address, "dev", DEVICE],
            )?;
            run_tool("ip", &["-n", host, "link", "set", DEVICE, "up"])?;
            run_tool("ip", &["-n", host, "link", "set", "lo", "up"])?;
        }
        Ok(hosts)
    }

    /// Has both ends receive packets so.
    ///
    /// # Errors
    /// The kernel or its devices cannot, or `ethtool` is missing.
    pub(in crate::rt) fn receive_by(&self, how: Receiving) -> Result<()> {
        let is_napi = matches!(how, Receiving::Napi | Receiving::NapiThreads);
        for (host, processor) in [(&self.client, "1"), (&self.server, "2")] {
            // A device that combines packets has a queue for that, and uses it if its peer leaves them to be combined.
            let [gro, tso] = if is_napi {
                ["on", "off"]
            } else {
                ["off", "on"]
            };
            let within = ["netns", "exec", host];
            let combines = ["ethtool", "-K", DEVICE, "gro", gro, "tso", tso];
            run_tool("ip", &[&within[..], &combines].concat())?;
            let is_steered = how == Receiving::Steered;
            let steers = if is_steered { processor } else { "0" };
            let mut files = vec![
                ("queues/rx-0/rps_cpus", steers),
                ("queues/rx-1/rps_cpus", steers),
            ];
            if is_napi {
                let by_threads = how == Receiving::NapiThreads;
                let threads = if by_threads { "1" } else { "0" };
                files.push(("threaded", threads));
            }
            for (file, value) in files {
                // `ip` mounts the files of the namespace's own devices.
                let write = format!("echo {value} >/sys/class/net/{DEVICE}/{file}");
                run_tool("ip", &[&within[..], &["sh", "-c", &write]].concat())?;
            }
        }
        Ok(())
    }

    /// Replaces the queueing disciplines at both ends.
    ///
    /// # Errors
    /// The kernel has not all of them.
    pub(in crate::rt) fn set_rules(&self, rules: Rules, way: &Way) -> Result<()> {
        for host in [&self.client, &self.server] {
            // There is none before the first case.
            let _ = tc(host, "qdisc del", "root");
            let add = |rest: &str| tc(host, "qdisc add", rest);
            // What comes first holds packets back as a long cable does; the slow device is behind it.
            let place = if way.delay == 0 && way.loss == 0 {
                "root"
            } else if matches!(rules, Rules::Queues | Rules::LaunchTai) {
                return Err("mqprio and netem do not go together on a device".into());
            } else {
                let (delay, loss) = (way.delay, way.loss);
                add(&format!(
                    "root handle 9: netem delay {delay}ms loss {loss}% limit 10000"
                ))?;
                "parent 9:1"
            };
            let rate = |percent: u32| format!("{}kbit", way.rate * 10 * percent);
            let bucket = |place: &str, rate: &str| {
                add(&format!(
                    "{place} handle 1: tbf rate {rate} burst 16kb latency 50ms"
                ))
            };
            match rules {
                Rules::Plain => {}
                Rules::Bands => {
                    bucket(place, &rate(100))?;
                    add("parent 1:1 handle 10: pfifo_fast")?;
                }
                Rules::Fair => {
                    bucket(place, &rate(100))?;
                    add("parent 1:1 handle 10: fq")?;
                }
                Rules::ByDscp => {
                    add(&format!("{place} handle 1: htb default 20"))?;
                    let ceil = rate(100);
                    for (parent, id, rate, priority) in [
                        ("1:", "1:1", rate(100), 0),
                        ("1:1", "1:10", rate(10), 0),
                        ("1:1", "1:20", rate(90), 1),
                    ] {
                        tc(
                            host,
                            "class add",
                            &format!(
                                "parent {parent} classid {id} htb rate {rate} ceil {ceil} burst 16kb cburst 16kb prio {priority}"
                            ),
                        )?;
                    }
                    let ef = "u32 match ip dsfield 0xb8 0xfc flowid 1:10";
                    tc(host, "filter add", &format!("parent 1: protocol ip {ef}"))?;
                }
                Rules::Queues => {
                    add(&by_class())?;
                    for (queue, percent) in [(1, 95), (2, 5)] {
                        let rate = rate(percent);
                        add(&format!(
                            "parent 8:{queue} tbf rate {rate} burst 16kb latency 50ms"
                        ))?;
                    }
                }
                Rules::Launch => add(&format!("{place} handle 1: fq"))?,
                Rules::LaunchTai => {
                    add(&by_class())?;
                    add("parent 8:2 etf clockid CLOCK_TAI delta 300000")?;
                }
            }
        }
        Ok(())
    }
}

/// Returns the discipline that gives class 6 the device's second queue, and all others the first.
fn by_class() -> String {
    let map: Vec<&str> = (0..16)
        .map(|class| if class == 6 { "1" } else { "0" })
        .collect();
    let map = map.join(" ");
    format!("root handle 8: mqprio num_tc 2 map {map} queues 1@0 1@1 hw 0")
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for host in [&self.client, &self.server] {
            let _ = run_tool("ip", &["netns", "del", host]);
        }
    }
}

/// Returns the namespaces in a list of `ip` whose run does not run any more.
fn left_behind(list: &str, is_running: impl Fn(u32) -> bool) -> Vec<&str> {
    let names = list
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    let is_left = |name: &&str| {
        let id = name.strip_prefix("pnb-c").or(name.strip_prefix("pnb-s"));
        id.and_then(|id| id.parse().ok())
            .is_some_and(|id| !is_running(id))
    };
    names.filter(is_left).collect()
}

/// Runs `tc` for the device of a host.
fn tc(host: &str, what: &str, rest: &str) -> Result<()> {
    let arguments = format!("-n {host} {what} dev {DEVICE} {rest}");
    let arguments: Vec<&str> = arguments.split_whitespace().collect();
    run_tool("tc", &arguments)
}

fn run_tool(tool: &str, arguments: &[&str]) -> Result<()> {
    let output = Command::new(tool).args(arguments).output();
    let output = output.map_err(|error| format!("`{tool}`: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(format!("`{tool} {}`: {}", arguments.join(" "), said.trim()).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_of_interrupted_runs_are_found_and_no_others() {
        let list = "pnb-c17 (id: 3)\npnb-s17\npnb-c18\npnb-cable\nother-19\n\n";
        let left = left_behind(list, |id| id == 18);
        assert_eq!(left, ["pnb-c17", "pnb-s17"]);
    }
}
