//! `events throughput`: events a second through a channel's process to several consumers, and the
//! processor time that they cost there.

use super::priorities::Policy;
use super::setup::{Flow, Link, Remote, Setup, Stream, Through};
use crate::Result;
use crate::contender::Harness;
use crate::experiment::{
    self, Bound, Chart, Column, Effort, Experiment, Goal, Outcome, Pair, Report, Row, Sheet, Stage,
    Tabled, Turn, Workload, goals_named, run as run_experiment, start,
};
use crate::output::Output;
use crate::placement::{Placement, Processors};
use crate::protocol::Order;
use crate::statistics::Rates;
use clap::Args;

/// Ways of an event, in the order of the tables.
const WAYS: [Through; 2] = [Through::Reactive, Through::Threads];
/// Lower bound of the events that go through a second.
const RATE: Bound = Bound::AtLeast(1_000_000.0);

pub(crate) static EXPERIMENT: Experiment = Experiment::new(
    "events throughput",
    "how many events a second go through a channel's process, and what they cost there",
)
.frames(&["rows", "goals"])
.conditions("{rounds} rounds of {events} events of {octets} bytes to {consumers} consumers")
.tables(&[
    Tabled::listing(
        "rows",
        "{placement}, {link}, batches of {batch}: events a second, all of which each consumer receives",
        "{contender}",
        &[
            Column::number("events/s", "rate").marked_by("noisy"),
            Column::spread(),
            Column::number("events / s of processor", "by_processor").marked_by("noisy_processor"),
        ],
    )
    .each(&["placement", "link", "batch"]),
    goals_named("{what}, batches of {batch}: {placement} {link} {contender}"),
])
.sheet(Sheet::new(
    (420, 300),
    2,
    &[Chart::bars(
        "rows",
        "{placement}, {link}, batches of {batch}",
        "contender",
        "rate",
        (1.0, "events a second"),
    )
    .each(&["placement", "link", "batch"])],
));

/// Options of the command `events throughput`.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Processors of the channel's process and of the other, which has the supplier and the consumers.
    #[arg(long, value_delimiter = ',', default_values = ["cross"])]
    placement: Vec<Placement>,
    /// Links of both processes.
    #[arg(long, value_delimiter = ',', default_values = ["iiop", "uiop"])]
    link: Vec<Link>,
    /// Bytes of an event's payload.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(..=1_048_576))]
    octets: u32,
    /// Events of a push.
    #[arg(long, value_delimiter = ',', default_values_t = [100], value_parser = clap::value_parser!(u32).range(1..=10_000))]
    batch: Vec<u32>,
    /// Number of consumers.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=64))]
    consumers: u16,
    /// Events of a round; a tenth as many warm up.
    #[arg(long, default_value_t = 200_000, value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    events: u32,
    /// Rounds.
    #[arg(long, default_value_t = 11, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    #[command(flatten)]
    output: Output,
}

/// Rates of a contender: by the clock, and by the processor time of the channel's process.
#[derive(Debug, Default)]
struct Flows {
    by_clock: Rates,
    by_processor: Rates,
}

struct Streams<'h> {
    harness: &'h Harness,
    options: &'h Options,
}

impl Workload for Streams<'_> {
    type Setting = Link;
    type Contender = Through;
    /// Number of events in a push.
    type Point = u32;
    type Record = Flows;

    fn start(&self, stage: &Stage<Self>, who: &Through, at: Option<Processors>) -> Result<Pair> {
        let setup = Setup::Throughput(Stream {
            remote: Remote {
                through: *who,
                link: stage.setting,
                octets: self.options.octets as usize,
                policy: Policy::Other,
            },
            consumers: self.options.consumers,
        });
        start(self.harness, &experiment::Setup::Events(setup), at)
    }

    fn warm_up(&self, turn: Turn<'_, Self>) -> Result<()> {
        let flow = Flow {
            events: (self.options.events / 10).max(*turn.point),
            batch: *turn.point,
        };
        turn.pair.ask(Order(flow)).map(drop)
    }

    fn turn(&self, turn: Turn<'_, Self>, record: &mut Flows) -> Result<()> {
        let flow = Flow {
            events: self.options.events.max(*turn.point),
            batch: *turn.point,
        };
        let (_, channel) = turn.pair.observed();
        let before = channel.processor_time()?;
        let took = turn.pair.ask(Order(flow))?;
        let used = channel.processor_time()?.saturating_sub(before);
        let events = u64::from(flow.events / flow.batch * flow.batch);
        record.by_processor.add_round(events, used);
        took.iter()
            .for_each(|&took| record.by_clock.add_round(events, took));
        Ok(())
    }

    fn rows(&self, stage: &Stage<Self>, batch: &u32, outcomes: &[Outcome<'_, Self>]) -> Vec<Row> {
        let row = |(who, flows): &Outcome<'_, Self>| {
            Row::default()
                .with("placement", stage.placement)
                .with("link", stage.setting)
                .with("batch", *batch)
                .with("contender", who.to_string())
                .with("rate", flows.by_clock.rate())
                .with("spread", flows.by_clock.spread())
                .with("noisy", flows.by_clock.is_noisy())
                .with("by_processor", flows.by_processor.rate())
                .with("noisy_processor", flows.by_processor.is_noisy())
        };
        outcomes.iter().map(row).collect()
    }
}

/// Runs the command.
///
/// # Errors
/// A process fails, or a file cannot be written.
pub(super) fn run(harness: &Harness, options: &Options) -> Result<()> {
    let settings = Row::default()
        .with("events", options.events)
        .with("octets", options.octets)
        .with("consumers", options.consumers)
        .with("rounds", options.rounds);
    let mut report = Report::new(&EXPERIMENT, settings);
    let effort = Effort::from(options.rounds);
    let streams = Streams { harness, options };
    run_experiment(&streams, &options.stages(), effort, &mut report);
    let judged = judge(report.rows());
    report.add("goals", judged);
    options.output.deliver(&report)
}

impl Options {
    fn stages<'h>(&self) -> Vec<Stage<Streams<'h>>> {
        let stage = |&placement: &Placement, &setting: &Link| Stage {
            setting,
            placement,
            contenders: WAYS.to_vec(),
            points: self.batch.clone(),
        };
        let at = |placement| self.link.iter().map(move |link| stage(placement, link));
        self.placement.iter().flat_map(at).collect()
    }
}

/// Returns the goal of each row.
fn judge(rows: &[Row]) -> Vec<Row> {
    let judged = rows.iter().map(|row| {
        let place = ["placement", "link", "batch", "contender"].iter();
        let place = place.fold(Row::default(), |place, name| {
            place.with(name, row.get(name))
        });
        let goal = Goal {
            what: "events a second",
            bound: RATE,
            reached: row.number("rate"),
            noisy: row.flag("noisy"),
        };
        goal.on(place)
    });
    judged.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parsed::parsed;

    #[test]
    fn each_link_has_a_series_over_the_sizes_of_batches() {
        let options: Options = parsed(&["--batch=1,100"]).unwrap();
        let stages = options.stages();
        let links: Vec<_> = stages.iter().map(|one| one.setting).collect();
        assert_eq!(links, [Link::Iiop, Link::Uiop]);
        assert!(stages.iter().all(|one| one.points == [1, 100]));
    }

    #[test]
    fn a_million_events_a_second_are_the_goal() {
        let rows = [999_999.0, 1e6].map(|rate| Row::default().with("rate", rate));
        let verdicts: Vec<_> = judge(&rows)
            .iter()
            .map(|goal| goal.text("verdict"))
            .collect();
        assert_eq!(verdicts, ["missed", "ok"]);
    }

    #[test]
    fn options_out_of_their_range_are_refused() {
        for argument in ["--rounds=0", "--events=0", "--batch=0", "--consumers=65"] {
            assert!(parsed::<Options>(&[argument]).is_err(), "{argument}");
        }
    }
}
