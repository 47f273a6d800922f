//! `ami`: Arulanthu et al. 2000's tables 1 and 2: latency and throughput of synchronous calls, of
//! asynchronous ones with reply handlers, of pollers and of futures, beside a pipelined raw socket
//! and the figures that the paper prints of TAO.
//!
//! Each contender has a server and a client of its own. *Latency* is the time from before a call's
//! arguments are marshaled until its result is there (a reply handler has been called), one call at
//! a time. *Throughput* is that of one sending thread with a window of calls in flight, or of many
//! threads that wait.
//!
//! The floor of throughput (`floor`): one thread writes 64 bytes for each request and another reads
//! up to 64 KiB at a time; the server reads likewise, and writes 32 bytes for each reply.

mod client;
mod contender;
mod dii;
mod floor;
mod report;
mod server;

pub(crate) use client::call;
pub use contender::Contender;
pub(crate) use server::serve;

use crate::Result;
use crate::contender::Harness;
use crate::experiment::{
    self, Outcome, Pair, Report, Row, Stage, Turn, Workload, run as run_experiment, start,
};
use crate::omniorb::AMI;
use crate::output::Output;
use crate::placement::{Placement, Processors};
use crate::protocol::Order;
use crate::statistics::{Rates, Record};
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use std::fmt;

pub(crate) use report::EXPERIMENT;

/// Number of calls that throughput keeps in flight.
const WINDOW: u32 = 512;

/// Options of the command `ami`.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Only these contenders, and the raw-socket baseline.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub contenders: Vec<Contender>,
    /// Processors of client and server.
    #[arg(long, value_delimiter = ',', default_values = ["same", "unpinned"])]
    pub placement: Vec<Placement>,
    /// Rounds, in each of which every contender has its turn.
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
    /// Calls of a round of latency.
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub calls: u32,
    /// Calls of a round of throughput, of all threads together.
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    pub many: u32,
    #[command(flatten)]
    output: Output,
}

/// Setup of the client's and the server's process.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Setup {
    /// Set for raw sockets.
    floor: bool,
    /// Set where the client's sending thread reads the replies.
    reads_itself: bool,
}

/// Quantity to measure (latency or throughput), and the number of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum What {
    /// Time of each call, made one after the other.
    Latency(u32),
    /// Time of all calls together.
    Throughput(u32),
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Latency(_) => "latency",
            Self::Throughput(_) => "throughput",
        })
    }
}

struct Calls<'h>(&'h Harness);

impl Workload for Calls<'_> {
    type Setting = ();
    type Contender = Contender;
    type Point = What;
    type Record = (Record, Rates);

    fn start(&self, _: &Stage<Self>, who: &Contender, at: Option<Processors>) -> Result<Pair> {
        if who.is_omniorb() {
            return AMI.start(self.0, at);
        }
        let setup = Setup {
            floor: *who == Contender::Floor,
            reads_itself: who.reads_itself(),
        };
        start(self.0, &experiment::Setup::Ami(setup), at)
    }

    fn suits(&self, contender: &Contender, what: &What, _: &Pair) -> bool {
        matches!(what, What::Throughput(_)) || contender.has_latency()
    }

    fn turn(&self, turn: Turn<'_, Self>, (latencies, rates): &mut (Record, Rates)) -> Result<()> {
        let contender = *turn.contender;
        match *turn.point {
            What::Latency(calls) => {
                let mut ask = |calls| turn.pair.ask(Order((contender, What::Latency(calls))));
                ask(calls.div_ceil(10))?;
                latencies.add_round(&ask(calls)?);
            }
            What::Throughput(calls) => {
                // Each of several threads makes an equal share.
                let threads = contender.threads().unwrap_or(WINDOW);
                let whole = |calls: u32| calls.div_ceil(threads) * threads;
                let mut ask = |calls| turn.pair.ask(Order((contender, What::Throughput(calls))));
                ask(whole(calls.div_ceil(10)))?;
                let took = ask(whole(calls))?;
                took.iter()
                    .for_each(|&took| rates.add_round(u64::from(whole(calls)), took));
            }
        }
        Ok(())
    }

    fn frame(&self, what: &What) -> &'static str {
        match what {
            What::Latency(_) => "latency",
            What::Throughput(_) => "throughput",
        }
    }

    fn rows(&self, stage: &Stage<Self>, what: &What, outcomes: &[Outcome<'_, Self>]) -> Vec<Row> {
        match what {
            What::Latency(_) => report::latencies(stage.placement, outcomes),
            What::Throughput(_) => report::throughputs(stage.placement, outcomes),
        }
    }
}

/// Runs the command.
///
/// # Errors
/// A contender fails, or a file cannot be written.
pub fn run(harness: &Harness, options: &Options) -> Result<()> {
    let settings = Row::default()
        .with("rounds", options.rounds)
        .with("calls", options.calls)
        .with("many", options.many);
    let mut report = Report::new(&EXPERIMENT, settings);
    let contenders = match options.contenders.is_empty() {
        true => Contender::value_variants().to_vec(),
        false => [&[Contender::Floor], &options.contenders[..]].concat(),
    };
    let points = [What::Latency(options.calls), What::Throughput(options.many)];
    let stages = Stage::at_each(&options.placement, &contenders, &points);
    run_experiment(&Calls(harness), &stages, options.rounds, &mut report);
    for &placement in &options.placement {
        report::judge(placement, &mut report);
    }
    report::add_paper(&mut report);
    options.output.deliver(&report)
}

/// Rust that the IDL compiler generates.
pub(crate) mod idl {
    include!(concat!(env!("OUT_DIR"), "/ami.rs"));
}
