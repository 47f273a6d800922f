//! `latency`: time of calls; the contenders take turns.
//!
//! A case is a point of the series; ratios to the floor are taken within a round.

use crate::Result;
use crate::case::{self, Case};
use crate::contender::{self, Absent, Contender, Harness, Selection};
use crate::experiment::{
    self, Chart, Column, Effort, Experiment, Outcome, Pair, Report, Row, Sheet, Stage, Tabled,
    Turn, Workload, record_of,
};
use crate::output::Output;
use crate::placement::{Placement, Processors};
use crate::protocol::Command;
use crate::running::Launch;
use crate::statistics::{Record, paired_ratio};
use clap::Args;

pub(crate) static EXPERIMENT: Experiment = Experiment::new(
    "latency",
    "how long calls take, by operation and size, beside what the operating \
        system takes",
)
.reproduces("Gokhale and Schmidt 1998, figures 10 to 26")
.frames(&["contenders", "rows"])
.conditions("medians of {rounds} rounds' medians, of {calls} calls each")
.tables(&[
    Tabled::listing(
        "contenders",
        "contenders",
        "{name}",
        &[Column::text("", "description")],
    ),
    Tabled::listing(
        "rows",
        "{placement}, µs (throw_… and ping: one-ways, the mean of a batch)",
        "{case} {contender}",
        &[
            Column::micros("median", "median").marked_by("noisy"),
            Column::spread(),
            Column::micros("p50", "p50").shown_by("two_way"),
            Column::micros("p99", "p99").shown_by("two_way"),
            Column::micros("p99.9", "p999").shown_by("two_way"),
            Column::ratio("× floor", "ratio"),
            Column::ratio("p99", "p99_ratio").shown_by("two_way"),
        ],
    )
    .each(&["placement"]),
])
.sheet(Sheet::new(
    (480, 360),
    3,
    &[Chart::lines(
        "rows",
        "{placement}, {operation}",
        ("units", "units"),
        &[("{contender}", "median")],
        (1000.0, "µs"),
    )
    .logarithmic(true, false)
    .least(2)
    .each(&["placement", "operation"])],
));

/// Factor by which a batch of one-ways with [`SHORT`] requests has more calls: they take so little
/// time, and the scheduler lets each side run for so long, that a batch needs more of them.
const ONE_WAYS: u32 = 30;
/// Upper bound of short requests, in bytes.
const SHORT: usize = 4096;
/// Size in bytes from which requests take so long that a batch has a tenth as many calls.
const LONG: usize = 1 << 19;

/// Options of the command `latency`.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Processors of client and server.
    #[arg(long, value_delimiter = ',', default_values = ["same", "cross"])]
    pub placement: Vec<Placement>,
    /// Only these contenders, and their baselines; `all` for every one.
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
    /// Timed calls of a contender in a round; 1,000, or 300 with --quick. A tenth as many warm-up
    /// calls come first. One-ways with short requests are 30 times as many; calls with requests of
    /// half a MiB and more, a tenth.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub calls: Option<u32>,
    /// Repetitions of a case whose rounds differ by more than 10 %; the attempt with the least
    /// noise counts.
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
    /// Maximum number of repetitions of a case with too large a spread.
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

/// Workload of this measurement: the number of calls in a contender's turn.
struct Batches(u32);

impl Workload for Batches {
    type Setting = ();
    type Contender = Contender;
    type Point = Case;
    type Record = Record;

    fn start(&self, _: &Stage<Self>, who: &Contender, at: Option<Processors>) -> Result<Pair> {
        who.start(&Launch {
            processors: at,
            ..Launch::default()
        })
    }

    fn suits(&self, contender: &Contender, case: &Case, _: &Pair) -> bool {
        contender.knows(*case)
    }

    /// Runs a warm-up batch, in which buffers reach their final size.
    fn warm_up(&self, turn: Turn<'_, Self>) -> Result<()> {
        let case = *turn.point;
        turn.pair.ask(Command::Run {
            case,
            warm_up: 0,
            calls: batch(case, self.0).div_ceil(10),
        })?;
        Ok(())
    }

    fn turn(&self, turn: Turn<'_, Self>, record: &mut Record) -> Result<()> {
        let calls = batch(*turn.point, self.0);
        record.add_round(&turn.pair.ask(Command::Run {
            case: *turn.point,
            warm_up: calls.div_ceil(10),
            calls,
        })?);
        Ok(())
    }

    fn rows(&self, stage: &Stage<Self>, case: &Case, outcomes: &[Outcome<'_, Self>]) -> Vec<Row> {
        let row = |(contender, record): &Outcome<'_, Self>| {
            let floor = record_of::<Self>(outcomes, |other| other.name == contender.floor);
            let floor = floor.filter(|floor| floor.figures().is_some());
            let p99 = floor.and_then(|floor| paired_ratio(record.p99s(), floor.p99s()));
            let row = Row::default()
                .with("placement", stage.placement)
                .with("operation", case.operation.name())
                .with("units", case.units)
                .with("case", case.to_string())
                .with("two_way", case.operation.is_two_way())
                .with("contender", contender.name)
                .with_figures(&record.figures()?)
                .with("floor", contender.floor)
                .with("ratio", floor.and_then(|floor| record.ratio_to(floor)))
                .with("p99_ratio", p99)
                .with(
                    "noisy",
                    record.is_noisy() || floor.is_some_and(Record::is_noisy),
                );
            Some(row)
        };
        outcomes.iter().filter_map(row).collect()
    }
}

/// Runs the command.
///
/// # Errors
/// A contender fails, or a file cannot be written.
pub fn run(harness: &Harness, options: &Options) -> Result<()> {
    let wanted = Selection::named(&options.contenders)?;
    let (contenders, absent) = contender::known(harness, &wanted);
    let report = measure(&contenders, &absent, &options.plan());
    options.output.deliver(&report)
}

/// Runs every case by every contender that starts.
pub(crate) fn measure(contenders: &[Contender], absent: &[Absent], plan: &Plan) -> Report {
    let settings = Row::default()
        .with("rounds", plan.rounds)
        .with("calls", plan.calls);
    let mut report = Report::without(&EXPERIMENT, settings, absent);
    let participant = |contender: &Contender| {
        Row::default()
            .with("name", contender.name)
            .with("description", &contender.description)
    };
    report.add("contenders", contenders.iter().map(participant));
    let stage = |&placement: &Placement| Stage {
        setting: (),
        placement,
        contenders: contenders
            .iter()
            .filter(|one| one.suits(placement))
            .cloned()
            .collect(),
        points: plan.cases.clone(),
    };
    let stages: Vec<_> = plan.placements.iter().map(stage).collect();
    let effort = Effort {
        rounds: plan.rounds,
        again: plan.again,
    };
    experiment::run(&Batches(plan.calls), &stages, effort, &mut report);
    report
}

/// Returns the number of calls in a batch of a case.
fn batch(case: Case, calls: u32) -> u32 {
    match case.lengths().request {
        LONG.. => calls.div_ceil(10),
        ..=SHORT if !case.operation.is_two_way() => calls.saturating_mul(ONE_WAYS),
        _ => calls,
    }
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
        let record = |samples: [u64; 4]| {
            let mut record = Record::default();
            for sample in samples {
                record.add_round(&[sample]);
            }
            record
        };
        let (wild, wilder) = (record([10, 20, 40, 10]), record([20, 40, 80, 20]));
        let calm = record([5; 4]);
        let contenders = [
            Contender::imagined("raw-tcp", "raw-tcp"),
            Contender::imagined("other", "raw-tcp"),
            Contender::imagined("raw-unix", "raw-unix"),
            Contender::imagined("alone", "raw-shm"),
        ];
        let records = [&wild, &wilder, &calm, &wilder];
        let outcomes: Vec<_> = contenders.iter().zip(records).collect();
        let case = Case::plain(case::Operation::CubeVoid);
        let stage = Stage::at_each(&[Placement::Same], &[], &[]).remove(0);
        let rows = Batches(1).rows(&stage, &case, &outcomes);
        assert_eq!(
            rows.iter().map(Row::is_doubtful).collect::<Vec<_>>(),
            [true, true, false, true]
        );
        assert_eq!(rows[0].number("ratio"), Some(1.0));
        assert_eq!(rows[1].number("ratio"), Some(2.0));
        assert_eq!(rows[1].number("p99_ratio"), Some(2.0));
        assert_eq!(rows[3].number("ratio"), None);
    }

    /// Returns the printed report of one row.
    fn shown(operation: &str, two_way: bool, noisy: bool) -> String {
        let mut record = Record::default();
        record.add_round(&[12_340; 10]);
        let row = Row::default()
            .with("case", format!("{operation}:8"))
            .with("contender", "floor")
            .with("two_way", two_way)
            .with_figures(&record.figures().unwrap())
            .with("p99_ratio", 1.5)
            .with("noisy", noisy);
        let mut report = Report::new(&EXPERIMENT, Row::default());
        report.skip("omniorb: not here");
        report.add("rows", [row]);
        anstream::adapter::strip_str(&report.to_string()).to_string()
    }

    #[test]
    fn a_one_way_shows_no_percentiles_of_single_calls() {
        let text = shown("throw_octets", false, false);
        let mut lines = text.lines();
        let line = lines.find(|line| line.starts_with("throw_octets:8"));
        let words: Vec<&str> = line.unwrap().split_whitespace().collect();
        assert_eq!(words[2..], ["12.34", "0.0", "–", "–", "–", "–", "–"]);
    }

    #[test]
    fn what_was_skipped_and_what_was_noisy_is_said() {
        let text = shown("take_octets", true, true);
        assert!(text.contains("skipped omniorb: not here"));
        assert!(text.contains("12.34!") && text.contains("1.50"), "{text}");
        assert!(text.contains("! not known") && text.contains("(1 of 1)"));
    }
}
