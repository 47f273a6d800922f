//! `latency`: how long calls take, by contenders in turn.
//!
//! A case is run in rounds. In each round every contender makes a batch of calls, and another one
//! begins in the next round, so that what slows the machine down for a while slows all of them down.
//! Ratios are taken within a round, and their median is reported.

mod plot;
mod report;

pub use report::{Participant, Report, Row};

use crate::Result;
use crate::case::{self, Case};
use crate::contender::{Absent, Contender, FLOOR, Launch, Running};
use crate::machine::Machine;
use crate::placement::Placement;
use crate::statistics::{Record, paired_ratio};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use std::path::PathBuf;

/// The spread of the floor's medians above which a case counts as disturbed.
const NOISY: f64 = 0.10;
/// One-ways are over so soon, and the scheduler lets each side run for so long, that a batch of them
/// has this many times as many calls, while requests are [`SHORT`].
const ONE_WAYS: u32 = 30;
/// Requests up to this many octets are short.
const SHORT: usize = 4096;

/// What to run, and where the figures go.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Where client and server run.
    #[arg(long, value_delimiter = ',', default_values = ["same", "cross"])]
    pub placement: Vec<Placement>,
    /// Only these contenders, and the floor.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub contenders: Vec<String>,
    /// Only these cases, e.g. cube_void,take_octets:4096; the default is paper 001's sweep.
    #[arg(long, value_delimiter = ',', conflicts_with = "quick")]
    pub cases: Vec<Case>,
    /// A few sizes and fewer calls: less than a minute.
    #[arg(long)]
    pub quick: bool,
    /// Rounds; 15, or 7 with --quick.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: Option<u32>,
    /// Calls of a contender in a round that count; 1,000, or 300 with --quick. A tenth as many come
    /// ahead of them and do not count. Of one-ways with short requests, 30 times as many.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub calls: Option<u32>,
    /// Write the figures to this file.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Draw latency over size to this file.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

impl Options {
    fn cases(&self) -> Vec<Case> {
        match (self.cases.is_empty(), self.quick) {
            (false, _) => self.cases.clone(),
            (true, true) => case::quick(),
            (true, false) => case::full(),
        }
    }

    fn rounds(&self) -> u32 {
        self.rounds.unwrap_or(if self.quick { 7 } else { 15 })
    }

    fn calls(&self) -> u32 {
        self.calls.unwrap_or(if self.quick { 300 } else { 1000 })
    }

    /// Whether a contender of this name takes part; the floor always does.
    #[must_use]
    pub fn wants(&self, name: &str) -> bool {
        self.contenders.is_empty() || name == FLOOR || self.contenders.iter().any(|it| it == name)
    }
}

/// Runs the benchmark, and writes the files that are asked for.
///
/// # Errors
/// When a contender fails, or a file cannot be written.
pub fn run(contenders: &[Contender], absent: &[Absent], options: &Options) -> Result<Report> {
    let mut report = Report {
        machine: Machine::this(),
        rounds: options.rounds(),
        calls: options.calls(),
        contenders: contenders.iter().map(Participant::from).collect(),
        skipped: absent.iter().map(report::absence).collect(),
        rows: Vec::new(),
    };
    let cases = options.cases();
    let progress = progress(options.placement.len() * cases.len());
    for &placement in &options.placement {
        match placement.processors() {
            Err(reason) => report.skipped.push(format!("{placement}: {reason}")),
            Ok(processors) => {
                let launch = Launch {
                    processors: Some(processors),
                    ..Launch::default()
                };
                let mut field = Field::start(contenders, &launch)?;
                for &case in &cases {
                    progress.set_message(format!("{placement} {case}"));
                    let records = field.compete(case, options.rounds(), options.calls())?;
                    report
                        .rows
                        .extend(rows(placement, case, contenders, &records));
                    progress.inc(1);
                }
                field.stop()?;
            }
        }
    }
    progress.finish_and_clear();
    if let Some(path) = &options.json {
        std::fs::write(path, serde_json::to_string_pretty(&report)? + "\n")?;
    }
    if let Some(path) = &options.svg {
        plot::draw(&report, path)?;
    }
    Ok(report)
}

/// The contenders of one placement, all started.
struct Field(Vec<Running>);

impl Field {
    fn start(contenders: &[Contender], launch: &Launch) -> Result<Self> {
        let started = contenders.iter().map(|contender| contender.start(launch));
        started.collect::<Result<_>>().map(Self)
    }

    fn compete(&mut self, case: Case, rounds: u32, calls: u32) -> Result<Vec<Record>> {
        let calls = batch(case, calls);
        let mut records: Vec<Record> = self.0.iter().map(|_| Record::default()).collect();
        let warm_up = calls.div_ceil(10);
        // The first time a case is run, buffers grow; that batch does not count.
        for running in &mut self.0 {
            running.run(case, 0, warm_up)?;
        }
        let number = self.0.len();
        for round in 0..rounds as usize {
            for turn in 0..number {
                let who = (round + turn) % number;
                let samples = self.0[who].run(case, warm_up, calls)?;
                records[who].add_round(&samples);
            }
        }
        Ok(records)
    }

    fn stop(self) -> Result<()> {
        self.0.into_iter().try_for_each(Running::stop)
    }
}

/// Calls of a batch.
fn batch(case: Case, calls: u32) -> u32 {
    if !case.operation.is_two_way() && case.lengths().request <= SHORT {
        return calls.saturating_mul(ONE_WAYS);
    }
    calls
}

fn rows(
    placement: Placement,
    case: Case,
    contenders: &[Contender],
    records: &[Record],
) -> Vec<Row> {
    let both = || contenders.iter().zip(records);
    let floor = both().find(|(contender, _)| contender.name == FLOOR);
    let floor = floor.map(|(_, record)| record);
    let spread = floor.and_then(|floor| Some(floor.figures()?.spread));
    both()
        .filter_map(|(contender, record)| {
            Some(Row {
                placement,
                operation: case.operation.name(),
                units: case.units,
                two_way: case.operation.is_two_way(),
                contender: contender.name,
                figures: record.figures()?,
                ratio: floor.and_then(|floor| paired_ratio(record.medians(), floor.medians())),
                noisy: spread.is_some_and(|spread| spread > NOISY),
            })
        })
        .collect()
}

fn progress(steps: usize) -> ProgressBar {
    let bar = ProgressBar::new(steps as u64);
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} {msg}");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Command {
        #[command(flatten)]
        options: Options,
    }

    fn parse(arguments: &[&str]) -> std::result::Result<Options, clap::Error> {
        let words = ["latency"].iter().chain(arguments);
        Command::try_parse_from(words).map(|command| command.options)
    }

    #[test]
    fn without_options_the_whole_sweep_runs_at_both_placements() {
        let options = parse(&[]).unwrap();
        assert_eq!(options.placement, [Placement::Same, Placement::Cross]);
        assert_eq!(options.cases(), case::full());
        assert!(options.wants("anything"));
    }

    #[test]
    fn placements_cases_and_contenders_are_lists() {
        let options = parse(&[
            "--placement=cross",
            "--cases=cube_void,take_octets:64",
            "--contenders=punctual",
        ])
        .unwrap();
        assert_eq!(options.placement, [Placement::Cross]);
        assert_eq!(options.cases()[1].units, 64);
        assert!(options.wants(FLOOR) && options.wants("punctual") && !options.wants("omniorb"));
    }

    #[test]
    fn quick_takes_fewer_rounds_unless_they_are_given() {
        assert!(parse(&["--quick"]).unwrap().rounds() < parse(&[]).unwrap().rounds());
        assert_eq!(parse(&["--quick", "--rounds=3"]).unwrap().rounds(), 3);
    }

    #[test]
    fn short_one_ways_come_in_longer_batches() {
        let calls = |case: &str| batch(case.parse().unwrap(), 100);
        assert_eq!(calls("take_octets:1"), 100);
        assert_eq!(calls("throw_octets:1024"), 100 * ONE_WAYS);
        assert_eq!(calls("throw_bin_structs:1024"), 100);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for arguments in [
            &["--rounds=0"][..],
            &["--calls=0"],
            &["--cases=cube"],
            &["--placement=elsewhere"],
            &["--quick", "--cases=cube_void"],
        ] {
            assert!(parse(arguments).is_err(), "{arguments:?}");
        }
    }

    #[test]
    fn a_restless_floor_makes_a_case_noisy_for_all() {
        let contenders = ["floor", "other"].map(|name| Contender {
            name,
            description: String::new(),
            program: PathBuf::new(),
            arguments: Vec::new(),
        });
        let mut records = [Record::default(), Record::default()];
        for (floor, other) in [(10, 20), (20, 40), (40, 80), (10, 20)] {
            records[0].add_round(&[floor]);
            records[1].add_round(&[other]);
        }
        let case = Case::plain(case::Operation::CubeVoid);
        let rows = rows(Placement::Same, case, &contenders, &records);
        assert!(rows.iter().all(|row| row.noisy));
        assert_eq!(rows[0].ratio, Some(1.0));
        assert_eq!(rows[1].ratio, Some(2.0));
    }
}
