//! `latency`: time of calls, by contenders in turn.
//!
//! A case is run in rounds. In each round every contender makes a batch of calls, and the order
//! rotates from round to round, so that a temporary slowdown of the machine affects all contenders.
//! Ratios are taken within a round, and their median is reported. A case whose rounds lie too far
//! apart is run again, and its calmest attempt counts.

mod plot;
mod report;

pub use report::{Participant, Report, Row};

use crate::Result;
use crate::attempts::{Unrest, calmest};
use crate::case::{self, Case};
use crate::contender::{self, Absent, Contender, Harness, Wanted};
use crate::machine::Machine;
use crate::output::{Output, progress};
use crate::placement::Placement;
use crate::running::{Launch, Running, in_turn};
use crate::statistics::{Record, paired_ratio};
use clap::Args;

/// Spread of the floor's or a contender's own medians above which its figures count as unknown.
pub const NOISY: f64 = 0.10;
/// Factor of the calls of a batch of one-ways while requests are [`SHORT`]: one-ways are over so
/// soon, and the scheduler lets each side run for so long, that a batch needs more of them.
const ONE_WAYS: u32 = 30;
/// Upper bound of short requests, in bytes.
const SHORT: usize = 4096;
/// Size in bytes from which requests take so long that a batch has a tenth as many calls.
const LONG: usize = 1 << 19;

/// Options of the command.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Processors of client and server.
    #[arg(long, value_delimiter = ',', default_values = ["same", "cross"])]
    pub placement: Vec<Placement>,
    /// Only these contenders, and their floors; `all` for every one.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub contenders: Vec<String>,
    /// Only these cases, e.g. cube_void,take_octets:4096; the default is Gokhale and Schmidt 1998's sweep.
    #[arg(long, value_delimiter = ',', conflicts_with = "quick")]
    pub cases: Vec<Case>,
    /// A few sizes and fewer calls: less than a minute.
    #[arg(long)]
    pub quick: bool,
    /// Rounds; 15, or 7 with --quick.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: Option<u32>,
    /// Calls of a contender in a round that count; 1,000, or 300 with --quick. A tenth as many come
    /// ahead of them and do not count. Of one-ways with short requests, 30 times as many; of requests of
    /// half a MiB and more, a tenth.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub calls: Option<u32>,
    /// Repetitions of a case whose rounds lie more than 10 % apart; the calmest attempt counts.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(0..=100))]
    pub again: u32,
    #[command(flatten)]
    output: Output,
}

/// Plan of a run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Processors of client and server.
    pub placements: Vec<Placement>,
    /// Cases to run.
    pub cases: Vec<Case>,
    /// Rounds of each case.
    pub rounds: u32,
    /// Calls of each contender in a round.
    pub calls: u32,
    /// Repetitions of a case with too large a spread.
    pub again: u32,
}

impl Options {
    fn cases(&self) -> Vec<Case> {
        match (self.cases.is_empty(), self.quick) {
            (false, _) => self.cases.clone(),
            (true, true) => case::quick(),
            (true, false) => case::full(),
        }
    }

    fn plan(&self) -> Plan {
        Plan {
            placements: self.placement.clone(),
            cases: self.cases(),
            rounds: self.rounds.unwrap_or(if self.quick { 7 } else { 15 }),
            calls: self.calls.unwrap_or(if self.quick { 300 } else { 1000 }),
            again: self.again,
        }
    }
}

/// Runs the command.
///
/// # Errors
/// A contender fails, or a file cannot be written.
pub fn run(harness: &Harness, options: &Options) -> Result<()> {
    let wanted = Wanted::named(&options.contenders)?;
    let (contenders, absent) = contender::known(harness, &wanted);
    let report = measure(&contenders, &absent, &options.plan())?;
    options.output.show(&report, plot::draw)?;
    match report.failed.len() {
        0 => Ok(()),
        number => Err(format!("{number} failure(s), see the end of the report").into()),
    }
}

/// Runs every case by every contender that starts.
///
/// # Errors
/// A contender does not end as it should.
pub fn measure(contenders: &[Contender], absent: &[Absent], plan: &Plan) -> Result<Report> {
    let mut report = Report {
        machine: Machine::this(),
        rounds: plan.rounds,
        calls: plan.calls,
        contenders: contenders.iter().map(Participant::from).collect(),
        skipped: absent.iter().map(report::absence).collect(),
        failed: Vec::new(),
        rows: Vec::new(),
    };
    let progress = progress(plan.placements.len() * plan.cases.len());
    for &placement in &plan.placements {
        match placement.pinned() {
            Err(reason) => report.skipped.push(format!("{placement}: {reason}")),
            Ok(processors) => {
                let launch = Launch {
                    processors: Some(processors),
                    ..Launch::default()
                };
                let suitable = contenders.iter().filter(|one| one.suits(placement));
                let mut field = Field::start(suitable, &launch, &mut report.skipped);
                for &case in &plan.cases {
                    progress.set_message(format!("{placement} {case}"));
                    let failed = &mut report.failed;
                    field.warm_up(case, plan, failed);
                    let attempt = || {
                        field.compete(case, plan, failed);
                        rows(placement, case, &field.0)
                    };
                    report
                        .rows
                        .extend(calmest(plan.again, attempt, |rows| unrest(rows)));
                    progress.inc(1);
                }
                field.stop()?;
            }
        }
    }
    progress.finish_and_clear();
    Ok(report)
}

/// Contenders of one placement, all started.
struct Field<'c>(Vec<Entrant<'c>>);

/// Contender with its results in the current case.
struct Entrant<'c> {
    contender: &'c Contender,
    running: Option<Running>,
    record: Record,
}

impl<'c> Field<'c> {
    /// Starts the contenders; those that do not start are skipped, with their reasons.
    fn start(
        contenders: impl Iterator<Item = &'c Contender>,
        launch: &Launch,
        skipped: &mut Vec<String>,
    ) -> Self {
        let mut entrants = Vec::new();
        for contender in contenders {
            match contender.start(launch) {
                Ok(running) => entrants.push(Entrant {
                    contender,
                    running: Some(running),
                    record: Record::default(),
                }),
                Err(reason) => {
                    let reason = reason.to_string();
                    if !skipped.contains(&reason) {
                        skipped.push(reason);
                    }
                }
            }
        }
        Self(entrants)
    }

    /// Runs a batch that does not count, in which buffers grow.
    fn warm_up(&mut self, case: Case, plan: &Plan, failed: &mut Vec<String>) {
        let calls = batch(case, plan.calls).div_ceil(10);
        for entrant in &mut self.0 {
            entrant.turn(case, 0, calls, failed);
        }
    }

    /// Makes one attempt at a case.
    fn compete(&mut self, case: Case, plan: &Plan, failed: &mut Vec<String>) {
        let calls = batch(case, plan.calls);
        let warm_up = calls.div_ceil(10);
        for entrant in &mut self.0 {
            entrant.record = Record::default();
        }
        for round in 0..plan.rounds as usize {
            for who in in_turn(round, self.0.len()) {
                self.0[who].turn(case, warm_up, calls, failed);
            }
        }
    }

    fn stop(self) -> Result<()> {
        let mut running = self.0.into_iter().filter_map(|entrant| entrant.running);
        running.try_for_each(Running::stop)
    }
}

impl Entrant<'_> {
    /// Runs a batch. A contender that fails is out from then on.
    fn turn(&mut self, case: Case, warm_up: u32, calls: u32, failed: &mut Vec<String>) {
        if !self.contender.knows(case) {
            return;
        }
        if let Some(running) = &mut self.running {
            match running.run(case, warm_up, calls) {
                Ok(samples) => self.record.add_round(&samples),
                Err(error) => {
                    failed.push(format!("{}: {case}: {error}", self.contender.name));
                    self.running = None;
                }
            }
        }
    }
}

/// Returns the number of calls of a batch.
fn batch(case: Case, calls: u32) -> u32 {
    match case.lengths().request {
        LONG.. => calls.div_ceil(10),
        ..=SHORT if !case.operation.is_two_way() => calls.saturating_mul(ONE_WAYS),
        _ => calls,
    }
}

fn unrest(rows: &[Row]) -> Unrest {
    Unrest::of(rows.iter().map(|row| (row.figures.spread, !row.noisy)))
}

fn rows(placement: Placement, case: Case, entrants: &[Entrant<'_>]) -> Vec<Row> {
    let row = |entrant: &Entrant<'_>| {
        let contender = entrant.contender;
        let floor = entrants
            .iter()
            .find(|other| other.contender.name == contender.floor)
            .map(|other| &other.record);
        let record = &entrant.record;
        let floors = floor.and_then(|floor| Some(floor.figures()?.spread));
        let figures = record.figures()?;
        Some(Row {
            placement,
            operation: case.operation.name(),
            units: case.units,
            two_way: case.operation.is_two_way(),
            contender: contender.name,
            figures,
            floor: contender.floor,
            ratio: floor.and_then(|floor| paired_ratio(record.medians(), floor.medians())),
            p99_ratio: floor.and_then(|floor| paired_ratio(record.p99s(), floor.p99s())),
            noisy: figures.spread.max(floors.unwrap_or_default()) > NOISY,
        })
    };
    entrants.iter().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parsed::parsed;

    fn parse(arguments: &[&str]) -> std::result::Result<Options, clap::Error> {
        parsed(arguments)
    }

    #[test]
    fn without_options_the_whole_sweep_runs_at_both_placements() {
        let options = parse(&[]).unwrap();
        assert_eq!(options.placement, [Placement::Same, Placement::Cross]);
        assert_eq!(options.cases(), case::full());
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
        assert_eq!(options.contenders, ["punctual"]);
    }

    #[test]
    fn quick_takes_fewer_rounds_unless_they_are_given() {
        assert!(parse(&["--quick"]).unwrap().plan().rounds < parse(&[]).unwrap().plan().rounds);
        assert_eq!(parse(&["--quick", "--rounds=3"]).unwrap().plan().rounds, 3);
    }

    #[test]
    fn short_one_ways_come_in_longer_batches() {
        let calls = |case: &str| batch(case.parse().unwrap(), 100);
        assert_eq!(calls("take_octets:1"), 100);
        assert_eq!(calls("throw_octets:1024"), 100 * ONE_WAYS);
        assert_eq!(calls("throw_bin_structs:1024"), 100);
    }

    #[test]
    fn calls_with_a_mebibyte_come_in_shorter_batches() {
        assert_eq!(batch("take_octets:1048576".parse().unwrap(), 100), 10);
        assert_eq!(batch("throw_octets:1048576".parse().unwrap(), 1), 1);
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
    fn who_is_restless_is_noisy_and_a_restless_floor_makes_all_of_its_kind_so() {
        let contenders = [
            Contender::imagined("raw-tcp", "raw-tcp"),
            Contender::imagined("other", "raw-tcp"),
            Contender::imagined("raw-unix", "raw-unix"),
            Contender::imagined("alone", "raw-shm"),
        ];
        let mut entrants = contenders.each_ref().map(|contender| Entrant {
            contender,
            running: None,
            record: Record::default(),
        });
        for (floor, other, calm) in [(10, 20, 5), (20, 40, 5), (40, 80, 5), (10, 20, 5)] {
            for (entrant, sample) in entrants.iter_mut().zip([floor, other, calm, other]) {
                entrant.record.add_round(&[sample]);
            }
        }
        let case = Case::plain(case::Operation::CubeVoid);
        let rows = rows(Placement::Same, case, &entrants);
        assert_eq!(
            rows.iter().map(|row| row.noisy).collect::<Vec<_>>(),
            [true, true, false, true]
        );
        assert_eq!(rows[0].ratio, Some(1.0));
        assert_eq!((rows[1].ratio, rows[1].p99_ratio), (Some(2.0), Some(2.0)));
        assert_eq!(rows[3].ratio, None);
    }
}
