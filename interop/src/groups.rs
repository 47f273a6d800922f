//! Multicast groups (MIOP): a client of each ORB sends to a member of the other, in a network namespace whose route for
//! multicast is the loopback interface, as the peer cannot be told an interface. Wireshark's decoder reads the packets.

use crate::Failure;
use crate::groups_idl as g;
use crate::matrix::{Direction, Matrix, Outcome, Version};
use crate::peer::Peer;
use crate::process::{self, Running};
use crate::role::Role;
use crate::sides::LIMIT;
use crate::transport::Transport;
use punctual::multicast::{Goa, Multicast};
use punctual::{Interface, ListenEndpoint, ObjectId, Orb, RootPoa, SystemException};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

/// The only version in which a request has a profile as its target.
const VERSION: Version = Version::V1_2;

const PACKET: &str = "a request in one packet";
const PACKETS: &str = "a request in several packets";
const GATEWAY: &str = "a call with a reply, by the group's IIOP profile";
const SERVANTS: &str = "several servants of a group in a process";
const DECODED: &str = "tshark: MIOP, not malformed";
const CASES: [&str; 5] = [PACKET, PACKETS, GATEWAY, SERVANTS, DECODED];

/// Octets of the messages that are sent: one packet, and several.
const SIZES: [usize; 2] = [10, 20_000];

/// Part of a group: as a program of its own, which runs in the namespace.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// `join` or `tell`.
    what: String,
    /// The group's URL.
    url: String,
    /// Ask, by a call with a reply, how much was heard.
    #[arg(long)]
    replies: bool,
}

/// Servant that says what it hears.
struct Heard {
    name: &'static str,
    count: AtomicI32,
}

impl g::ListenerServant for Heard {
    fn hear(&self, text: &str, data: &[u8]) -> Result<(), SystemException> {
        self.count.fetch_add(1, Ordering::Relaxed);
        let is_intact = *data == *pattern(data.len());
        println!("heard {} {text} {} {is_intact}", self.name, data.len());
        Ok(())
    }

    fn heard(&self) -> Result<i32, SystemException> {
        Ok(self.count.load(Ordering::Relaxed))
    }
}

fn pattern(length: usize) -> Vec<u8> {
    (0..251u8).cycle().take(length).collect()
}

/// Joins a group until the standard input ends, or sends to it.
///
/// # Errors
/// Those of the ORB.
pub(crate) fn part(options: &Options) -> Result<(), Failure> {
    let builder = Multicast::extend(Orb::builder());
    let orb = builder
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .build()?;
    let group = orb.string_to_object(&options.url)?;
    if options.what == "tell" {
        let group = g::Listener::from_object(group);
        for size in SIZES {
            group.hear("from Punctual", &pattern(size))?;
        }
        if options.replies {
            println!("count {}", group.heard()?);
        }
        return Ok(orb.shutdown(true)?);
    }
    let root = orb.root_poa()?;
    root.manager().activate()?;
    let goa = Goa::of(&root).ok_or("the ORB has no groups")?;
    let mut first = None;
    for name in ["first", "second"] {
        let count = AtomicI32::new(0);
        let object: g::Listener = root.activate(Arc::new(Heard { name, count }))?;
        let id: ObjectId = root.reference_to_id(&object)?;
        goa.associate_reference_with_id(&group, &id)?;
        first.get_or_insert(object);
    }
    let gateway = first.ok_or("no servant")?;
    let at = gateway.as_object().ior().iiop_profiles().next();
    let at = at.ok_or("no IIOP profile")??;
    let corbaloc = punctual_ior::Corbaloc {
        addresses: vec![punctual_ior::Address::Iiop {
            major: 1,
            minor: 2,
            host: at.host,
            port: at.port,
        }],
        key: at.object_key,
    };
    let corbaloc = corbaloc.to_string();
    let iiop = corbaloc.trim_start_matches("corbaloc:");
    println!("group {};{iiop}", options.url);
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(orb.shutdown(true)?)
}

/// Network namespace with multicast on its loopback interface; deleted when dropped.
struct Namespace(String);

impl Namespace {
    fn new() -> Result<Self, String> {
        for (program, package) in [("ip", "iproute2"), ("tshark", "tshark")] {
            if !process::installed(program) {
                return Err(format!("not installed: {package}"));
            }
        }
        let name = format!("punctual-groups-{}", std::process::id());
        let ip = |arguments: &[&str]| {
            let mut command = Command::new("ip");
            process::succeed("ip", command.args(arguments), LIMIT)
        };
        let why = |error| format!("a network namespace needs root: {error}");
        ip(&["netns", "add", &name]).map_err(why)?;
        let made = Self(name);
        let name = made.0.as_str();
        ip(&["-n", name, "link", "set", "lo", "up", "multicast", "on"])?;
        ip(&["-n", name, "route", "add", "224.0.0.0/4", "dev", "lo"])?;
        Ok(made)
    }

    /// Returns the command that runs another one in the namespace.
    fn inside(&self, command: &Command) -> Command {
        let mut inside = Command::new("ip");
        inside.args(["netns", "exec", &self.0]);
        inside.arg(command.get_program()).args(command.get_args());
        for (key, value) in command.get_envs() {
            if let Some(value) = value {
                inside.env(key, value);
            }
        }
        inside
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["netns", "del", &self.0]).status();
    }
}

/// Tests groups in both directions.
///
/// # Errors
/// Reasons why the run could not be made.
pub(crate) fn run(peer: &Peer, folder: &Path, matrix: &mut Matrix) -> Result<(), Failure> {
    matrix.over("multicast groups (MIOP)");
    eprintln!("  multicast groups, in a network namespace");
    let namespace = match Namespace::new() {
        Ok(namespace) => namespace,
        Err(why) => {
            for direction in [Direction::To, Direction::From] {
                for case in CASES {
                    let skipped = Outcome::Skipped(why.clone());
                    matrix.record(case, VERSION, direction, skipped);
                }
            }
            return Ok(());
        }
    };
    let groups = [(Direction::To, 1), (Direction::From, 2)];
    for (direction, number) in groups {
        let url = format!("corbaloc:miop:1.0@1.0-Punctual-{number}/239.192.7.{number}:4711");
        let way = Way {
            peer,
            namespace: &namespace,
            direction,
            url,
        };
        let file = folder.join(format!("groups-{number}.pcapng"));
        for (case, outcome) in way.outcomes(&file)? {
            matrix.record(case, VERSION, direction, outcome);
        }
    }
    Ok(())
}

/// Calls in one direction.
struct Way<'w> {
    peer: &'w Peer,
    namespace: &'w Namespace,
    direction: Direction,
    url: String,
}

impl Way<'_> {
    fn outcomes(&self, file: &Path) -> Result<Vec<(&'static str, Outcome)>, Failure> {
        let is_ours = self.direction == Direction::To;
        let capture = self.capture(file)?;
        let member = Running::start("the member", &mut self.command(!is_ours, "join", &[]))?;
        let url = member.line(LIMIT)?.ok_or("the member has ended")?;
        let url = url.strip_prefix("group ").ok_or("no group")?.to_owned();
        // The plain URL first: JacORB's client sends one-ways to the group where its URL has no IIOP profile.
        let mut tell = self.command(is_ours, "tell", &[]);
        process::succeed("the client", &mut tell, LIMIT)?;
        let servants: &[&str] = match self.direction {
            Direction::From => &["first ", "second "],
            _ => &[""],
        };
        let from = if is_ours { "Punctual" } else { "JacORB" };
        let mut heard = Vec::new();
        let begun = Instant::now();
        while heard.len() < SIZES.len() * servants.len() && begun.elapsed() < LIMIT {
            match member.line(Duration::from_secs(10)) {
                Ok(Some(line)) => heard.push(line),
                _ => break,
            }
        }
        let has = |servant: &str, size: usize| {
            let wanted = format!("heard {servant}from {from} {size} true");
            match heard.contains(&wanted) {
                true => Ok(()),
                false => Err(format!("not `{wanted}`, but {heard:?}")),
            }
        };
        let sent = |size| has(servants.first().unwrap_or(&""), size);
        let mut outcomes = vec![
            (PACKET, Outcome::from(sent(SIZES[0]))),
            (PACKETS, sent(SIZES[1]).into()),
        ];
        outcomes.push((GATEWAY, self.by_gateway(&url)));
        let all = servants
            .iter()
            .try_for_each(|servant| SIZES.iter().try_for_each(|size| has(servant, *size)));
        outcomes.push(match self.direction {
            Direction::From => (SERVANTS, all.into()),
            _ => (
                SERVANTS,
                Outcome::NotApplicable("the servants are the peer's, which has one".to_owned()),
            ),
        });
        outcomes.push((DECODED, decoded(capture, file).into()));
        Ok(outcomes)
    }

    /// Asks by a URL with an IIOP profile.
    fn by_gateway(&self, url: &str) -> Outcome {
        let is_ours = self.direction == Direction::To;
        let of_gateway = Self {
            url: url.to_owned(),
            ..*self
        };
        let mut tell = of_gateway.command(is_ours, "tell", &["--replies"]);
        let said = process::succeed("the client", &mut tell, LIMIT);
        let counted = said.and_then(|said| {
            let count = said.lines().find_map(|line| line.strip_prefix("count "));
            match count.map(str::parse::<i32>) {
                Some(Ok(2..)) => Ok(()),
                _ => Err(format!("the client says `{said}`")),
            }
        });
        counted.into()
    }

    /// Returns the command for a part of a group, of our side or the peer's.
    fn command(&self, is_ours: bool, what: &str, more: &[&str]) -> Command {
        let command = match is_ours {
            true => {
                let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::new());
                let mut command = Command::new(program);
                command.args(["group", what, &self.url]).args(more);
                command
            }
            false => {
                let role = if what == "join" {
                    Role::Server
                } else {
                    Role::Client
                };
                let mut command = self.peer.command(VERSION, &Transport::Tcp, role);
                command.arg(format!("{what}-group")).arg(&self.url);
                if what == "tell" {
                    command.arg(if more.is_empty() { "none" } else { "replies" });
                }
                command
            }
        };
        self.namespace.inside(&command)
    }

    /// Starts to write the packets to a file.
    fn capture(&self, file: &Path) -> Result<Running, Failure> {
        let _ = std::fs::remove_file(file);
        let mut tshark = Command::new("tshark");
        tshark.args(["-i", "lo", "-q", "-f", "udp", "-w"]).arg(file);
        let mut inside = self.namespace.inside(&tshark);
        inside.stderr(std::process::Stdio::null());
        let mut running = Running::start("tshark", &mut inside)?;
        // The file has a header once packets are captured.
        while file.metadata().is_ok_and(|metadata| metadata.len() == 0) || !file.exists() {
            if running.wait(Duration::from_millis(25)) {
                return Err("tshark does not capture".into());
            }
        }
        Ok(running)
    }
}

/// Ends a capture, and checks that all of its packets decode as MIOP, with GIOP in the first of each message.
fn decoded(mut capture: Running, file: &Path) -> Result<(), String> {
    // The last packets have to reach the file.
    std::thread::sleep(Duration::from_millis(300));
    let mut kill = Command::new("kill");
    process::succeed(
        "kill",
        kill.args(["-INT", &capture.id().to_string()]),
        LIMIT,
    )?;
    if !capture.wait(LIMIT) {
        return Err("tshark does not end".to_owned());
    }
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(file);
    tshark.args(["-T", "fields", "-E", "separator=|"]);
    for field in [
        "miop.packet_number",
        "miop.number_of_packets",
        "_ws.malformed",
    ] {
        tshark.args(["-e", field]);
    }
    let lines = process::succeed("tshark", &mut tshark, LIMIT)?;
    let packets: Vec<Vec<&str>> = lines
        .lines()
        .map(|line| line.split('|').collect())
        .collect();
    let is_wrong = |packet: &&Vec<&str>| match packet[..] {
        [number, count, malformed] => number.is_empty() || count == "0" || !malformed.is_empty(),
        _ => true,
    };
    let wrong: Vec<_> = packets.iter().filter(is_wrong).collect();
    let several = packets.iter().any(|packet| packet.first() == Some(&"1"));
    match wrong.is_empty() && several {
        true => Ok(()),
        false => Err(format!("{} packets, and of them {wrong:?}", packets.len())),
    }
}
