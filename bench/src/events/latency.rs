//! `events latency`: time from a push to its arrival, through a channel in another process, beside
//! two one-way messages of raw sockets.

use super::goals::GOALS;
use super::priorities::Policy;
use super::setup::{Batch, Link, Remote, Setup, Through};
use crate::Result;
use crate::contender::Harness;
use crate::experiment::{
    self, Bound, Chart, Column, Effort, Experiment, Goal, Outcome, Pair, Report, Row, Sheet, Stage,
    Tabled, Turn, Workload, record_of, run as run_experiment, start,
};
use crate::output::Output;
use crate::placement::{Placement, Processors};
use crate::protocol::Order;
use crate::statistics::{Record, paired_ratio};
use clap::Args;

/// Ways of an event, in the order of the tables.
const WAYS: [Through; 3] = [Through::Floor, Through::Reactive, Through::Threads];
/// Upper bound of the median's ratio to that of two one-way messages.
const OF_THE_FLOOR: Bound = Bound::AtMost(1.3);
/// Upper bound of p99's ratio to p50.
const OF_P50: Bound = Bound::AtMost(1.5);

pub(crate) static EXPERIMENT: Experiment = Experiment::new(
    "events latency",
    "how long an event takes through a channel in another process",
)
.frames(&["rows", "goals"])
.conditions("{rounds} rounds of {events} events of {octets} bytes, {scheduling}")
.tables(&[
    Tabled::listing(
        "rows",
        "{placement}, {link}: from a push to its arrival, µs (floor: two raw messages)",
        "{contender}",
        &[
            Column::micros("median", "median").marked_by("noisy"),
            Column::spread(),
            Column::micros("p50", "p50"),
            Column::micros("p99", "p99"),
            Column::micros("p99.9", "p999"),
            Column::ratio("p99/p50", "p99_beside_p50"),
            Column::ratio("× floor", "ratio"),
            Column::ratio("p99", "p99_ratio"),
        ],
    )
    .each(&["placement", "link"]),
    GOALS,
])
.sheet(Sheet::new(
    (420, 300),
    2,
    &[Chart::bars(
        "rows",
        "{placement}, {link}: from a push to its arrival",
        "contender",
        "median",
        (1000.0, "µs"),
    )
    .beneath(Column::ratio("", "ratio").followed_by(" × floor"))
    .each(&["placement", "link"])],
));

/// Options of the command `events latency`.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Processors of the channel's process and of the other.
    #[arg(long, value_delimiter = ',', default_values = ["same", "cross"])]
    placement: Vec<Placement>,
    /// Links of both processes.
    #[arg(long, value_delimiter = ',', default_values = ["iiop", "uiop"])]
    link: Vec<Link>,
    /// Bytes of an event's payload.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=1_048_576))]
    octets: u32,
    /// Events of a contender in a round; a tenth as many warm up.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    events: u32,
    /// Rounds.
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Repetitions of a measurement whose rounds differ by more than 10 %; the attempt with the
    /// least noise counts.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(0..=100))]
    again: u32,
    /// Schedule all threads by SCHED_FIFO, with one priority, where the machine grants it.
    #[arg(long)]
    fifo: bool,
    #[command(flatten)]
    output: Output,
}

struct Pushes<'h> {
    harness: &'h Harness,
    options: &'h Options,
    policy: Policy,
}

impl Workload for Pushes<'_> {
    type Setting = Link;
    type Contender = Through;
    /// Number of events.
    type Point = u32;
    type Record = Record;

    fn start(&self, stage: &Stage<Self>, who: &Through, at: Option<Processors>) -> Result<Pair> {
        let setup = Setup::Latency(Remote {
            through: *who,
            link: stage.setting,
            octets: self.options.octets as usize,
            policy: self.policy,
        });
        start(self.harness, &experiment::Setup::Events(setup), at)
    }

    fn turn(&self, turn: Turn<'_, Self>, record: &mut Record) -> Result<()> {
        let batch = Batch {
            warm_up: turn.point.div_ceil(10),
            events: *turn.point,
            loaded: false,
        };
        record.add_round(&turn.pair.ask(Order(batch))?);
        Ok(())
    }

    fn rows(&self, stage: &Stage<Self>, _: &u32, outcomes: &[Outcome<'_, Self>]) -> Vec<Row> {
        let floor = record_of::<Self>(outcomes, |who| *who == Through::Floor);
        let row = |(who, record): &Outcome<'_, Self>| {
            let p99 = floor.and_then(|floor| paired_ratio(record.p99s(), floor.p99s()));
            let row = Row::default()
                .with("placement", stage.placement)
                .with("link", stage.setting)
                .with("contender", who.to_string())
                .with_figures(&record.figures()?)
                .with(
                    "p99_beside_p50",
                    paired_ratio(record.p99s(), record.medians()),
                )
                .with("ratio", floor.and_then(|floor| record.ratio_to(floor)))
                .with("p99_ratio", p99)
                .with(
                    "noisy",
                    record.is_noisy() || floor.is_none_or(Record::is_noisy),
                );
            Some(row)
        };
        outcomes.iter().filter_map(row).collect()
    }
}

/// Runs the command.
///
/// # Errors
/// A process fails, or a file cannot be written.
pub(super) fn run(harness: &Harness, options: &Options) -> Result<()> {
    let settings = |policy: Policy| {
        Row::default()
            .with("events", options.events)
            .with("octets", options.octets)
            .with("rounds", options.rounds)
            .with("scheduling", policy.name())
    };
    let mut report = Report::new(&EXPERIMENT, Row::default());
    let policy = Policy::granted(options.fifo, &mut report);
    report.settings = settings(policy);
    let effort = Effort {
        rounds: options.rounds,
        again: options.again,
    };
    let pushes = Pushes {
        harness,
        options,
        policy,
    };
    run_experiment(&pushes, &options.stages(), effort, &mut report);
    let judged = judge(report.rows(), policy);
    report.add("goals", judged);
    options.output.deliver(&report)
}

impl Options {
    fn stages<'h>(&self) -> Vec<Stage<Pushes<'h>>> {
        let stage = |&placement: &Placement, &setting: &Link| Stage {
            setting,
            placement,
            contenders: WAYS.to_vec(),
            points: vec![self.events],
        };
        let at = |placement| self.link.iter().map(move |link| stage(placement, link));
        self.placement.iter().flat_map(at).collect()
    }
}

/// Returns the goals of each channel. The ratio of p99 to p50 is judged with `SCHED_FIFO` only, and
/// shown otherwise.
fn judge(rows: &[Row], policy: Policy) -> Vec<Row> {
    let channels = rows.iter().filter(|row| !row.is("contender", "floor"));
    let judged = channels.flat_map(|row| {
        let place = ["placement", "link", "contender"].iter();
        let place = place.fold(Row::default(), |place, name| {
            place.with(name, row.get(name))
        });
        let beside_floor = Goal {
            what: "p50 / two one-way messages",
            bound: OF_THE_FLOOR,
            reached: row.number("ratio"),
            noisy: row.flag("noisy"),
        };
        let beside_p50 = Goal {
            what: "p99 / p50, by SCHED_FIFO",
            bound: OF_P50,
            reached: row.number("p99_beside_p50"),
            noisy: policy != Policy::Fifo || row.flag("noisy"),
        };
        [beside_floor, beside_p50].map(|goal| goal.on(place.clone()))
    });
    judged.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parsed::parsed;

    #[test]
    fn each_link_runs_at_each_placement_beside_its_floor() {
        let options: Options = parsed(&["--placement=same,cross"]).unwrap();
        let stages = options.stages();
        let stages: Vec<_> = stages
            .iter()
            .map(|one| (one.placement, one.setting))
            .collect();
        let (same, cross) = (Placement::Same, Placement::Cross);
        let links = [Link::Iiop, Link::Uiop];
        let expected = [same, cross].map(|at| links.map(|link| (at, link)));
        assert_eq!(stages, expected.concat());
    }

    #[test]
    fn goals_are_of_channels_and_the_tail_is_judged_by_real_time_scheduling_only() {
        let row = |contender: &str, ratio: f64| {
            Row::default()
                .with("contender", contender)
                .with("ratio", ratio)
                .with("p99_beside_p50", 1.6)
        };
        let rows = [
            row("floor", 1.0),
            row("reactive", 1.3),
            row("threads", 1.31),
        ];
        let verdicts = |policy| -> Vec<String> {
            let judged = judge(&rows, policy);
            judged.iter().map(|goal| goal.text("verdict")).collect()
        };
        assert_eq!(
            verdicts(Policy::Other),
            ["ok", "not_known", "missed", "not_known"]
        );
        assert_eq!(verdicts(Policy::Fifo), ["ok", "missed", "missed", "missed"]);
    }

    #[test]
    fn options_out_of_their_range_are_refused() {
        for argument in ["--rounds=0", "--events=0", "--octets=1048577", "--link=tcp"] {
            assert!(parsed::<Options>(&[argument]).is_err(), "{argument}");
        }
    }
}
