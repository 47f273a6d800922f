//! `oneway`: one-way requests with each sync scope, and buffered, beside two-way requests: O'Ryan
//! et al. 2001's figures 16 and 17 (§5.2 and §5.3).
//!
//! A server counts requests. For figure 17, it also tests, 1,000 times for each request, whether a
//! number is prime. A turn is a series of requests of one kind, by default as many as in the paper;
//! it is timed from before the first request until the server has served the last. One client sends
//! the requests of all kinds.

mod client;
mod server;

pub(crate) use client::call;
pub(crate) use server::serve;

use crate::Result;
use crate::contender::Harness;
use crate::experiment::{
    self, Bound, Chart, Column, Experiment, Outcome, Pair, Report, Row, Sheet, Stage, Tabled, Turn,
    Workload, run as run_experiment, start,
};
use crate::output::Output;
use crate::placement::{Placement, Processors};
use crate::protocol::Order;
use crate::statistics::Rates;
use clap::Args;
use client::Kind;
use serde::{Deserialize, Serialize};

/// Rust that the IDL compiler generates from `oneway.idl`.
#[allow(missing_docs, clippy::all)]
pub(crate) mod idl {
    include!(concat!(env!("OUT_DIR"), "/oneway.rs"));
}

pub(crate) static EXPERIMENT: Experiment = Experiment::new(
    "oneway",
    "what it costs to wait for one-ways, and what buffering them gains",
)
.reproduces("O'Ryan et al. 2001, figures 16 and 17")
.conditions("{rounds} rounds of {requests} requests of each kind")
.tables(&[Tabled::listing(
    "rows",
    "{figure} one-ways, {octets} bytes, {placement}",
    "{kind}",
    &[
        Column::number("requests/s", "rate"),
        Column::spread(),
        Column::ratio("× first", "ratio").known_by("known"),
        Column::ratio("at least", "goal").faint(),
        Column::text("goal", "verdict"),
    ],
)
.each(&["placement", "figure", "octets"])])
.sheet(Sheet::new(
    (900, 360),
    1,
    &[Chart::bars(
        "rows",
        "{figure} one-ways, {octets} bytes, {placement}",
        "kind",
        "rate",
        (1.0, "requests a second"),
    )
    .beneath(Column::ratio("", "ratio").followed_by(" ×"))
    .each(&["placement", "figure", "octets"])],
))
.remarks(&[
    "The paper's buffered one-ways reach more than 2 × unbuffered ones, its \
        SYNC_WITH_SERVER more than 1.5 × two-way.",
]);

/// Options of the command `oneway`.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Processors of client and server.
    #[arg(long, value_delimiter = ',', default_values = ["same", "cross"])]
    placement: Vec<Placement>,
    /// Bytes of each request of figure 16. The paper's are of 9 KiB.
    #[arg(long, value_delimiter = ',', default_values_t = [64, 9216])]
    octets: Vec<usize>,
    /// Requests that a buffer holds in figure 16, for each buffered kind.
    #[arg(long, value_delimiter = ',', default_values_t = [2, 5, 10, 20, 50, 100, 200, 500])]
    counts: Vec<usize>,
    /// Requests of a run.
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..))]
    requests: u32,
    /// Rounds.
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Prime tests that the servant makes for each request of figure 17.
    #[arg(long, default_value_t = 1000)]
    tests: u32,
    /// Number that is tested for being prime.
    #[arg(long, default_value_t = 17)]
    number: u32,
    #[command(flatten)]
    output: Output,
}

/// Figure of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Figure {
    /// Figure 16: buffered one-ways compared with unbuffered ones.
    Buffered,
    /// Figure 17: reliable one-ways compared with two-way requests.
    Reliable,
}

/// Setup of both processes.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Setup {
    /// Bytes of each request's argument.
    octets: usize,
    /// Prime tests for each request.
    tests: u32,
    /// Number that the servant tests for being prime.
    number: u32,
}

struct OneWays<'h>(&'h Harness);

impl Workload for OneWays<'_> {
    type Setting = (Figure, Setup);
    type Contender = Kind;
    /// Number of requests.
    type Point = u32;
    type Record = Rates;

    fn shares(&self, _: &Kind) -> bool {
        true
    }

    fn start(&self, stage: &Stage<Self>, _: &Kind, at: Option<Processors>) -> Result<Pair> {
        start(self.0, &experiment::Setup::Oneway(stage.setting.1), at)
    }

    fn warm_up(&self, turn: Turn<'_, Self>) -> Result<()> {
        self.turn(turn, &mut Rates::default())
    }

    fn turn(&self, turn: Turn<'_, Self>, record: &mut Rates) -> Result<()> {
        let requests = *turn.point;
        let took = turn.pair.ask(Order((*turn.contender, requests)))?;
        took.iter()
            .for_each(|&took| record.add_round(u64::from(requests), took));
        Ok(())
    }

    /// Returns a row for each kind of request, with the ratio of its rate to the first kind's.
    fn rows(&self, stage: &Stage<Self>, _: &u32, outcomes: &[Outcome<'_, Self>]) -> Vec<Row> {
        let (figure, setup) = stage.setting;
        let row = |(kind, rates): &Outcome<'_, Self>| {
            let (_, base) = outcomes.first()?;
            let known = !rates.is_noisy() && !base.is_noisy();
            let ratio = rates.ratio_to(base)?;
            let goal = goal(stage, **kind);
            let verdict = goal.map(|goal| Bound::AtLeast(goal).verdict(Some(ratio), !known));
            let row = Row::default()
                .with("figure", figure)
                .with("placement", stage.placement)
                .with("octets", setup.octets)
                .with("kind", kind.to_string())
                .with("rate", rates.rate())
                .with("spread", rates.spread())
                .with("ratio", ratio)
                .with("known", known)
                .with("goal", goal)
                .with("verdict", verdict);
            Some(row)
        };
        outcomes.iter().filter_map(row).collect()
    }
}

/// Returns the smallest ratio that satisfies the goal, for the two kinds that have one: the last
/// buffered kind, with small requests, and SYNC_WITH_SERVER, where client and server have a
/// processor each.
fn goal(stage: &Stage<OneWays<'_>>, kind: Kind) -> Option<f64> {
    let is_small = stage.setting.1.octets <= 64;
    match kind {
        Kind::Buffered(_) if is_small && stage.contenders.last() == Some(&kind) => Some(3.0),
        Kind::WithServer if stage.placement == Placement::Cross => Some(1.5),
        _ => None,
    }
}

/// Runs the command.
///
/// # Errors
/// A process fails, or a file cannot be written.
pub fn run(harness: &Harness, options: &Options) -> Result<()> {
    let settings = Row::default()
        .with("requests", options.requests)
        .with("rounds", options.rounds);
    let mut report = Report::new(&EXPERIMENT, settings);
    run_experiment(
        &OneWays(harness),
        &options.stages(),
        options.rounds,
        &mut report,
    );
    options.output.deliver(&report)
}

impl Options {
    fn stages<'h>(&self) -> Vec<Stage<OneWays<'h>>> {
        let at = |&placement| self.stages_at(placement);
        self.placement.iter().flat_map(at).collect()
    }

    fn stages_at<'h>(&self, placement: Placement) -> Vec<Stage<OneWays<'h>>> {
        let stage = |figure, octets, tests, contenders| Stage {
            setting: (
                figure,
                Setup {
                    octets,
                    tests,
                    number: self.number,
                },
            ),
            placement,
            contenders,
            points: vec![self.requests],
        };
        let buffered = |&octets| stage(Figure::Buffered, octets, 0, Kind::buffered(&self.counts));
        let reliable = stage(Figure::Reliable, 64, self.tests, Kind::RELIABLE.to_vec());
        self.octets.iter().map(buffered).chain([reliable]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parsed::parsed;

    #[test]
    fn figure_16_runs_for_each_size_and_figure_17_once() {
        let options: Options = parsed(&["--placement=same", "--counts=10,100"]).unwrap();
        let stages = options.stages();
        let sizes: Vec<usize> = stages.iter().map(|one| one.setting.1.octets).collect();
        assert_eq!(sizes, [64, 9216, 64]);
        assert_eq!(stages[0].contenders.len(), 4);
        assert_eq!(stages[2].setting.0, Figure::Reliable);
    }

    #[test]
    fn kinds_are_compared_with_the_first_within_a_round() {
        let options: Options = parsed(&["--placement=cross"]).unwrap();
        let stages = options.stages();
        let stage = stages.last().unwrap();
        let rates = |times: [u64; 3]| {
            let mut rates = Rates::default();
            for time in times {
                rates.add_round(100, time);
            }
            rates
        };
        let (base, own) = (rates([160, 163, 166]), rates([100, 102, 104]));
        let outcomes = [(&Kind::TwoWay, &base), (&Kind::WithServer, &own)];
        let harness = Harness {
            program: "".into(),
            peers: "".into(),
        };
        let rows = OneWays(&harness).rows(stage, &stage.points[0], &outcomes);
        assert!((rows[1].number("ratio").unwrap() - 1.6).abs() < 0.01);
        assert!(rows[1].flag("known") && rows[1].is("verdict", "ok"));
    }
}
