//! The command: options and outcome.

use super::host::{HostCounts, serve};
use super::hosts::HostProcess;
use super::world::World;
use crate::fail;
use crate::time::with_unit;
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
