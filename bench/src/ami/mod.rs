//! `ami`: Arulanthu et al. 2000's tables 1 and 2: latency and throughput of synchronous calls, of
//! asynchronous ones with reply handlers, of pollers and of futures, beside a pipelined raw socket
//! and the figures that the paper prints of TAO.
//!
//! Each contender has a server and a client of its own, and they take turns within a round.
//! *Latency* is the time from before a call's arguments are marshaled until its result is there (a
//! reply handler has been called), one call at a time. *Throughput* is that of one sending thread
//! with a window of calls in flight, or of many threads that wait.
//!
//! The floor of throughput (`floor`): one thread writes 64 bytes for each request and another reads
//! up to 64 KiB at a time; the server reads likewise, and writes 32 bytes for each reply.

mod client;
mod contender;
mod dii;
mod floor;
mod measure;
mod order;
mod paper;
mod plot;
mod report;
mod server;

pub use contender::Contender;
pub use report::{Goal, LatencyRow, Report, ThroughputRow};

use crate::Result;
use crate::contender::Harness;
use crate::output::Output;
use crate::throughput::Pinning;
use clap::{Args, Subcommand};

/// Number of calls that throughput keeps in flight.
const WINDOW: u32 = 512;

/// Options of the command.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Only these contenders, beside the floor.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub contenders: Vec<Contender>,
    /// Processors of client and server.
    #[arg(long, value_delimiter = ',', default_values = ["same", "unpinned"])]
    pub placement: Vec<Pinning>,
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

/// Process of a contender.
#[derive(Debug, Subcommand)]
pub enum Peer {
    /// Serves until its input ends.
    Server(server::Server),
    /// Calls as its input says.
    Client(client::Client),
}

/// Runs the command.
///
/// # Errors
/// A contender fails, or a file cannot be written.
pub fn run(harness: &Harness, options: &Options) -> Result<()> {
    let report = measure::measure(harness, options)?;
    options.output.show(&report, plot::draw)?;
    match report.failed.len() {
        0 => Ok(()),
        number => Err(format!("{number} failure(s), see the end of the report").into()),
    }
}

/// Runs a process of a contender.
///
/// # Errors
/// The harness is gone.
pub fn run_peer(peer: &Peer) -> Result<()> {
    crate::peer::or_told(match peer {
        Peer::Server(server) => server::serve(server),
        Peer::Client(client) => client::run(client),
    })
}

/// Rust that the IDL compiler generates.
pub(crate) mod idl {
    include!(concat!(env!("OUT_DIR"), "/ami.rs"));
}
