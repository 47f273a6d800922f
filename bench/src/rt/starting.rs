//! `rt start`: time from the start of a server's process to its first reply, and the memory that it then has, with a lane
//! for each priority, and with an ORB for each (O'Ryan et al. 2001's rate groups, §4.1.2). The harness has a client ready,
//! without a connection.

use super::setup::{Contender, HIGH, Setup, corba, rt_orb};
use super::{Common, scheduled};
use crate::Result;
use crate::child::Process;
use crate::contender::Harness;
use crate::experiment::{self, Column, Experiment, Report, Row, Tabled};
use crate::output::Json;
use crate::peer::nanoseconds_since;
use crate::statistics::{Record, median};
use clap::Args;
use punctual::{Interface, Orb};
use punctual_example_cubit::idl::bench::Cubit;
use std::time::Instant;

/// Goal: upper bound of the median time from a server's start to its first reply, in nanoseconds.
const GOAL: u64 = 50_000_000;

pub(crate) static EXPERIMENT: Experiment = Experiment::new(
    "rt start",
    "how long a server with lanes takes from its start to its first reply",
)
.reproduces("O'Ryan et al. 2001, an ORB for each rate group, and one with lanes")
.conditions("{link}, {scheduling}, {rounds} servers of each contender, {priorities} priorities")
.tables(&[Tabled::listing(
    "rows",
    "from the start of a server's process until it …, in ms; and its memory",
    "{contender} {what}",
    &[
        Column::millis("median", "p50"),
        Column::millis("p99", "p99"),
        Column::millis("max", "max"),
        Column::kibibytes("own memory, KiB", "anonymous"),
        Column::kibibytes("resident, KiB", "resident"),
        Column::number("threads", "threads"),
    ],
)]);

/// Options of the command `rt start`.
#[derive(Clone, Debug, Args)]
pub struct Options {
    #[command(flatten)]
    common: Common,
    /// Number of low clients' priorities, each with a lane or an ORB.
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u16).range(1..=64))]
    low: u16,
    /// Number of servers that are started, one after the other.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rounds: u32,
    #[command(flatten)]
    json: Json,
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
    let known = [Contender::Lanes, Contender::OrbAThread];
    let selected = common.wanted(&known)?.into_iter();
    let mut records: Vec<(Contender, Started)> =
        selected.map(|one| (one, Started::default())).collect();
    for _ in 0..options.rounds {
        for (contender, started) in &mut records {
            let setup = common.setup(*contender, options.low, false);
            started.add(harness, &setup, &orb)?;
        }
    }
    let settings = Row::default()
        .with("link", common.link)
        .with("scheduling", scheduled(common.best_effort))
        .with("priorities", options.low + 1)
        .with("rounds", options.rounds);
    let mut report = Report::new(&EXPERIMENT, settings);
    for (contender, started) in &records {
        started.report(*contender, &mut report)?;
    }
    options.json.deliver(&report)
}

/// Times and memory of a contender's servers.
#[derive(Default)]
struct Started {
    /// Nanoseconds until each server's reference was received.
    serves: Vec<u64>,
    /// Nanoseconds until each server answered the first call.
    replies: Vec<u64>,
    anonymous: Vec<f64>,
    resident: Vec<f64>,
    threads: usize,
}

impl Started {
    /// Starts one server, and calls it once.
    #[allow(clippy::cast_precision_loss)]
    fn add(&mut self, harness: &Harness, setup: &Setup, orb: &Orb) -> Result<()> {
        let setup = experiment::Setup::Rt(setup.clone());
        let mut command = experiment::server(harness, &setup, Some(0));
        let started = Instant::now();
        let server = Process::start(&mut command)?;
        self.serves.push(nanoseconds_since(started));
        let reference = server.said().split(' ').next().unwrap_or_default();
        let cubit = Cubit::from_object(orb.string_to_object(reference)?);
        cubit.cube_void()?;
        self.replies.push(nanoseconds_since(started));
        let memory = server.observed().memory()?;
        self.anonymous.push(memory.anonymous as f64);
        self.resident.push(memory.resident as f64);
        self.threads = server.observed().threads()?;
        server.stop()
    }

    fn report(&self, contender: Contender, report: &mut Report) -> Result<()> {
        for (what, times) in [("serves", &self.serves), ("replies", &self.replies)] {
            let mut record = Record::default();
            record.add_round(times);
            let figures = record.figures().ok_or("no server was started")?;
            let row = Row::default()
                .with("contender", contender)
                .with("what", what)
                .with_figures(&figures);
            let row = match what {
                "replies" => row
                    .with("anonymous", median(&self.anonymous))
                    .with("resident", median(&self.resident))
                    .with("threads", self.threads),
                _ => row,
            };
            report.add("rows", [row]);
            if what == "replies" && contender == Contender::Lanes && figures.p50 > GOAL {
                report
                    .failed
                    .push("half of the servers with lanes take longer than 50 ms".to_owned());
            }
        }
        Ok(())
    }
}
