//! `rt latency`: time of a paced high client's calls, alone and beside low clients at full load.

use super::awake::Awake;
use super::batch::{Batch, perform};
use super::setup::{Contender, MOST};
use super::{Common, scheduled, start};
use crate::Result;
use crate::contender::Harness;
use crate::experiment::{
    Bound, Chart, Column, Experiment, GOALS, Goal, Outcome, Pair, Report, Row, Sheet, Stage,
    Tabled, Turn, Workload, record_of, run as run_experiment,
};
use crate::output::Output;
use crate::peer::nanoseconds;
use crate::placement::Processors;
use crate::statistics::{Rates, Record, paired_ratio};
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
/// Goals for lanes: each has the name of the figure, its bound, and the path to the figure in a
/// row. Other contenders are shown for comparison only.
const OF_LANES: [(&str, Bound, &str); 5] = [
    (
        "p99 beside the load / alone",
        Bound::AtMost(1.3),
        "beside_alone.p99",
    ),
    (
        "p99.9 beside the load / alone",
        Bound::AtMost(2.0),
        "beside_alone.p999",
    ),
    (
        "p50 beside the load / floor's",
        Bound::AtMost(1.25),
        "loaded_beside_floor.p50",
    ),
    (
        "p99 beside the load / floor's",
        Bound::AtMost(1.5),
        "loaded_beside_floor.p99",
    ),
    (
        "low clients' calls / floor's",
        Bound::AtLeast(0.85),
        "low_beside_floor",
    ),
];

pub(crate) static EXPERIMENT: Experiment = Experiment::new(
    "rt latency",
    "whether an urgent client's calls take as long beside a load as alone",
)
.frames(&["rows", "goals"])
.conditions(
    "{link}, {scheduling}: a call each {pace} µs beside {low} low clients, \
        {rounds} rounds, upcalls of {work} µs; a pool's threads at \
        {pool_priority}",
)
.tables(&[
    Tabled::listing(
        "rows",
        "{placement}: the high client's calls alone, µs",
        "{contender}",
        &[
            Column::number("calls", "alone.samples").faint(),
            Column::micros("p50", "alone.p50")
                .decimals(1)
                .marked_by("noisy"),
            Column::micros("p90", "alone.p90").decimals(1),
            Column::micros("p99", "alone.p99").decimals(1),
            Column::micros("p99.9", "alone.p999").decimals(1),
            Column::micros("max", "alone.max").decimals(1),
            Column::ratio("p50/floor", "alone_beside_floor.p50"),
            Column::ratio("p99", "alone_beside_floor.p99"),
            Column::ratio("p99.9", "alone_beside_floor.p999"),
        ],
    )
    .each(&["placement"]),
    Tabled::listing(
        "rows",
        "{placement}: the high client's calls beside the load, µs",
        "{contender}",
        &[
            Column::number("calls", "loaded.samples").faint(),
            Column::micros("p50", "loaded.p50")
                .decimals(1)
                .marked_by("noisy"),
            Column::micros("p90", "loaded.p90").decimals(1),
            Column::micros("p99", "loaded.p99").decimals(1),
            Column::micros("p99.9", "loaded.p999").decimals(1),
            Column::micros("max", "loaded.max").decimals(1),
            Column::ratio("p50/alone", "beside_alone.p50"),
            Column::ratio("p99", "beside_alone.p99"),
            Column::ratio("p99.9", "beside_alone.p999"),
            Column::ratio("p50/floor", "loaded_beside_floor.p50"),
            Column::ratio("p99", "loaded_beside_floor.p99"),
            Column::ratio("p99.9", "loaded_beside_floor.p999"),
            Column::number("low calls/s", "low_rate"),
            Column::ratio("/floor", "low_beside_floor"),
        ],
    )
    .each(&["placement"]),
    GOALS,
])
.sheet(Sheet::new(
    (620, 420),
    1,
    &[Chart::lines(
        "rows",
        "{placement}: high client beside {low} low ones",
        ("", "one call in … takes at least"),
        &[
            ("{contender} loaded", "loaded.one_in"),
            ("{contender} alone", "alone.one_in"),
        ],
        (1000.0, "µs"),
    )
    .logarithmic(true, true)
    .each(&["placement"])],
));

/// Options of the command `rt latency`.
#[derive(Clone, Debug, Args)]
pub struct Options {
    #[command(flatten)]
    common: Common,
    /// Number of low clients, each with a priority of its own.
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u16).range(1..=i64::from(MOST)))]
    low: u16,
    /// Timed calls of the high client, for each contender in a round: alone, and beside the load.
    /// At most as many as it makes in 15 seconds.
    #[arg(long, default_value_t = 5000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    calls: u32,
    /// Microseconds from the start of a call of the high client to the start of the next.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pace: u64,
    /// Rounds.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    #[command(flatten)]
    output: Output,
}

impl Options {
    /// Returns a batch with the given number of low clients.
    fn batch(&self, low: u16) -> Batch {
        let warm_up = self.calls.div_ceil(20);
        let paced = u64::from(self.calls + warm_up) * self.pace / 1000;
        Batch {
            low,
            calls: self.calls,
            warm_up,
            pace: self.pace,
            low_pace: 0,
            low_calls: 0,
            limit: (2 * paced + 2000).min(LONGEST),
        }
    }
}

struct Urgent<'h> {
    harness: &'h Harness,
    options: &'h Options,
}

/// Name of the series' only point: one batch without load, and one with it.
const BOTH: &str = "alone and beside the load";

/// Figures of one contender.
#[derive(Debug, Default)]
struct ContenderFigures {
    alone: Record,
    loaded: Record,
    /// Low clients' calls per second.
    rates: Rates,
}

impl Workload for Urgent<'_> {
    type Setting = ();
    type Contender = Contender;
    type Point = &'static str;
    type Record = ContenderFigures;

    fn start(&self, _: &Stage<Self>, who: &Contender, at: Option<Processors>) -> Result<Pair> {
        let setup = self.options.common.setup(*who, self.options.low, false);
        start(self.harness, &setup, at)
    }

    fn turn(&self, turn: Turn<'_, Self>, seen: &mut ContenderFigures) -> Result<()> {
        // Without a load the processors would halt between calls.
        let awake = turn.at.map(Awake::on).transpose()?;
        let alone = perform(turn.pair, &self.options.batch(0))?;
        drop(awake);
        let loaded = perform(turn.pair, &self.options.batch(self.options.low))?;
        seen.alone.add_round(&alone.high);
        seen.loaded.add_round(&loaded.high);
        let calls = loaded.low_in_all().calls;
        seen.rates.add_round(calls, nanoseconds(loaded.took));
        Ok(())
    }

    fn rows(&self, stage: &Stage<Self>, _: &&str, outcomes: &[Outcome<'_, Self>]) -> Vec<Row> {
        let floor = record_of::<Self>(outcomes, |who| *who == Contender::Floor);
        let row = |(contender, seen): &Outcome<'_, Self>| {
            let low = floor.and_then(|floor| seen.rates.ratio_to(&floor.rates));
            let (alone, loaded) = (&seen.alone, &seen.loaded);
            Row::default()
                .with("placement", stage.placement)
                .with("contender", contender)
                .with("alone", times(alone))
                .with("loaded", times(loaded))
                .with("beside_alone", shares(loaded, alone))
                .with(
                    "alone_beside_floor",
                    floor.map(|floor| shares(alone, &floor.alone)),
                )
                .with(
                    "loaded_beside_floor",
                    floor.map(|floor| shares(loaded, &floor.loaded)),
                )
                .with("low_rate", seen.rates.rate())
                .with("low_beside_floor", low)
                .with("noisy", alone.is_noisy() || loaded.is_noisy())
        };
        outcomes.iter().map(row).collect()
    }
}

/// Returns the figures of all rounds, or `None` if there were none. `one_in` is the tail of the
/// distribution: pairs of a number n, in steps of about 1.26, and the time that one in n calls
/// exceeds.
fn times(record: &Record) -> Option<Row> {
    let figures = record.figures()?;
    let steps = (0..).map(|step| 10_f64.powf(f64::from(step) / 10.0));
    #[allow(clippy::cast_precision_loss)]
    let steps = steps.take_while(|one_in| *one_in <= figures.samples as f64);
    let point = |one_in: f64| (one_in.round(), record.quantile(1.0 - 1.0 / one_in));
    Some(
        Row::default()
            .with_figures(&figures)
            .with("p90", record.quantile(0.9))
            .with("one_in", steps.map(point).collect::<Vec<_>>()),
    )
}

/// Returns the ratios of one record's figures to another's: the median over the rounds, and for
/// p99.9, for which one round has too few samples, the ratio over all rounds together.
#[allow(clippy::cast_precision_loss)]
fn shares(one: &Record, other: &Record) -> Row {
    let p999 = || Some((one.figures()?.p999 as f64, other.figures()?.p999 as f64));
    Row::default()
        .with("p50", one.ratio_to(other))
        .with("p99", paired_ratio(one.p99s(), other.p99s()))
        .with("p999", p999().map(|(one, other)| one / other))
}

/// Returns the verdict on each goal at each placement at which lanes were measured. Without
/// real-time priorities all verdicts are "not known".
fn judge(rows: &[Row], best_effort: bool) -> Vec<Row> {
    let lanes = rows.iter().filter(|row| row.is("contender", "lanes"));
    let judged = lanes.flat_map(|row| {
        OF_LANES.map(|(what, bound, path)| {
            let goal = Goal {
                what,
                bound,
                reached: row.number(path),
                noisy: best_effort || row.flag("noisy"),
            };
            goal.on(Row::default().with("placement", row.get("placement")))
        })
    });
    judged.collect()
}

/// Runs the command.
///
/// # Errors
/// The machine does not grant real-time priorities, a contender fails, or a file cannot be written.
pub(super) fn run(harness: &Harness, options: &Options) -> Result<()> {
    let common = &options.common;
    common.check_rights()?;
    let settings = Row::default()
        .with("link", common.link)
        .with("scheduling", scheduled(common.best_effort))
        .with("low", options.low)
        .with("calls", options.calls)
        .with("pace", options.pace)
        .with("rounds", options.rounds)
        .with("work", common.work)
        .with("pool_priority", common.pool_priority);
    let mut report = Report::new(&EXPERIMENT, settings);
    let contenders = common.wanted(&CONTENDERS)?;
    let stages = Stage::at_each(&common.placement, &contenders, &[BOTH]);
    run_experiment(
        &Urgent { harness, options },
        &stages,
        options.rounds,
        &mut report,
    );
    let judged = judge(report.rows(), common.best_effort);
    report.add("goals", judged);
    options.output.deliver(&report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parsed::parsed;
    use crate::placement::Placement;
    use serde_json::json;

    fn row(contender: &str) -> Row {
        Row::default()
            .with("contender", contender)
            .with(
                "beside_alone",
                json!({"p50": 9.0, "p99": 1.3, "p999": 2.01}),
            )
            .with("loaded_beside_floor", json!({"p50": 1.0}))
            .with("low_beside_floor", 0.84)
    }

    #[test]
    fn a_goal_is_reached_on_its_bound_and_missed_beyond_it() {
        let judged = judge(&[row("lanes")], false);
        let verdicts: Vec<String> = judged.iter().map(|one| one.text("verdict")).collect();
        assert_eq!(verdicts, ["ok", "missed", "ok", "absent", "missed"]);
    }

    #[test]
    fn of_ordinary_threads_nothing_is_known_and_a_pool_has_no_goals() {
        let judged = judge(&[row("lanes")], true);
        let unknown = |one: &Row| one.is("verdict", "not_known") || one.is("verdict", "absent");
        assert!(judged.iter().all(unknown));
        assert!(judge(&[row("pool")], false).is_empty());
    }

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
        let seen = |alone: [u64; 2], loaded: [u64; 2], times: [u64; 2]| {
            let mut seen = ContenderFigures::default();
            for ((alone, loaded), time) in alone.into_iter().zip(loaded).zip(times) {
                seen.alone.add_round(&[alone; 9]);
                seen.loaded.add_round(&[loaded; 9]);
                seen.rates.add_round(1, time);
            }
            seen
        };
        let floor = seen([10, 20], [20, 40], [100, 200]);
        let lanes = seen([10, 20], [30, 60], [125, 250]);
        let stage = Stage::at_each(&[Placement::Cross], &[], &[]).remove(0);
        let urgent = Urgent {
            harness: &Harness::this().unwrap(),
            options: &parse(&[]).unwrap(),
        };
        let outcomes = [(&Contender::Floor, &floor), (&Contender::Lanes, &lanes)];
        let rows = urgent.rows(&stage, &BOTH, &outcomes);
        assert_eq!(rows[0].number("loaded_beside_floor.p50"), Some(1.0));
        assert_eq!(rows[1].number("loaded_beside_floor.p50"), Some(1.5));
        assert_eq!(rows[1].number("beside_alone.p99"), Some(3.0));
        assert_eq!(rows[1].number("low_beside_floor"), Some(0.8));
    }
}
