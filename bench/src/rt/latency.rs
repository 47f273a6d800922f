//! `rt latency`: time of a paced high client's calls, alone and beside low clients at full load.

use super::awake::Awake;
use super::batch::{Batch, Outcome};
use super::pair::Pair;
use super::report::{Report, Row, Run, Shares};
use super::setup::{Contender, MOST};
use super::{Common, plot, scheduled, verdict_of};
use crate::Result;
use crate::contender::Harness;
use crate::machine::Machine;
use crate::output::{Output, progress};
use crate::placement::{Placement, Processors};
use crate::running::in_turn;
use crate::statistics::{Record, median, paired_ratio};
use clap::Args;

/// Contenders of the experiment.
const CONTENDERS: [Contender; 5] = [
    Contender::Floor,
    Contender::Lanes,
    Contender::Pool,
    Contender::OmniOrb,
    Contender::OmniOrbFifo,
];
/// Upper bound of a batch, in milliseconds: a real-time load must be bounded.
const LONGEST: u64 = 15_000;

/// Options of the command.
#[derive(Clone, Debug, Args)]
pub struct Options {
    #[command(flatten)]
    common: Common,
    /// Low clients, each of another priority.
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u16).range(1..=i64::from(MOST)))]
    low: u16,
    /// Calls of the high client that count, for each contender in a round: alone, and beside the load. At most as many as
    /// it makes in 15 seconds.
    #[arg(long, default_value_t = 5000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    calls: u32,
    /// Microseconds from a call of the high client to the next.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pace: u64,
    /// Rounds.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    #[command(flatten)]
    output: Output,
}

impl Options {
    /// Returns a batch of the high client, beside so many low ones.
    fn batch(&self, low: u16) -> Batch {
        let warm_up = self.calls.div_ceil(20);
        let paced = u64::from(self.calls + warm_up) * self.pace / 1000;
        Batch {
            low,
            calls: self.calls,
            warm_up,
            pace: self.pace,
            low_calls: 0,
            limit: (2 * paced + 2000).min(LONGEST),
        }
    }
}

/// Runs the command.
///
/// # Errors
/// The machine does not grant real-time priorities, a contender fails, or a file cannot be written.
pub(super) fn run(harness: &Harness, options: &Options) -> Result<()> {
    options.common.check_rights()?;
    let report = measure(harness, options)?;
    options.output.show(&report, plot::latency)?;
    verdict_of(&report.failed)
}

fn measure(harness: &Harness, options: &Options) -> Result<Report> {
    let common = &options.common;
    let contenders = common.wanted(&CONTENDERS)?;
    let mut report = Report {
        machine: Machine::this(),
        link: common.link,
        scheduling: scheduled(common.best_effort),
        low: options.low,
        calls: options.calls,
        pace: options.pace,
        rounds: options.rounds,
        work: common.work,
        pool_priority: common.pool_priority,
        skipped: Vec::new(),
        failed: Vec::new(),
        rows: Vec::new(),
        goals: Vec::new(),
    };
    let progress = progress(common.placement.len() * options.rounds as usize);
    for &placement in &common.placement {
        match placement.pinned() {
            Err(reason) => report.skipped.push(format!("{placement}: {reason}")),
            Ok(processors) => {
                let mut entrants = start(harness, options, &contenders, processors, &mut report);
                for round in 0..options.rounds as usize {
                    for who in in_turn(round, entrants.len()) {
                        progress.set_message(format!("{placement} {}", entrants[who].contender));
                        entrants[who].turn(options, processors, &mut report.failed);
                    }
                    progress.inc(1);
                }
                report.rows.extend(rows(placement, &entrants));
                let pairs = entrants.into_iter().filter_map(|entrant| entrant.pair);
                pairs.into_iter().try_for_each(Pair::stop)?;
            }
        }
    }
    progress.finish_and_clear();
    report.judge(common.best_effort);
    Ok(report)
}

/// Contender with its results so far.
struct Entrant {
    contender: Contender,
    pair: Option<Pair>,
    alone: Record,
    loaded: Record,
    /// Low clients' calls per second, by round.
    rates: Vec<f64>,
}

/// Starts the contenders; those that do not start are skipped, with their reasons.
fn start(
    harness: &Harness,
    options: &Options,
    contenders: &[Contender],
    processors: Processors,
    report: &mut Report,
) -> Vec<Entrant> {
    let mut entrants = Vec::new();
    for &contender in contenders {
        let setup = options.common.setup(contender, options.low, false);
        match Pair::start(harness, &setup, processors) {
            Ok(pair) => entrants.push(Entrant {
                contender,
                pair: Some(pair),
                alone: Record::default(),
                loaded: Record::default(),
                rates: Vec::new(),
            }),
            Err(reason) => report.skipped.push(reason.to_string()),
        }
    }
    entrants
}

impl Entrant {
    /// Runs a batch alone, and one beside the load. A contender that fails is out from then on.
    fn turn(&mut self, options: &Options, processors: Processors, failed: &mut Vec<String>) {
        let Some(pair) = &mut self.pair else {
            return;
        };
        match round(pair, options, processors) {
            Ok((alone, loaded)) => {
                self.alone.add_round(&alone.high);
                self.loaded.add_round(&loaded.high);
                self.rates.extend(loaded.low_rate());
            }
            Err(error) => {
                failed.push(error.to_string());
                self.pair = None;
            }
        }
    }
}

fn round(pair: &mut Pair, options: &Options, at: Processors) -> Result<(Outcome, Outcome)> {
    // Without a load the processors would halt between calls.
    let awake = Awake::on(at)?;
    let alone = pair.perform(&options.batch(0))?;
    drop(awake);
    Ok((alone, pair.perform(&options.batch(options.low))?))
}

fn rows(placement: Placement, entrants: &[Entrant]) -> Vec<Row> {
    let mut all = entrants.iter();
    let floor = all.find(|entrant| entrant.contender == Contender::Floor);
    let row = |entrant: &Entrant| Row {
        placement,
        contender: entrant.contender,
        alone: Run::of(&entrant.alone),
        loaded: Run::of(&entrant.loaded),
        beside_alone: Shares::of(&entrant.loaded, &entrant.alone),
        alone_beside_floor: floor.map(|floor| Shares::of(&entrant.alone, &floor.alone)),
        loaded_beside_floor: floor.map(|floor| Shares::of(&entrant.loaded, &floor.loaded)),
        low_rate: median(&entrant.rates),
        low_beside_floor: floor.and_then(|floor| paired_ratio(&entrant.rates, &floor.rates)),
    };
    entrants.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parsed::parsed;

    fn parse(arguments: &[&str]) -> std::result::Result<Options, clap::Error> {
        parsed(arguments)
    }

    #[test]
    fn a_batch_has_twice_its_time_and_no_more_than_the_longest() {
        let batch = parse(&["--calls=1000"]).unwrap().batch(15);
        assert_eq!((batch.warm_up, batch.pace), (50, 500));
        assert_eq!(batch.limit, 2 * 525 + 2000);
        let batch = parse(&["--calls=1000000"]).unwrap().batch(0);
        assert_eq!((batch.low, batch.limit), (0, LONGEST));
    }

    #[test]
    fn the_floor_takes_part_whoever_is_named_and_strangers_do_not() {
        let options = parse(&["--contenders=lanes"]).unwrap();
        let wanted = options.common.wanted(&CONTENDERS).unwrap();
        assert_eq!(wanted, [Contender::Floor, Contender::Lanes]);
        let options = parse(&["--contenders=orb-a-thread"]).unwrap();
        assert!(options.common.wanted(&CONTENDERS).is_err());
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for argument in [
            "--low=0",
            "--low=65",
            "--rounds=0",
            "--pace=0",
            "--pool-priority=81",
        ] {
            assert!(parse(&[argument]).is_err(), "{argument}");
        }
    }

    #[test]
    fn shares_are_of_the_floor_in_the_same_rounds() {
        let entrant = |contender, alone: [u64; 2], loaded: [u64; 2], rates: [f64; 2]| {
            let mut entrant = Entrant {
                contender,
                pair: None,
                alone: Record::default(),
                loaded: Record::default(),
                rates: rates.to_vec(),
            };
            for (alone, loaded) in alone.into_iter().zip(loaded) {
                entrant.alone.add_round(&[alone; 9]);
                entrant.loaded.add_round(&[loaded; 9]);
            }
            entrant
        };
        let entrants = [
            entrant(Contender::Floor, [10, 20], [20, 40], [100.0, 50.0]),
            entrant(Contender::Lanes, [10, 20], [30, 60], [80.0, 40.0]),
        ];
        let rows = rows(Placement::Cross, &entrants);
        assert_eq!(rows[0].loaded_beside_floor.unwrap().p50, Some(1.0));
        assert_eq!(rows[1].loaded_beside_floor.unwrap().p50, Some(1.5));
        assert_eq!(rows[1].beside_alone.p99, Some(3.0));
        assert_eq!(rows[1].low_beside_floor, Some(0.8));
    }
}
