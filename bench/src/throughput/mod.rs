//! `throughput`: calls per second.
//!
//! *Two-way*: several threads of one client, all through one reference or each through its own;
//! they share a connection where the contender can, and a raw contender has a connection for each
//! thread. *One-way*: one thread, from the first request until the server has counted the last. As
//! with latency, contenders take turns, and ratios are taken within a round; a kind whose rounds
//! lie too far apart is run again, and its figures are unknown if the spread remains too large.

mod contest;
mod kind;
mod report;

pub use contest::measure;
pub use kind::{Kind, Load, Pinning};
pub use report::{Report, Row};

use crate::Result;
use crate::contender::{self, Harness, Wanted};
use crate::output::Json;
use crate::protocol::{MAX_THREADS, References};
use crate::{omniorb, outsider};
use clap::Args;

/// Contenders that are measured if the command line names none. The outsider is one of them
/// because it is built like a user's program.
const USUAL: [&str; 3] = ["punctual", outsider::NAME, omniorb::NAME];

/// Options of the command.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Only these contenders, and their floors; `all` for every one.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub contenders: Vec<String>,
    /// Calls of the client.
    #[arg(long, value_delimiter = ',', default_values = ["one-way", "buffered", "two-way"])]
    pub loads: Vec<Load>,
    /// Threads of the client that makes two-way calls; each number is a run of its own.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 4, 8, 32])]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_THREADS)))]
    pub threads: Vec<u32>,
    /// Let these threads share a reference, or have one each.
    #[arg(long, value_delimiter = ',', default_values = ["shared", "own"])]
    pub references: Vec<References>,
    /// Processors of client and server; buffered one-ways run at cross only.
    #[arg(long, value_delimiter = ',', default_values = ["same", "cross", "unpinned"])]
    pub placement: Vec<Pinning>,
    #[command(flatten)]
    effort: Effort,
    #[command(flatten)]
    json: Json,
}

/// Amount of measurement.
#[derive(Clone, Copy, Debug, Args)]
pub struct Effort {
    /// Rounds, in each of which every contender has its turn.
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
    /// Two-way calls of a round, of all threads together; one-ways are five times as many.
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub calls: u32,
    /// Repetitions of a kind whose rates vary by more than 10 %; the calmest attempt counts.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(0..=100))]
    pub again: u32,
}

impl Options {
    fn kinds(&self) -> Vec<Kind> {
        kind::combined(
            &self.loads,
            &self.threads,
            &self.references,
            &self.placement,
        )
    }
}

/// Runs the command.
///
/// # Errors
/// A contender fails, or a file cannot be written.
pub fn run(harness: &Harness, options: &Options) -> Result<()> {
    let wanted = match options.contenders.is_empty() {
        true => Wanted::of(&USUAL)?,
        false => Wanted::named(&options.contenders)?,
    };
    let (contenders, absent) = contender::known(harness, &wanted);
    let report = measure(&contenders, &absent, &options.kinds(), options.effort)?;
    options.json.show(&report)?;
    match report.failed.len() {
        0 => Ok(()),
        number => Err(format!("{number} failure(s), see the end of the report").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parsed::parsed;

    fn kinds(arguments: &[&str]) -> std::result::Result<Vec<Kind>, clap::Error> {
        parsed::<Options>(arguments).map(|options| options.kinds())
    }

    #[test]
    fn everything_runs_unless_lists_say_what() {
        assert_eq!(kinds(&[]).unwrap().len(), 34);
        let chosen = kinds(&[
            "--loads=two-way",
            "--threads=2,8",
            "--references=own",
            "--placement=unpinned",
        ]);
        let two_way = |threads| Kind::two_way(threads, References::Own, Pinning::Unpinned);
        assert_eq!(chosen.unwrap(), [two_way(2), two_way(8)]);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for arguments in ["--threads=0", "--threads=257", "--loads=none", "--rounds=0"] {
            assert!(kinds(&[arguments]).is_err(), "{arguments}");
        }
    }
}
