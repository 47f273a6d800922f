//! `demux`: time to find an object and its operation, by Gokhale and Schmidt 1998's experiment
//! (§3.5 to 3.7, §5.3), and in figures of its own.
//!
//! A server has its objects once for each strategy, and a client calls them in the paper's four
//! orders: batch by batch, the strategies in turn, rotating from round to round. Demultiplexing is
//! a small part of a call beside the operating system's; so the search for objects and operations
//! is also measured by itself, in a process of its own ([`inside`]), and counted in instructions
//! ([`counts`]).

pub mod counts;
pub mod inside;

mod client;
mod interfaces;
mod peers;
mod plan;
mod plot;
mod report;
mod server;
mod setup;

pub use plan::Over;
pub use report::{Report, Row};
pub use setup::{Algorithm, Setup, Strategy};

use crate::Result;
use crate::contender::Harness;
use crate::machine::Machine;
use crate::output::{Output, progress};
use crate::placement::Placement;
use crate::running::in_turn;
use crate::statistics::Record;
use clap::{Args, Subcommand, ValueEnum};
use client::Batch;
use peers::Peers;
use plan::{Part, Plan};

/// Rust that the IDL compiler generates from `demux.idl`.
#[allow(missing_docs, clippy::all)]
pub(crate) mod idl {
    include!(concat!(env!("OUT_DIR"), "/demux.rs"));
}

/// Options of the command.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Processors of client and server.
    #[arg(long, default_value = "same")]
    pub placement: Placement,
    /// Only these strategies.
    #[arg(long, value_delimiter = ',', default_values = ["active", "linear", "dynamic-hash", "perfect-hash", "de-layered"])]
    pub strategies: Vec<Strategy>,
    /// Only so many objects; the default is the paper's 1 to 500, then up to a million.
    #[arg(long, value_delimiter = ',', conflicts_with = "quick", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub objects: Vec<u32>,
    /// Fewer objects, depths and calls: seconds.
    #[arg(long)]
    pub quick: bool,
    /// Rounds; 9, or 3 with --quick.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: Option<u32>,
    /// Calls by a strategy in a round that count; 300, or 100 with --quick. Of one-ways ten times as many.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub calls: Option<u32>,
    /// Only these parts.
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
    /// The search by itself, activation, memory, collocated calls.
    Inside,
}

/// Process that the measurement starts.
#[derive(Clone, Debug, Subcommand)]
pub enum Peer {
    /// Serve the objects.
    Server {
        /// Objects to serve.
        #[command(flatten)]
        setup: Setup,
        /// Processor to run on.
        #[arg(long)]
        pin: Option<usize>,
    },
    /// Call the objects.
    Client {
        /// Objects to call.
        #[command(flatten)]
        setup: Setup,
        /// Processor to run on.
        #[arg(long)]
        pin: Option<usize>,
        /// Address of the directory.
        #[arg(long)]
        at: String,
    },
    /// Measure the parts of a call alone, and print the figures as JSON.
    Inside(inside::Options),
}

/// Runs the command.
///
/// # Errors
/// A process fails, or a file cannot be written.
pub fn run(harness: &Harness, options: &Options) -> Result<()> {
    let report = measure(harness, options)?;
    options.output.show(&report, plot::draw)
}

/// Runs a process of the measurement.
///
/// # Errors
/// Reasons why the process cannot do its work.
pub fn run_peer(peer: &Peer) -> Result<()> {
    match peer {
        Peer::Server { setup, pin } => {
            pinned(*pin)?;
            server::serve(setup)
        }
        Peer::Client { setup, pin, at } => {
            pinned(*pin)?;
            client::call(setup, at)
        }
        Peer::Inside(options) => inside::run(options),
    }
}

fn pinned(processor: Option<usize>) -> Result<()> {
    processor.map_or(Ok(()), |processor| {
        Ok(punctual_sys::processor::pin_to(processor)?)
    })
}

fn measure(harness: &Harness, options: &Options) -> Result<Report> {
    let plan = Plan::of(options);
    let mut report = Report {
        machine: Machine::this(),
        placement: options.placement,
        rounds: plan.rounds,
        calls: plan.calls,
        rows: Vec::new(),
        inside: None,
    };
    let with = |part| options.parts.contains(&part);
    if with(Which::Inside) {
        report.inside = Some(inside::measure(harness, options.quick)?);
    }
    if with(Which::Curves) {
        let progress = progress(plan.parts.len());
        for part in &plan.parts {
            progress.set_message(part.setup.to_string());
            report.rows.extend(run_part(harness, options, &plan, part)?);
            progress.inc(1);
        }
        progress.finish_and_clear();
    }
    Ok(report)
}

/// Measures all strategies, operations and orders of one server.
fn run_part(harness: &Harness, options: &Options, plan: &Plan, part: &Part) -> Result<Vec<Row>> {
    let setup = &part.setup;
    let processors = options.placement.pinned()?;
    let mut peers = Peers::start(harness, setup, Some(processors), None)?;
    let mut rows = Vec::new();
    for &operations in &setup.operations {
        for &algorithm in &part.algorithms {
            let batch = |strategy| Batch {
                strategy,
                operations,
                algorithm,
                calls: plan.calls * if setup.one_way { plan::ONE_WAYS } else { 1 },
                timed: true,
            };
            let records = compete(&mut peers, &setup.strategies, plan.rounds, batch)?;
            for (&strategy, record) in setup.strategies.iter().zip(&records) {
                rows.extend(Row::new(part, strategy, operations, algorithm, record));
            }
        }
    }
    peers.stop()?;
    Ok(rows)
}

/// Runs the strategies in turn; each begins a round once.
fn compete(
    peers: &mut Peers,
    strategies: &[Strategy],
    rounds: u32,
    batch: impl Fn(Strategy) -> Batch,
) -> Result<Vec<Record>> {
    let mut records = vec![Record::default(); strategies.len()];
    for &strategy in strategies {
        let warm_up = batch(strategy);
        peers.run(Batch {
            calls: warm_up.calls.div_ceil(3),
            ..warm_up
        })?;
    }
    for round in 0..rounds as usize {
        for turn in in_turn(round, strategies.len()) {
            records[turn].add_round(&peers.run(batch(strategies[turn]))?);
        }
    }
    Ok(records)
}
