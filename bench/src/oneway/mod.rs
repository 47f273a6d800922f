//! `oneway`: one-way requests with each sync scope, and buffered, beside two-way requests: O'Ryan
//! et al. 2001's figures 16 and 17 (§5.2 and §5.3).
//!
//! A server in a process of its own counts requests, and for figure 17 tests 1,000 times for each
//! whether a number is prime. A run is as many requests of one kind as the paper has, from before
//! the first until the server has served the last. The kinds take turns, rotating from round to
//! round.

mod client;
mod plot;
mod report;
mod server;

pub use report::{Report, Row};
pub use server::Peer;

use crate::Result;
use crate::child::Process;
use crate::contender::Harness;
use crate::machine::Machine;
use crate::output::{Output, progress};
use crate::placement::{Placement, Processors};
use crate::running::in_turn;
use clap::Args;
use client::{Client, Kind};
use serde::Serialize;

/// Rust that the IDL compiler generates from `oneway.idl`.
#[allow(missing_docs, clippy::all)]
pub(crate) mod idl {
    include!(concat!(env!("OUT_DIR"), "/oneway.rs"));
}

/// Options of the command.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Processors of client and server.
    #[arg(long, value_delimiter = ',', default_values = ["same", "cross"])]
    placement: Vec<Placement>,
    /// Bytes of each request of figure 16. The paper's are of 9 KiB.
    #[arg(long, value_delimiter = ',', default_values_t = [64, 9216])]
    octets: Vec<usize>,
    /// Requests that a buffer holds in figure 16.
    #[arg(long, value_delimiter = ',', default_values_t = [2, 5, 10, 20, 50, 100, 200, 500])]
    counts: Vec<usize>,
    /// Requests of a run.
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..))]
    requests: u32,
    /// Rounds.
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Prime tests of a servant of figure 17 for each request.
    #[arg(long, default_value_t = 1000)]
    tests: u32,
    /// Number that is tested.
    #[arg(long, default_value_t = 17)]
    number: u32,
    #[command(flatten)]
    output: Output,
}

/// Figure of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Figure {
    /// Buffered one-ways beside unbuffered ones.
    Buffered,
    /// Reliable one-ways beside two-way requests.
    Reliable,
}

/// Requests of one size in one placement.
struct Series {
    figure: Figure,
    placement: Placement,
    octets: usize,
    kinds: Vec<Kind>,
}

/// Runs the command.
///
/// # Errors
/// A process fails, or a file cannot be written.
pub fn run(harness: &Harness, options: &Options) -> Result<()> {
    let report = measure(harness, options)?;
    options.output.show(&report, plot::draw)
}

/// Runs the server's process.
///
/// # Errors
/// Reasons why it cannot serve.
pub fn run_peer(peer: &Peer) -> Result<()> {
    server::serve(peer)
}

fn measure(harness: &Harness, options: &Options) -> Result<Report> {
    // The processors are chosen before this process is pinned itself.
    let places: Vec<(Placement, std::io::Result<Processors>)> = options
        .placement
        .iter()
        .map(|placement| (*placement, placement.processors()))
        .collect();
    let mut report = Report {
        machine: Machine::this(),
        requests: options.requests,
        rounds: options.rounds,
        skipped: Vec::new(),
        rows: Vec::new(),
    };
    let progress = progress(places.len() * (options.octets.len() + 1));
    for (placement, processors) in places {
        let processors = match processors {
            Ok(processors) => processors,
            Err(error) => {
                report.skipped.push(format!("{placement}: {error}"));
                continue;
            }
        };
        for series in options.series(placement) {
            progress.set_message(format!("{placement}, {} bytes", series.octets));
            run_series(harness, options, processors, &series, &mut report)?;
            progress.inc(1);
        }
    }
    progress.finish_and_clear();
    Ok(report)
}

impl Options {
    fn series(&self, placement: Placement) -> Vec<Series> {
        let buffered = self.octets.iter().map(|&octets| Series {
            figure: Figure::Buffered,
            placement,
            octets,
            kinds: Kind::buffered(&self.counts),
        });
        let reliable = Series {
            figure: Figure::Reliable,
            placement,
            octets: 64,
            kinds: Kind::RELIABLE.to_vec(),
        };
        buffered.chain([reliable]).collect()
    }
}

fn run_series(
    harness: &Harness,
    options: &Options,
    processors: Processors,
    series: &Series,
    report: &mut Report,
) -> Result<()> {
    let tests = match series.figure {
        Figure::Buffered => 0,
        Figure::Reliable => options.tests,
    };
    let mut command = std::process::Command::new(&harness.program);
    command.args(Peer::arguments(processors.server, tests, options.number));
    let mut server = Process::spawn(&mut command)?;
    let reference = server.until_ready()?;
    punctual_sys::processor::pin_to(processors.client)?;
    let mut client = Client::new(&reference, series.octets)?;
    let mut rates = vec![Vec::new(); series.kinds.len()];
    for kind in &series.kinds {
        client.rate(*kind, options.requests)?;
    }
    for round in 0..options.rounds as usize {
        for who in in_turn(round, series.kinds.len()) {
            rates[who].push(client.rate(series.kinds[who], options.requests)?);
        }
    }
    client.stop()?;
    server.stop()?;
    report.add(series, &rates);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parsed::parsed;

    #[test]
    fn figure_16_runs_for_each_size_and_figure_17_once() {
        let options: Options = parsed(&["--counts=10,100"]).unwrap();
        let series = options.series(Placement::Same);
        let sizes: Vec<usize> = series.iter().map(|one| one.octets).collect();
        assert_eq!(sizes, [64, 9216, 64]);
        assert_eq!(series[0].kinds.len(), 4);
        assert_eq!(series[2].figure, Figure::Reliable);
    }
}
