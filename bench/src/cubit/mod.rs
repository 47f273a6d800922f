//! `punctual bench cubit`: Schmidt et al. 2001's figure 16, as a matrix of every messaging protocol
//! and link.
//!
//! `operation` has the figure's types of data, `paper` the paper's figures. A `contender` is raw
//! sockets, as in all measurements, or a pair that the ORB can listen on (`pair`), each with a
//! server and a client in processes of their own. `report` compares them.

mod contender;
mod operation;
mod pair;
mod paper;
mod report;

pub(crate) use pair::{Setup, call, serve};
pub(crate) use report::EXPERIMENT;

use crate::Result;
use crate::contender::Harness;
use crate::experiment::{Outcome, Pair, Report, Row, Stage, Turn, Workload, run as run_experiment};
use crate::output::Output;
use crate::placement::{Placement, Processors};
use crate::statistics::{Rates, Record};
use contender::Contender;
use operation::{FIGURE_16, Operation, lent};
use punctual::OrbConfig;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Sizes of the counted one-ways, in bytes.
const ONE_WAYS: [u32; 2] = [0, 1024];
/// Size in bytes of long messages, which take much longer, and the divisor of the number of calls in a batch of them.
const LONG: u32 = 1 << 18;
const FEWER: u32 = 20;

/// Measures each operation of Schmidt et al. 2001's figure 16 over every pair of a messaging protocol and a link
/// that the ORB has, beside raw sockets and the paper's figures.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Messaging protocols to measure; without this option, all that the ORB has.
    #[arg(long, value_delimiter = ',', value_name = "NAMES", value_parser = protocol_name)]
    messaging: Vec<String>,
    /// Links to measure, which may have adapters, as in reliable+diop; without this option, all
    /// that the ORB has. GIOP over iiop always takes part: the gains are over it.
    #[arg(long, value_delimiter = ',', value_name = "NAMES", value_parser = protocol_name)]
    link: Vec<String>,
    /// Calls of each operation in a round; a tenth as many warm-up calls come first.
    #[arg(
        short = 'n', long, default_value_t = 1000,
        value_parser = clap::value_parser!(u32).range(1..=1_000_000)
    )]
    calls: u32,
    /// Rounds, in each of which every contender has its turn.
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// Processors of client and server.
    #[arg(long = "placement", visible_alias = "cpus", value_delimiter = ',', default_values = ["same", "cross"])]
    placement: Vec<Placement>,
    /// Microseconds for which spinning sides of shared memory spin before they sleep.
    #[arg(long, value_name = "MICROSECONDS", default_value_t = 1000)]
    spin: u64,
    /// Also compare lent buffers with copied ones, of so many octets. Shared memory then lends from the least of these
    /// sizes on, if that is below the size from which it lends by default.
    #[arg(
        long, value_delimiter = ',', value_name = "OCTETS", num_args = 0.., require_equals = true,
        default_missing_value = "1048576", value_parser = clap::value_parser!(u32).range(1..=1 << 24)
    )]
    lent: Vec<u32>,
    #[command(flatten)]
    output: Output,
    /// Options of the ORB, behind `--`: e.g. -ORBConfigFile with what ssliop needs.
    #[arg(last = true, value_name = "-ORB…")]
    orb: Vec<String>,
}

fn protocol_name(text: &str) -> std::result::Result<String, String> {
    let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let part_is_good = |part: &str| !part.is_empty() && part.chars().all(good);
    if text.split('+').all(part_is_good) {
        Ok(text.to_owned())
    } else {
        Err("expected names of lower-case letters, digits and _, with + between".to_owned())
    }
}

impl Options {
    /// Returns the selected pairs of a messaging protocol and a link.
    fn protocols(&self) -> Result<Vec<String>> {
        let (messaging, links) = pair::catalogue(&self.orb)?;
        let or_all = |asked: &[String], all: Vec<String>| match asked {
            [] => all,
            asked => asked.to_vec(),
        };
        Ok(contender::protocols(
            &or_all(&self.messaging, messaging),
            &or_all(&self.link, links),
        ))
    }

    /// Returns the calls that are measured at each placement.
    fn points(&self) -> Vec<Calls> {
        let figure = FIGURE_16.map(|operation| Calls::TwoWay {
            operation,
            calls: self.calls,
        });
        let one_ways = ONE_WAYS.map(|octets| Calls::OneWay {
            octets,
            calls: self.calls,
        });
        let lent = self.lent.iter().flat_map(|&octets| {
            lent(octets).map(|operation| Calls::TwoWay {
                operation,
                calls: match octets {
                    LONG.. => self.calls.div_ceil(FEWER),
                    _ => self.calls,
                },
            })
        });
        figure.into_iter().chain(one_ways).chain(lent).collect()
    }
}

/// Calls that a contender makes in its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Calls {
    /// Calls that are timed one by one.
    TwoWay { operation: Operation, calls: u32 },
    /// One-ways of this many bytes, sent until the server has counted the given number. The answer
    /// has two samples: the total time in nanoseconds, and the number counted.
    OneWay { octets: u32, calls: u32 },
}

impl fmt::Display for Calls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TwoWay { operation, .. } => operation.fmt(f),
            Self::OneWay { octets, .. } => write!(f, "one-ways of {octets} octets"),
        }
    }
}

/// Results of one contender's one-ways.
#[derive(Clone, Debug, Default)]
struct Flood {
    /// Requests per second that the server counted.
    rates: Rates,
    sent: u64,
    lost: u64,
}

impl Flood {
    fn add_round(&mut self, samples: &[u64], sent: u32) {
        if let [took, counted] = *samples {
            self.rates.add_round(counted, took);
            self.sent += u64::from(sent);
            self.lost += u64::from(sent).saturating_sub(counted);
        }
    }
}

struct Matrix<'h> {
    harness: &'h Harness,
    /// Options of the ORB.
    orb: &'h [String],
}

impl Workload for Matrix<'_> {
    type Setting = ();
    type Contender = Contender;
    type Point = Calls;
    type Record = (Record, Flood);

    fn start(&self, _: &Stage<Self>, who: &Contender, at: Option<Processors>) -> Result<Pair> {
        who.start(self.harness, self.orb, at)
    }

    /// Returns whether a contender takes part: in one-ways those whose protocols have no replies,
    /// and the base for comparison; in two-way calls the others that support the operation.
    fn suits(&self, contender: &Contender, calls: &Calls, pair: &Pair) -> bool {
        let is_one_way = pair.note() == pair::ONE_WAY;
        match calls {
            Calls::OneWay { .. } => is_one_way || contender.is_base(),
            Calls::TwoWay { operation, .. } => {
                !is_one_way && (operation.has_floor() || contender.protocol().is_some())
            }
        }
    }

    /// Makes warm-up calls, in which buffers reach their final size.
    fn warm_up(&self, turn: Turn<'_, Self>) -> Result<()> {
        let fewer = |calls: u32| calls.div_ceil(10);
        let calls = match *turn.point {
            Calls::TwoWay { operation, calls } => Calls::TwoWay {
                operation,
                calls: fewer(calls),
            },
            Calls::OneWay { octets, calls } => Calls::OneWay {
                octets,
                calls: fewer(calls),
            },
        };
        turn.contender.ask(turn.pair, calls)?;
        Ok(())
    }

    fn turn(&self, turn: Turn<'_, Self>, (record, flood): &mut (Record, Flood)) -> Result<()> {
        let samples = turn.contender.ask(turn.pair, *turn.point)?;
        match *turn.point {
            Calls::TwoWay { .. } => record.add_round(&samples),
            Calls::OneWay { calls, .. } => flood.add_round(&samples, calls),
        }
        Ok(())
    }

    fn frame(&self, calls: &Calls) -> &'static str {
        match calls {
            Calls::OneWay { .. } => "one_way",
            Calls::TwoWay { operation, .. } if operation.compares_lent() => "lent",
            Calls::TwoWay { .. } => "figure_16",
        }
    }

    fn rows(&self, stage: &Stage<Self>, calls: &Calls, outcomes: &[Outcome<'_, Self>]) -> Vec<Row> {
        match *calls {
            Calls::TwoWay { operation, .. } => report::rows(stage.placement, operation, outcomes),
            Calls::OneWay { octets, .. } => report::one_ways(stage.placement, octets, outcomes),
        }
    }
}

/// Runs the command.
///
/// # Errors
/// A contender fails, or a file cannot be written.
pub fn run(harness: &Harness, options: &Options) -> Result<()> {
    let protocols = options.protocols()?;
    let (mut contenders, left_out) = contender::known(&protocols, options.spin, &options.orb);
    let usual = OrbConfig::default().shmiop.lend_threshold;
    let least = options.lent.iter().min();
    let least = least.map(|&octets| usual.min(octets as usize));
    for contender in &mut contenders {
        contender.lend_from(least);
    }
    if left_out.len() == protocols.len() {
        return Err(format!("the ORB has none of these pairs: {}", left_out.join("; ")).into());
    }
    let settings = Row::default()
        .with("rounds", options.rounds)
        .with("calls", options.calls)
        .with("spin_us", options.spin)
        .with("lend_threshold", usual);
    let mut report = Report::new(&EXPERIMENT, settings);
    report.skipped.extend(left_out);
    let stages = Stage::at_each(&options.placement, &contenders, &options.points());
    let matrix = Matrix {
        harness,
        orb: &options.orb,
    };
    run_experiment(&matrix, &stages, options.rounds, &mut report);
    if report.frame("figure_16").is_empty() {
        return Err(format!("nothing was measured: {}", report.skipped.join("; ")).into());
    }
    report::add_paper(&mut report);
    options.output.deliver(&report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_has_the_median_of_its_rates_and_counts_what_was_lost() {
        let mut flood = Flood::default();
        assert_eq!(flood.rates.rate(), None);
        for (took, counted) in [(1_000_000, 10), (2_000_000, 10), (1_000_000, 8)] {
            flood.add_round(&[took, counted], 10);
        }
        assert!((flood.rates.rate().unwrap() - 8000.0).abs() < 1e-6);
        assert_eq!((flood.sent, flood.lost), (30, 2));
    }
}
