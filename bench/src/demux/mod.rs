//! `demux`: time to find an object and its operation, by Gokhale and Schmidt 1998's experiment
//! (§3.5 to 3.7, §5.3), and in figures of its own.
//!
//! A server has its objects once for each strategy, and a client calls them in the paper's four
//! orders: batch by batch, the strategies in turn. Demultiplexing is a small part of a call beside
//! the operating system's; so the search for objects and operations is also measured by itself, in
//! a process of its own ([`inside`]), and counted in instructions ([`counts`]). A command of its own
//! calls each of a million servants many times ([`servants`]).

pub mod counts;
pub mod inside;
pub mod servants;

mod client;
mod interfaces;
mod plan;
mod report;
mod server;
mod setup;

pub(crate) use client::call;
pub(crate) use report::EXPERIMENT;
pub(crate) use server::serve;
pub(crate) use setup::Setup;
pub use setup::{Algorithm, Strategy};

use crate::Result;
use crate::contender::Harness;
use crate::experiment::{
    self, Outcome, Pair, Report, Row, Stage, Turn, Workload, run as run_experiment, start,
};
use crate::omniorb::DEMUX;
use crate::output::Output;
use crate::placement::{Placement, Processors};
use crate::protocol::Order;
use crate::statistics::Record;
use clap::{Args, ValueEnum};
use client::{Batch, Demand};
use plan::{ONE_WAYS, Over};
use std::fmt;
use std::process::Command;

/// Rust that the IDL compiler generates from `demux.idl`.
#[allow(missing_docs, clippy::all)]
pub(crate) mod idl {
    include!(concat!(env!("OUT_DIR"), "/demux.rs"));
}

/// Options of the command `demux`.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Processors of client and server.
    #[arg(long, default_value = "same")]
    pub placement: Placement,
    /// Only these strategies.
    #[arg(long, value_delimiter = ',', default_values = ["active", "linear", "dynamic-hash", "perfect-hash", "de-layered", "dii", "omniorb"])]
    pub strategies: Vec<Strategy>,
    /// Only these numbers of objects; the default is the paper's 1 to 500, then up to a million.
    #[arg(long, value_delimiter = ',', conflicts_with = "quick", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub objects: Vec<u32>,
    /// Use fewer objects, depths and calls, to finish within seconds.
    #[arg(long)]
    pub quick: bool,
    /// Rounds; 9, or 3 with --quick.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: Option<u32>,
    /// Timed calls of each strategy in a round; 300, or 100 with --quick. One-ways are ten times as
    /// many.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub calls: Option<u32>,
    /// Only these parts of the measurement.
    #[arg(long, value_delimiter = ',', default_values = ["curves", "inside"])]
    pub parts: Vec<Which>,
    #[command(flatten)]
    output: Output,
}

/// Part of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Which {
    /// Calls from another process, over objects, operations, depth.
    Curves,
    /// The search for objects and operations by itself, activation, memory, collocated calls.
    Inside,
}

/// Operations of the called objects, and the order of the calls.
#[derive(Clone, Copy, Debug)]
struct Point {
    operations: u32,
    algorithm: Algorithm,
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, {} operation(s)",
            self.algorithm.name(),
            self.operations
        )
    }
}

struct Search<'h> {
    harness: &'h Harness,
    /// Number of two-way calls that a contender makes in its turn.
    calls: u32,
}

impl Search<'_> {
    fn batch(&self, turn: &Turn<'_, Self>) -> Batch {
        let one_way = turn.stage.setting.1.one_way;
        Batch {
            strategy: *turn.contender,
            operations: turn.point.operations,
            algorithm: turn.point.algorithm,
            calls: self.calls * if one_way { ONE_WAYS } else { 1 },
            timed: true,
        }
    }
}

impl Workload for Search<'_> {
    type Setting = (Over, Setup);
    type Contender = Strategy;
    type Point = Point;
    type Record = Record;

    /// Returns true for all strategies of Punctual's server.
    fn shares(&self, strategy: &Strategy) -> bool {
        *strategy != Strategy::OmniOrb
    }

    fn start(&self, stage: &Stage<Self>, who: &Strategy, at: Option<Processors>) -> Result<Pair> {
        let mut setup = stage.setting.1.clone();
        let shares = self.shares(who);
        setup.strategies.retain(|one| self.shares(one) == shares);
        if shares {
            return start(self.harness, &experiment::Setup::Demux(setup), at);
        }
        let mut server = omniorb_server(self.harness, &setup, at)?;
        let setup = experiment::Setup::Demux(setup);
        Pair::start(&mut server, |address| {
            experiment::client(self.harness, &setup, at.map(|at| at.client), address)
        })
    }

    fn warm_up(&self, turn: Turn<'_, Self>) -> Result<()> {
        let batch = self.batch(&turn);
        let calls = batch.calls.div_ceil(3);
        turn.pair
            .ask(Order(Demand::Calls(Batch { calls, ..batch })))?;
        Ok(())
    }

    fn turn(&self, turn: Turn<'_, Self>, record: &mut Record) -> Result<()> {
        let batch = self.batch(&turn);
        record.add_round(&turn.pair.ask(Order(Demand::Calls(batch)))?);
        Ok(())
    }

    fn rows(&self, stage: &Stage<Self>, point: &Point, outcomes: &[Outcome<'_, Self>]) -> Vec<Row> {
        let (over, setup) = &stage.setting;
        let row = |(strategy, record): &Outcome<'_, Self>| {
            let row = Row::default()
                .with("over", over)
                .with("objects", setup.objects)
                .with("depth", setup.depth)
                .with("operations", point.operations)
                .with("strategy", strategy)
                .with("algorithm", point.algorithm)
                .with("two_way", !setup.one_way)
                .with_figures(&record.figures()?)
                .with("noisy", record.is_noisy());
            Some(row)
        };
        outcomes.iter().filter_map(row).collect()
    }
}

/// Returns the command that starts omniORB's server, which Punctual's client calls.
fn omniorb_server(harness: &Harness, setup: &Setup, at: Option<Processors>) -> Result<Command> {
    let mut server = DEMUX.side(harness, "server", at.map(|at| at.server))?;
    let kind = if setup.one_way { "throw" } else { "call" };
    server.args(["--objects", &setup.objects.to_string(), "--kind", kind]);
    for operations in &setup.operations {
        server.args(["--operations", &operations.to_string()]);
    }
    Ok(server)
}

/// Runs the command.
///
/// # Errors
/// A process fails, or a file cannot be written.
pub fn run(harness: &Harness, options: &Options) -> Result<()> {
    let either = |quick, usual| if options.quick { quick } else { usual };
    let rounds = options.rounds.unwrap_or(either(3, 9));
    let calls = options.calls.unwrap_or(either(100, 300));
    let settings = Row::default()
        .with("placement", options.placement)
        .with("rounds", rounds)
        .with("calls", calls);
    let mut report = Report::new(&EXPERIMENT, settings);
    if options.parts.contains(&Which::Inside) {
        report.add("inside", inside::measure(harness, options.quick)?);
    }
    if options.parts.contains(&Which::Curves) {
        let search = Search { harness, calls };
        run_experiment(&search, &plan::stages(options), rounds, &mut report);
    }
    options.output.deliver(&report)
}
