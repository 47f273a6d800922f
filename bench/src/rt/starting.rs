//! `rt start`: time from the start of a server's process to its first reply, with a lane for each
//! priority. The harness has a client ready, without a connection.

use super::setup::{Contender, HIGH, Setup, corba, rt_orb};
use super::{Common, scheduled};
use crate::Result;
use crate::child::Process;
use crate::contender::Harness;
use crate::experiment::{self, Column, Experiment, Report, Row, Tabled};
use crate::output::Json;
use crate::peer::nanoseconds_since;
use crate::statistics::Record;
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
.conditions("{link}, {scheduling}, {rounds} servers")
.tables(&[Tabled::listing(
    "rows",
    "a server with {lanes} lanes, from the start of its process until it …, \
        in ms",
    "{what}",
    &[
        Column::millis("median", "p50"),
        Column::millis("p99", "p99"),
        Column::millis("max", "max"),
    ],
)]);

/// Options of the command `rt start`.
#[derive(Clone, Debug, Args)]
pub struct Options {
    #[command(flatten)]
    common: Common,
    /// Number of low clients' priorities, each with a lane.
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
    let setup = common.setup(Contender::Lanes, options.low, false);
    let (mut serves, mut replies) = (Vec::new(), Vec::new());
    for _ in 0..options.rounds {
        let (served, replied) = one(harness, &setup, &orb)?;
        serves.push(served);
        replies.push(replied);
    }
    let settings = Row::default()
        .with("link", common.link)
        .with("scheduling", scheduled(common.best_effort))
        .with("lanes", options.low + 1)
        .with("rounds", options.rounds);
    let mut report = Report::new(&EXPERIMENT, settings);
    for (what, times) in [("serves", &serves), ("replies", &replies)] {
        let mut record = Record::default();
        record.add_round(times);
        let figures = record.figures().ok_or("no server was started")?;
        report.add(
            "rows",
            [Row::default().with("what", what).with_figures(&figures)],
        );
        if what == "replies" && figures.p50 > GOAL {
            report
                .failed
                .push("half of the servers take longer than 50 ms".to_owned());
        }
    }
    options.json.deliver(&report)
}

/// Starts one server; returns the nanoseconds until its reference was received, and until it
/// answered the first call.
fn one(harness: &Harness, setup: &Setup, orb: &Orb) -> Result<(u64, u64)> {
    let setup = experiment::Setup::Rt(setup.clone());
    let mut command = experiment::server(harness, &setup, Some(0));
    let started = Instant::now();
    let server = Process::start(&mut command)?;
    let served = nanoseconds_since(started);
    let reference = server.said().split(' ').next().unwrap_or_default();
    let cubit = Cubit::from_object(orb.string_to_object(reference)?);
    cubit.cube_void()?;
    let replied = nanoseconds_since(started);
    server.stop()?;
    Ok((served, replied))
}
