//! The command: options and outcome.

use super::host::{HostCounts, serve};
use super::hosts::HostProcess;
use super::motion::Reckoning;
use crate::fail;
use crate::time::with_unit;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Options of `punctual demo simulation`.
#[derive(Debug, clap::Args)]
pub(in super::super) struct Options {
    #[command(flatten)]
    world: World,
    /// Length of the run.
    #[arg(long = "for", value_name = "TIME", default_value = "10s", value_parser = with_unit)]
    time: Duration,
    /// Be one host, from 0 on, for hosts of their own: lines `start`, `stop` and `count` on the standard input are
    /// answered with counts as JSON.
    #[arg(long, value_name = "NUMBER")]
    host: Option<u32>,
    /// Print JSON, a line for each host.
    #[arg(long)]
    json: bool,
}

/// What all hosts of a simulation have in common.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct World {
    /// Number of hosts; entity N is simulated by host N modulo this.
    #[arg(long, value_name = "NUMBER", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(super) hosts: u32,
    /// Number of entities.
    #[arg(long, value_name = "NUMBER", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(super) entities: u32,
    /// Times a second at which a host looks whether states are to be published.
    #[arg(long, value_name = "HERTZ", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(super) rate: u32,
    /// Error of others' extrapolation in metres above which a state is published.
    #[arg(long, value_name = "METRES", default_value_t = 1.0)]
    threshold: f64,
    /// Time after which a state is published all the same.
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = with_unit)]
    heartbeat: Duration,
    /// Multicast group and port.
    #[arg(long, value_name = "ADDRESS", default_value = "239.255.77.3:10003")]
    group: SocketAddrV4,
    /// Interface of the group, by its address; by default the loopback interface.
    #[arg(long, value_name = "ADDRESS", default_value_t = Ipv4Addr::LOCALHOST)]
    interface: Ipv4Addr,
}

impl World {
    /// Returns the link of a host, as a setting names it.
    pub(super) fn link(&self) -> String {
        format!("udp://{}?interface={}", self.group, self.interface)
    }

    /// Returns the rules of dead reckoning.
    pub(super) fn reckoning(&self) -> Reckoning {
        Reckoning {
            threshold: self.threshold,
            heartbeat: self.heartbeat.as_secs_f64(),
        }
    }

    /// Returns the arguments of a host's process.
    pub(super) fn arguments(&self) -> Vec<String> {
        let heartbeat = format!("{}ms", self.heartbeat.as_millis());
        let all = [
            ("--hosts", self.hosts.to_string()),
            ("--entities", self.entities.to_string()),
            ("--rate", self.rate.to_string()),
            ("--threshold", self.threshold.to_string()),
            ("--heartbeat", heartbeat),
            ("--group", self.group.to_string()),
            ("--interface", self.interface.to_string()),
        ];
        let all = all.into_iter();
        all.flat_map(|(name, value)| [name.to_owned(), value])
            .collect()
    }
}

/// Longest time until what was published last has arrived, or is taken as lost.
const SETTLES: Duration = Duration::from_secs(10);

const HELP: &str =
    "the group has to be a multicast address, and the interface an address of this host";

pub(in super::super) fn run(options: &Options) -> ExitCode {
    let done = match options.host {
        Some(number) if number >= options.world.hosts => Err(format!(
            "there is no host {number} of {}",
            options.world.hosts
        )),
        Some(number) => serve(&options.world, number).map_err(|error| error.to_string()),
        None => demonstrate(options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => fail(problem, Some(HELP)),
    }
}

fn demonstrate(options: &Options) -> Result<(), String> {
    let world = &options.world;
    if !options.json {
        println!(
            "{} entities on {} hosts, which are processes of this machine: their states go by multicast over the interface \
             {}. On hosts of their own, start each with --host and --interface.\n",
            world.entities, world.hosts, world.interface
        );
    }
    let hosts = (0..world.hosts).map(|number| HostProcess::start(world, number));
    let mut hosts = hosts.collect::<Result<Vec<_>, _>>()?;
    ask(&mut hosts, "start")?;
    std::thread::sleep(options.time);
    ask(&mut hosts, "stop")?;
    let counts = settled(&mut hosts)?;
    match options.json {
        true => print_json(&counts)?,
        false => print_table(&counts),
    }
    Ok(())
}

fn ask(hosts: &mut [HostProcess], request: &str) -> Result<Vec<HostCounts>, String> {
    hosts.iter_mut().map(|host| host.ask(request)).collect()
}

/// Returns the counts once all that was sent has arrived or is known to be lost, or after a while.
fn settled(hosts: &mut [HostProcess]) -> Result<Vec<HostCounts>, String> {
    let since = Instant::now();
    loop {
        let counts = ask(hosts, "count")?;
        if counts.iter().all(|one| missing(one, &counts) == 0) || since.elapsed() >= SETTLES {
            return Ok(counts);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns the number of states of other hosts that a host has neither received nor counted as lost.
fn missing(one: &HostCounts, all: &[HostCounts]) -> u64 {
    let others = all.iter().filter(|other| other.host != one.host);
    let sent: u64 = others.map(|other| other.sent).sum();
    sent.saturating_sub(one.received.received + one.received.lost)
}

fn print_table(counts: &[HostCounts]) {
    println!("host      sent     saved  received      lost      late   missing     shown");
    for one in counts {
        println!(
            "{:>4} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
            one.host,
            one.sent,
            one.saved,
            one.received.received,
            one.received.lost,
            one.received.late,
            missing(one, counts),
            one.received.shown
        );
    }
    println!("\nsaved: ticks of entities at which the others' extrapolation was good enough");
}

fn print_json(counts: &[HostCounts]) -> Result<(), String> {
    for one in counts {
        let line = serde_json::to_string(one).map_err(|error| error.to_string())?;
        println!("{line}");
    }
    Ok(())
}
