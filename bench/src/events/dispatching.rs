//! `events dispatching`: time from a push to its receipt by urgent consumers, alone and beside
//! consumers of lower levels that compute. All of them are in one process, without an ORB.

use super::goals::GOALS;
use super::priorities::{MOST_LEVELS, Policy};
use super::setup::{Batch, By, Local, Setup};
use crate::Result;
use crate::contender::Harness;
use crate::experiment::{
    self, Bound, Chart, Column, Experiment, Goal, Outcome, Pair, Report, Row, Sheet, Stage, Tabled,
    Turn, Workload, run as run_experiment, start,
};
use crate::output::Output;
use crate::placement::{Placement, Processors};
use crate::protocol::Order;
use crate::statistics::{Record, paired_ratio};
use clap::Args;

/// Ways of dispatching, in the order of the tables.
const WAYS: [By; 4] = [By::Reactive, By::Threads, By::Pool, By::Single];
/// Upper bound of the ratio of p99 beside a load to p99 alone.
const BESIDE_ALONE: Bound = Bound::AtMost(1.3);
/// Largest share of a processor that a load may use, in percent: the kernel stops real-time threads
/// that use more than 95 % of a second (`sched_rt_runtime_us`).
const MOST_LOAD: u64 = 90;
/// Name of the only point: a batch without load, and one with it.
const BOTH: &str = "alone and beside the load";

pub(crate) static EXPERIMENT: Experiment = Experiment::new(
    "events dispatching",
    "whether urgent consumers get events as soon beside others that compute",
)
.reproduces(
    "Schmidt's slides on real-time ORBs, \"Real-time Event Channel Dispatching Experiments\"",
)
.frames(&["rows", "goals"])
.conditions(
    "{scheduling}: an event each {pace} µs to {high} urgent consumers; beside them each {low_pace} \
        µs one to {low} others, which compute for {work} µs; {rounds} rounds of {events} events",
)
.tables(&[
    Tabled::listing(
        "rows",
        "{placement}: from a push to its receipt by urgent consumers, µs",
        "{contender} {load}",
        &[
            Column::number("receipts", "samples").faint(),
            Column::micros("p50", "p50").marked_by("noisy"),
            Column::micros("p99", "p99"),
            Column::micros("p99.9", "p999"),
            Column::micros("max", "max"),
            Column::ratio("p50/alone", "p50_beside_alone"),
            Column::ratio("p99/alone", "p99_beside_alone"),
            Column::number("events computed for", "served").faint(),
        ],
    )
    .each(&["placement"]),
    GOALS,
])
.sheet(Sheet::new(
    (760, 340),
    1,
    &[Chart::bars(
        "rows",
        "{placement}: p99 from a push to its receipt by urgent consumers",
        "contender",
        "p99",
        (1000.0, "µs"),
    )
    .grouped_by("load")
    .each(&["placement"])],
))
.remarks(&["single, one thread for all levels, is shown for comparison, and has no goal."]);

/// Options of the command `events dispatching`.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Processors of all threads: `same` is one processor, `unpinned` all.
    #[arg(long, value_delimiter = ',', default_values = ["same"])]
    placement: Vec<Placement>,
    /// Only these ways of dispatching.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    contenders: Vec<By>,
    /// Number of urgent consumers.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=100))]
    high: u16,
    /// Number of consumers that compute, each of a level of its own.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=i64::from(MOST_LEVELS)))]
    low: u16,
    /// Processor time that one of these uses for an event, in microseconds. All of them together may
    /// use 90 % of `--low-pace`.
    #[arg(long, default_value_t = 100, value_name = "MICROSECONDS", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    work: u64,
    /// Microseconds from an urgent event to the next.
    #[arg(long, default_value_t = 700, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pace: u64,
    /// Microseconds from another event to the next.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    low_pace: u64,
    /// Urgent events of a contender in a round, alone and beside the load; a tenth as many warm up.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    events: u32,
    /// Rounds.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Schedule threads by SCHED_OTHER, even where the machine grants SCHED_FIFO.
    #[arg(long)]
    best_effort: bool,
    #[command(flatten)]
    output: Output,
}

struct Dispatched<'h> {
    harness: &'h Harness,
    options: &'h Options,
    policy: Policy,
}

/// Times of a contender's urgent consumers, alone and beside the load.
#[derive(Debug, Default)]
struct Times {
    alone: Record,
    loaded: Record,
    /// Number of events for which consumers have computed.
    served: u64,
}

impl Workload for Dispatched<'_> {
    type Setting = ();
    type Contender = By;
    type Point = &'static str;
    type Record = Times;

    fn start(&self, _: &Stage<Self>, who: &By, at: Option<Processors>) -> Result<Pair> {
        let setup = Setup::Dispatching(self.options.local(*who, self.policy));
        start(self.harness, &experiment::Setup::Events(setup), at)
    }

    fn turn(&self, turn: Turn<'_, Self>, times: &mut Times) -> Result<()> {
        let mut batch = Batch {
            warm_up: self.options.events.div_ceil(10),
            events: self.options.events,
            loaded: false,
        };
        let alone = turn.pair.ask(Order(batch))?;
        batch.loaded = true;
        let loaded = turn.pair.ask(Order(batch))?;
        times.alone.add_round(alone.get(1..).unwrap_or_default());
        times.loaded.add_round(loaded.get(1..).unwrap_or_default());
        times.served += loaded.first().copied().unwrap_or_default();
        Ok(())
    }

    /// Returns two rows for each contender: alone, and beside the load.
    fn rows(&self, stage: &Stage<Self>, _: &&str, outcomes: &[Outcome<'_, Self>]) -> Vec<Row> {
        let rows = |(who, times): &Outcome<'_, Self>| {
            let (alone, loaded) = (&times.alone, &times.loaded);
            let noisy = alone.is_noisy() || loaded.is_noisy();
            let row = |load: &str, record: &Record| {
                let row = Row::default()
                    .with("placement", stage.placement)
                    .with("contender", who.to_string())
                    .with("load", load)
                    .with_figures(&record.figures()?);
                Some(row.with("noisy", noisy))
            };
            let p99 = paired_ratio(loaded.p99s(), alone.p99s());
            let beside = |row: Row| {
                row.with("p50_beside_alone", loaded.ratio_to(alone))
                    .with("p99_beside_alone", p99)
                    .with("served", times.served)
            };
            [row("alone", alone), row("loaded", loaded).map(beside)]
        };
        outcomes.iter().flat_map(rows).flatten().collect()
    }
}

/// Runs the command.
///
/// # Errors
/// Options that do not fit together, a process that fails, or a file that cannot be written.
pub(super) fn run(harness: &Harness, options: &Options) -> Result<()> {
    options.check()?;
    let mut report = Report::new(&EXPERIMENT, Row::default());
    let policy = Policy::granted(!options.best_effort, &mut report);
    report.settings = options.settings(policy);
    let dispatched = Dispatched {
        harness,
        options,
        policy,
    };
    let contenders = match options.contenders.is_empty() {
        true => WAYS.to_vec(),
        false => options.contenders.clone(),
    };
    let stages = Stage::at_each(&options.placement, &contenders, &[BOTH]);
    run_experiment(&dispatched, &stages, options.rounds, &mut report);
    let judged = judge(report.rows(), policy);
    report.add("goals", judged);
    options.output.deliver(&report)
}

impl Options {
    /// Checks that the load leaves time to others, and that placements are of one process.
    ///
    /// # Errors
    /// The first option that has to be another.
    fn check(&self) -> Result<()> {
        let used = u64::from(self.low) * self.work * 100 / self.low_pace;
        if used > MOST_LOAD {
            return Err(format!(
                "{} consumers that compute for {} µs each {} µs use {used} % of a processor: \
                    at most {MOST_LOAD} % are possible, so lower `--low` or `--work`, or raise `--low-pace`",
                self.low, self.work, self.low_pace
            )
            .into());
        }
        match self.placement.contains(&Placement::Cross) {
            true => Err(
                "`--placement=cross` needs two processes, and here is one: use `same` or \
                `unpinned`"
                    .into(),
            ),
            false => Ok(()),
        }
    }

    fn local(&self, by: By, policy: Policy) -> Local {
        Local {
            by,
            high: self.high,
            low: self.low,
            work: self.work,
            pace: self.pace,
            low_pace: self.low_pace,
            policy,
        }
    }

    fn settings(&self, policy: Policy) -> Row {
        Row::default()
            .with("scheduling", policy.name())
            .with("high", self.high)
            .with("low", self.low)
            .with("work", self.work)
            .with("pace", self.pace)
            .with("low_pace", self.low_pace)
            .with("events", self.events)
            .with("rounds", self.rounds)
    }
}

/// Returns the goal of each way of dispatching but the single thread. Without real-time priorities
/// no verdict is known.
fn judge(rows: &[Row], policy: Policy) -> Vec<Row> {
    let loaded = rows.iter().filter(|row| row.is("load", "loaded"));
    let judged = loaded
        .filter(|row| !row.is("contender", "single"))
        .map(|row| {
            let goal = Goal {
                what: "p99 beside the load / alone",
                bound: BESIDE_ALONE,
                reached: row.number("p99_beside_alone"),
                noisy: policy != Policy::Fifo || row.flag("noisy"),
            };
            let place = Row::default().with("placement", row.get("placement"));
            goal.on(place.with("contender", row.get("contender")))
        });
    judged.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parsed::parsed;

    fn parse(arguments: &[&str]) -> std::result::Result<Options, clap::Error> {
        parsed(arguments)
    }

    #[test]
    fn a_load_that_leaves_no_time_to_others_is_refused() {
        assert!(parse(&["--low=9"]).unwrap().check().is_ok());
        let refused = parse(&["--low=10"]).unwrap().check().unwrap_err();
        let text = refused.to_string();
        assert!(
            text.contains("100 %") && text.contains("--low-pace"),
            "{text}"
        );
    }

    #[test]
    fn one_process_is_not_placed_on_two_processors() {
        assert!(parse(&["--placement=same,cross"]).unwrap().check().is_err());
        assert!(parse(&["--placement=unpinned"]).unwrap().check().is_ok());
    }

    #[test]
    fn goals_need_real_time_priorities_and_a_single_thread_has_none() {
        let row = |contender: &str, load: &str| {
            Row::default()
                .with("contender", contender)
                .with("load", load)
                .with("p99_beside_alone", 1.3)
        };
        let rows = [
            row("threads", "alone"),
            row("threads", "loaded"),
            row("single", "loaded"),
        ];
        let verdicts = |policy| -> Vec<String> {
            let judged = judge(&rows, policy);
            judged.iter().map(|goal| goal.text("verdict")).collect()
        };
        assert_eq!(verdicts(Policy::Fifo), ["ok"]);
        assert_eq!(verdicts(Policy::Other), ["not_known"]);
    }

    #[test]
    fn options_out_of_their_range_are_refused() {
        for argument in [
            "--high=0",
            "--low=61",
            "--work=0",
            "--pace=0",
            "--contenders=none",
        ] {
            assert!(parse(&[argument]).is_err(), "{argument}");
        }
    }
}
