//! `throughput`: calls per second.
//!
//! *Two-way*: several threads of one client, all through one reference or each through its own;
//! they share a connection where the contender can, and a raw contender has a connection for each
//! thread. *One-way*: one thread, from the first request until the server has counted the last.

mod kind;

pub use kind::{Kind, Load};

use crate::Result;
use crate::contender::{self, Absent, Contender, Harness, Selection};
use crate::experiment::{
    self, Column, Experiment, Outcome, Pair, Report, Row, Stage, Tabled, Turn, Workload, record_of,
};
use crate::output::Json;
use crate::placement::{Placement, Processors};
use crate::protocol::{Command, MAX_THREADS, References};
use crate::statistics::Rates;
use crate::{omniorb, outsider};
use clap::Args;

/// Contenders that are measured if the command line names none. The outsider is one of them
/// because it is built like a user's program.
const USUAL: [&str; 3] = ["punctual", outsider::NAME, omniorb::NAME];
/// Number of one-ways for each two-way call.
const ONE_WAYS: u32 = 5;

pub(crate) static EXPERIMENT: Experiment = Experiment::new(
    "throughput",
    "how many calls a second, of one thread and of several",
)
.conditions("{rounds} rounds of {calls} two-way calls")
.tables(&[Tabled::listing(
    "rows",
    "calls a second: {load}, {placement} {references}",
    "{threads} × {contender}",
    &[
        Column::number("calls/s", "rate").marked_by("noisy"),
        Column::spread(),
        Column::ratio("× floor", "ratio").known_by("known"),
        Column::ratio("× omniORB", "beside_omniorb").known_by("beside_omniorb_known"),
    ],
)
.each(&["load", "references", "placement"])]);

/// Options of the command `throughput`.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Only these contenders, and their baselines; `all` for every one.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub contenders: Vec<String>,
    /// Calls of the client.
    #[arg(long, value_delimiter = ',', default_values = ["one-way", "buffered", "two-way"])]
    pub loads: Vec<Load>,
    /// Threads of the client that makes two-way calls; each number is a run of its own.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 4, 8, 32])]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_THREADS)))]
    pub threads: Vec<u32>,
    /// Let these threads share a reference, or give each its own.
    #[arg(long, value_delimiter = ',', default_values = ["shared", "own"])]
    pub references: Vec<References>,
    /// Processors of client and server; buffered one-ways run at cross only.
    #[arg(long, value_delimiter = ',', default_values = ["same", "cross", "unpinned"])]
    pub placement: Vec<Placement>,
    #[command(flatten)]
    effort: Effort,
    #[command(flatten)]
    json: Json,
}

/// Effort of the measurement: the number of rounds, calls and repetitions.
#[derive(Clone, Copy, Debug, Args)]
pub struct Effort {
    /// Rounds, in each of which every contender has its turn.
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
    /// Two-way calls of a round, of all threads together; one-ways are five times as many.
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub calls: u32,
    /// Repetitions of a kind whose rates vary by more than 10 %; the attempt with the least noise
    /// counts.
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

/// Workload of this measurement: the number of calls in a contender's turn.
struct Flood(u32);

impl Workload for Flood {
    type Setting = Kind;
    type Contender = Contender;
    type Point = Kind;
    type Record = Rates;

    fn start(&self, stage: &Stage<Self>, who: &Contender, at: Option<Processors>) -> Result<Pair> {
        who.start(&stage.setting.launch(at))
    }

    fn turn(&self, turn: Turn<'_, Self>, rates: &mut Rates) -> Result<()> {
        let Kind {
            load,
            threads,
            references,
            ..
        } = *turn.point;
        if load != Load::TwoWay {
            let calls = self.0.saturating_mul(ONE_WAYS);
            let each = turn.pair.ask(Command::Run {
                case: kind::PING,
                warm_up: calls.div_ceil(10),
                calls,
            })?;
            each.iter().for_each(|&each| rates.add_round(1, each));
            return Ok(());
        }
        // Each thread makes an equal share.
        let whole = |calls: u32| calls.div_ceil(threads) * threads;
        let mut flood = |calls| {
            turn.pair.ask(Command::Flood {
                threads,
                calls,
                references: references.unwrap_or(References::Shared),
            })
        };
        flood(whole(self.0.div_ceil(10)))?;
        let took = flood(whole(self.0))?;
        took.iter()
            .for_each(|&took| rates.add_round(u64::from(whole(self.0)), took));
        Ok(())
    }

    fn rows(&self, _: &Stage<Self>, kind: &Kind, outcomes: &[Outcome<'_, Self>]) -> Vec<Row> {
        let row = |(contender, rates): &Outcome<'_, Self>| {
            let floor = record_of::<Self>(outcomes, |other| other.name == contender.floor);
            let omniorb = record_of::<Self>(outcomes, |other| {
                other.name.starts_with(omniorb::NAME)
                    && other.floor == contender.floor
                    && other.name != contender.name
            });
            let known = |other: Option<&Rates>| {
                !rates.is_noisy() && other.is_none_or(|other| !other.is_noisy())
            };
            let row = kind
                .on(Row::default())
                .with("contender", contender.name)
                .with("rate", rates.rate()?)
                .with("spread", rates.spread()?)
                .with("noisy", rates.is_noisy())
                .with("floor", contender.floor)
                .with("ratio", floor.and_then(|floor| rates.ratio_to(floor)))
                .with("known", known(floor))
                .with(
                    "beside_omniorb",
                    omniorb.and_then(|its| rates.ratio_to(its)),
                )
                .with("beside_omniorb_known", known(omniorb));
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
    let wanted = Selection::named_or(&options.contenders, &USUAL)?;
    let (contenders, absent) = contender::known(harness, &wanted);
    let report = measure(&contenders, &absent, &options.kinds(), options.effort);
    options.json.deliver(&report)
}

/// Measures these kinds for every contender that starts.
pub(crate) fn measure(
    contenders: &[Contender],
    absent: &[Absent],
    kinds: &[Kind],
    effort: Effort,
) -> Report {
    let settings = Row::default()
        .with("rounds", effort.rounds)
        .with("calls", effort.calls);
    let mut report = Report::without(&EXPERIMENT, settings, absent);
    let stage = |&kind: &Kind| Stage {
        setting: kind,
        placement: kind.placement,
        contenders: contenders
            .iter()
            .filter(|one| kind.suits(one))
            .cloned()
            .collect(),
        points: vec![kind],
    };
    let stages: Vec<_> = kinds.iter().map(stage).collect();
    let rounds = experiment::Effort {
        rounds: effort.rounds,
        again: effort.again,
    };
    experiment::run(&Flood(effort.calls), &stages, rounds, &mut report);
    report
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
        let two_way = |threads| Kind::two_way(threads, References::Own, Placement::Unpinned);
        assert_eq!(chosen.unwrap(), [two_way(2), two_way(8)]);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for arguments in ["--threads=0", "--threads=257", "--loads=none", "--rounds=0"] {
            assert!(kinds(&[arguments]).is_err(), "{arguments}");
        }
    }

    /// Returns a report of contenders, given the mean time of a call in each of three rounds.
    fn measured(times: [(&'static str, [u64; 3]); 3]) -> Report {
        let outcomes = times.map(|(name, times)| {
            let mut rates = Rates::default();
            for time in times {
                rates.add_round(1, time);
            }
            (Contender::imagined(name, "raw-tcp"), rates)
        });
        let outcomes: Vec<_> = outcomes.iter().map(|(who, rates)| (who, rates)).collect();
        let kind = Kind::one_way(Placement::Same);
        let stage = Stage {
            setting: kind,
            placement: Placement::Same,
            contenders: Vec::new(),
            points: Vec::new(),
        };
        let mut report = Report::new(&EXPERIMENT, Row::default());
        report.add("rows", Flood(1).rows(&stage, &kind, &outcomes));
        report
    }

    #[test]
    fn rates_are_compared_within_a_round_with_the_floor_and_with_omniorb() {
        let report = measured([
            ("raw-tcp", [100, 104, 102]),
            ("punctual", [125, 130, 128]),
            ("omniorb", [250, 260, 255]),
        ]);
        let ours = &report.rows()[1];
        assert!((ours.number("ratio").unwrap() - 0.8).abs() < 1e-9);
        assert!((ours.number("beside_omniorb").unwrap() - 2.0).abs() < 1e-9);
        assert!((ours.number("rate").unwrap() - 1e9 / 128.0).abs() < 1e-3);
        assert!(ours.flag("known") && ours.flag("beside_omniorb_known") && !ours.flag("noisy"));
        assert_eq!(report.rows()[2].number("beside_omniorb"), None);
    }

    #[test]
    fn a_ratio_of_which_one_side_was_restless_is_not_known() {
        let report = measured([
            ("raw-tcp", [100, 200, 400]),
            ("punctual", [125, 125, 125]),
            ("omniorb", [250, 250, 250]),
        ]);
        let ours = &report.rows()[1];
        assert!(!ours.flag("known") && ours.flag("beside_omniorb_known") && !ours.flag("noisy"));
        assert!(report.rows()[0].flag("noisy"));
        let text = report.to_string();
        assert!(
            text.contains("not known") && text.contains("2.00"),
            "{text}"
        );
    }
}
