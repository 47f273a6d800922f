//! `rt start`: time from the start of a server's process to its first reply, with a lane for each
//! priority. The harness has a client ready, without a connection.

use super::setup::{Contender, HIGH, Link, Setup, corba, rt_orb};
use super::{Common, scheduled};
use crate::Result;
use crate::child::Process;
use crate::contender::Harness;
use crate::machine::Machine;
use crate::output::Json;
use crate::peer::nanoseconds_since;
use crate::statistics::{Figures, Record};
use crate::table::{Cell, Table, Tone};
use clap::Args;
use punctual::{Interface, Orb};
use punctual_example_cubit::idl::bench::Cubit;
use serde::Serialize;
use std::fmt;
use std::process::Command;
use std::time::Instant;

/// Upper bound of that time, in nanoseconds.
const GOAL: u64 = 50_000_000;

/// Options of the command.
#[derive(Clone, Debug, Args)]
pub struct Options {
    #[command(flatten)]
    common: Common,
    /// Low clients' priorities, each with a lane.
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u16).range(1..=64))]
    low: u16,
    /// Servers that are started.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rounds: u32,
    #[command(flatten)]
    json: Json,
}

/// Results of one run; times in nanoseconds.
#[derive(Clone, Debug, Serialize)]
struct Report {
    machine: Machine,
    link: Link,
    scheduling: &'static str,
    lanes: u16,
    /// Time until its reference is known.
    serves: Figures,
    /// Time until the first reply has come.
    replies: Figures,
}

/// Runs the command.
///
/// # Errors
/// The machine does not grant real-time priorities, a server does not start, a call fails, a file
/// cannot be written, or half of the servers take longer than 50 ms.
pub(super) fn run(harness: &Harness, options: &Options) -> Result<()> {
    let common = &options.common;
    common.check_rights()?;
    let rt = rt_orb(common.best_effort)?;
    let orb = rt.extend(Orb::builder())?.build()?;
    rt.current().set_the_priority(corba(HIGH)?)?;
    let setup = common.setup(Contender::Lanes, options.low, false);
    let (mut serves, mut replies) = (Vec::new(), Vec::new());
    for _ in 0..options.rounds {
        let (served, replied) = one(harness, &setup, &orb)?;
        serves.push(served);
        replies.push(replied);
    }
    let figures = |samples: &[u64]| {
        let mut record = Record::default();
        record.add_round(samples);
        record.figures().ok_or("no server was started")
    };
    let report = Report {
        machine: Machine::this(),
        link: common.link,
        scheduling: scheduled(common.best_effort),
        lanes: options.low + 1,
        serves: figures(&serves)?,
        replies: figures(&replies)?,
    };
    options.json.show(&report)?;
    match report.is_met() {
        true => Ok(()),
        false => Err("half of the servers take longer than 50 ms".into()),
    }
}

/// Starts one server; returns the times until its reference is known, and until it has answered.
fn one(harness: &Harness, setup: &Setup, orb: &Orb) -> Result<(u64, u64)> {
    let mut command = Command::new(&harness.program);
    command.args(["rt-peer", "server", "--pin", "0"]);
    command.args(setup.words());
    let started = Instant::now();
    let mut server = Process::spawn(&mut command)?;
    let address = server.until_ready()?;
    let served = nanoseconds_since(started);
    let reference = address.split(' ').next().unwrap_or_default();
    let cubit = Cubit::from_object(orb.string_to_object(reference)?);
    cubit.cube_void()?;
    let replied = nanoseconds_since(started);
    server.stop()?;
    Ok((served, replied))
}

impl Report {
    fn is_met(&self) -> bool {
        self.replies.p50 <= GOAL
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.machine)?;
        #[allow(clippy::cast_precision_loss)]
        let millis = |nanos: u64| format!("{:.1}", nanos as f64 / 1e6);
        let tone = match self.is_met() {
            true => Tone::Good,
            false => Tone::Bad,
        };
        let row = |figures: &Figures, tone| {
            let times = [figures.p50, figures.p99, figures.max];
            times.map(|time| Cell::new(millis(time), tone)).to_vec()
        };
        let table = Table {
            title: format!(
                "a server with {} lanes, from the start of its process, in ms ({}, {}, {} servers)",
                self.lanes, self.link, self.scheduling, self.replies.samples
            ),
            columns: ["median", "p99", "max"].map(str::to_owned).to_vec(),
            rows: vec![
                ("it serves".to_owned(), row(&self.serves, Tone::Plain)),
                ("it has answered".to_owned(), row(&self.replies, tone)),
            ],
        };
        write!(f, "{table}")
    }
}
