//! `rt inversion`, `rt endpoints` and `rt pools`: the papers' experiments, over the number of low
//! clients.
//!
//! For O'Ryan et al. 2001's figures 14 and 15 the text has no numbers, only their tendency: with
//! endpoints of a priority, latency slightly below that of an ORB a thread, and jitter slightly
//! above. So none of its figures stand beside ours.

use super::batch::{Batch, perform};
use super::setup::{Contender, MOST};
use super::{Common, scheduled, start};
use crate::Result;
use crate::contender::Harness;
use crate::experiment::{
    self, Chart, Column, Experiment, Outcome, Pair, Report, Row, Sheet, Stage, Tabled, Turn,
    Workload,
};
use crate::output::Output;
use crate::placement::Processors;
use crate::statistics::Moments;
use clap::Args;

/// Upper bound of a batch, in milliseconds.
const LONGEST: u64 = 15_000;
/// Number of calls of each client in O'Ryan et al. 2001.
const PAPER: u32 = 20_000;

pub(crate) static INVERSION: Experiment = series(
    "rt inversion",
    "whether an urgent client waits for low ones of one priority, at full \
        load",
    "Schmidt 2000, the priority inversion test",
);
pub(crate) static ENDPOINTS: Experiment = series(
    "rt endpoints",
    "whether endpoints with priorities replace an ORB a thread",
    "O'Ryan et al. 2001, figures 14 and 15",
);
pub(crate) static POOLS: Experiment = series(
    "rt pools",
    "how thread pools and lanes keep an urgent client from waiting",
    "Schmidt 2000, the comparison of thread pools",
);

const TABLES: &[Tabled] = &[Tabled::listing(
    "rows",
    "{placement}: by low clients; µs",
    "{low} {contender}",
    &[
        Column::micros("high: mean", "high.mean").decimals(1),
        Column::micros("jitter", "high.jitter").decimals(1),
        Column::number("calls", "high.calls"),
        Column::micros("low: mean", "low_ones.mean").decimals(1),
        Column::micros("jitter", "low_ones.jitter").decimals(1),
        Column::number("calls", "low_ones.calls"),
    ],
)
.each(&["placement"])];

const CHARTS: &[Chart] = &[
    over_low(
        "{placement}: mean of a call",
        &[
            ("{contender}, high", "high.mean"),
            ("{contender}, low", "low_ones.mean"),
        ],
    ),
    over_low(
        "{placement}: jitter",
        &[
            ("{contender}, high", "high.jitter"),
            ("{contender}, low", "low_ones.jitter"),
        ],
    ),
];

const fn series(
    name: &'static str,
    question: &'static str,
    reproduces: &'static str,
) -> Experiment {
    Experiment::new(name, question)
        .reproduces(reproduces)
        .conditions(
            "{experiment}, {link}, {scheduling}: {calls} calls of the high client, {load}, in each of {rounds} rounds, \
        upcalls of {work} µs; jitter is the standard deviation",
        )
        .tables(TABLES)
        .sheet(Sheet::new((620, 420), 2, CHARTS))
}

const fn over_low(title: &'static str, curves: &'static [(&'static str, &'static str)]) -> Chart {
    Chart::lines(
        "rows",
        title,
        ("low", "low clients"),
        curves,
        (1000.0, "µs"),
    )
    .logarithmic(false, true)
    .each(&["placement"])
}

/// Options of `rt inversion`.
#[derive(Clone, Debug, Args)]
pub struct Inversion {
    /// Numbers of low clients.
    #[arg(long, value_delimiter = ',', default_values = ["1", "2", "5", "10", "20", "30", "40", "50"],
        value_parser = clap::value_parser!(u16).range(1..=i64::from(MOST)))]
    low: Vec<u16>,
    /// Give each low client a priority of its own, as in Schmidt 2000's comparison of operating systems.
    #[arg(long)]
    each: bool,
    /// Microseconds from the start of a call of a client to that of its next; 0: full load, at which low clients get
    /// no processor while the high one calls on the same.
    #[arg(long, default_value_t = 0, value_name = "MICROSECONDS", value_parser = clap::value_parser!(u64).range(..=100_000))]
    pace: u64,
    #[command(flatten)]
    usual: Usual,
}

/// Options of `rt endpoints`.
#[derive(Clone, Debug, Args)]
pub struct Endpoints {
    /// Numbers of low clients.
    #[arg(long, value_delimiter = ',', default_values = ["1", "3", "6", "9", "12", "15"],
        value_parser = clap::value_parser!(u16).range(1..=i64::from(MOST)))]
    low: Vec<u16>,
    /// 20,000 calls of each client, as in the paper.
    #[arg(long, conflicts_with = "calls")]
    paper: bool,
    #[command(flatten)]
    usual: Usual,
}

/// Options of `rt pools`.
#[derive(Clone, Debug, Args)]
pub struct Pools {
    /// Numbers of low clients.
    #[arg(long, value_delimiter = ',', default_values = ["1", "5", "10", "20", "30"],
        value_parser = clap::value_parser!(u16).range(1..=i64::from(MOST)))]
    low: Vec<u16>,
    #[command(flatten)]
    usual: Usual,
}

/// Options of all series.
#[derive(Clone, Debug, Args)]
struct Usual {
    #[command(flatten)]
    common: Common,
    /// Calls of the high client, for each number of low clients in a round; these call until it has
    /// finished. With endpoints, calls of each client.
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    calls: u32,
    /// Rounds; O'Ryan et al. 2001 has 3.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    #[command(flatten)]
    output: Output,
}

/// Plan of a series.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    experiment: &'static Experiment,
    /// Contenders of the experiment that the options have selected.
    contenders: Vec<Contender>,
    /// Set if all low clients have the same priority.
    alike: bool,
    low: Vec<u16>,
    calls: u32,
    /// Microseconds from one call of a client to the next; 0: full load.
    pace: u64,
    /// Number of calls of each low client; 0: as many as it makes until the high client has
    /// finished.
    low_calls: u32,
    usual: Usual,
}

impl Usual {
    /// Returns the plan of an experiment with these contenders.
    ///
    /// # Errors
    /// One of the selected contenders does not belong to the experiment.
    fn plan(
        &self,
        experiment: &'static Experiment,
        known: &[Contender],
        low: &[u16],
    ) -> Result<Plan> {
        Ok(Plan {
            experiment,
            contenders: self.common.wanted(known)?,
            alike: false,
            low: low.to_vec(),
            calls: self.calls,
            pace: 0,
            low_calls: 0,
            usual: self.clone(),
        })
    }
}

impl Inversion {
    pub(super) fn plan(&self) -> Result<Plan> {
        let known = [
            Contender::Floor,
            Contender::Lanes,
            Contender::Pool,
            Contender::OmniOrb,
        ];
        Ok(Plan {
            alike: !self.each,
            pace: self.pace,
            ..self.usual.plan(&INVERSION, &known, &self.low)?
        })
    }
}

impl Endpoints {
    pub(super) fn plan(&self) -> Result<Plan> {
        let known = [Contender::Floor, Contender::Lanes, Contender::OrbAThread];
        let calls = if self.paper { PAPER } else { self.usual.calls };
        Ok(Plan {
            calls,
            low_calls: calls,
            ..self.usual.plan(&ENDPOINTS, &known, &self.low)?
        })
    }
}

impl Pools {
    pub(super) fn plan(&self) -> Result<Plan> {
        let known = [
            Contender::Floor,
            Contender::Lanes,
            Contender::Pool,
            Contender::BufferedPool,
            Contender::PerConnection,
            Contender::OmniOrb,
        ];
        self.usual.plan(&POOLS, &known, &self.low)
    }
}

impl Plan {
    fn batch(&self, low: u16) -> Batch {
        Batch {
            low,
            calls: self.calls,
            warm_up: self.calls.div_ceil(20),
            pace: self.pace,
            low_pace: self.pace,
            low_calls: self.low_calls,
            limit: LONGEST,
        }
    }
}

struct Series<'h>(&'h Harness, &'h Plan);

impl Workload for Series<'_> {
    type Setting = ();
    type Contender = Contender;
    /// Number of low clients.
    type Point = u16;
    /// Times of the high client's calls, and of all low clients' calls together.
    type Record = (Moments, Moments);

    fn start(&self, _: &Stage<Self>, who: &Contender, at: Option<Processors>) -> Result<Pair> {
        let Self(harness, plan) = self;
        let most = plan.low.iter().copied().max().unwrap_or_default();
        let setup = plan.usual.common.setup(*who, most, plan.alike);
        start(harness, &setup, at)
    }

    fn turn(&self, turn: Turn<'_, Self>, (high, low): &mut (Moments, Moments)) -> Result<()> {
        let outcome = perform(turn.pair, &self.1.batch(*turn.point))?;
        *high = high.and(outcome.high.iter().copied().collect());
        *low = low.and(outcome.low_in_all());
        Ok(())
    }

    fn rows(&self, stage: &Stage<Self>, point: &u16, outcomes: &[Outcome<'_, Self>]) -> Vec<Row> {
        let row = |(contender, (high, low)): &Outcome<'_, Self>| {
            let row = Row::default()
                .with("placement", stage.placement)
                .with("contender", contender)
                .with("low", point)
                .with("high", times(*high)?)
                .with("low_ones", times(*low));
            Some(row)
        };
        outcomes.iter().filter_map(row).collect()
    }
}

/// Returns the figures of the recorded times; `None` if there are none.
fn times(moments: Moments) -> Option<Row> {
    Some(
        Row::default()
            .with("calls", moments.calls)
            .with("mean", moments.mean()?)
            .with("jitter", moments.deviation()?),
    )
}

/// Describes how the clients call, and their priorities where those depend on the options.
fn load(plan: &Plan) -> String {
    let how = match plan.pace {
        0 => "at full load".to_owned(),
        pace => format!("every {pace} µs as each other one"),
    };
    match plan.alike {
        true => how + ", low ones of one priority",
        false => how,
    }
}

/// Runs an experiment.
///
/// # Errors
/// The machine does not grant real-time priorities, a contender fails, or a file cannot be written.
pub(super) fn run(harness: &Harness, plan: &Plan) -> Result<()> {
    let common = &plan.usual.common;
    common.check_rights()?;
    let name = plan.experiment.name.trim_start_matches("rt ");
    let settings = Row::default()
        .with("experiment", name)
        .with("link", common.link)
        .with("scheduling", scheduled(common.best_effort))
        .with("calls", plan.calls)
        .with("load", load(plan))
        .with("rounds", plan.usual.rounds)
        .with("work", common.work);
    let mut report = Report::new(plan.experiment, settings);
    let stages = Stage::at_each(&common.placement, &plan.contenders, &plan.low);
    experiment::run(
        &Series(harness, plan),
        &stages,
        plan.usual.rounds,
        &mut report,
    );
    plan.usual.output.deliver(&report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    enum Command {
        Inversion(Inversion),
        Endpoints(Endpoints),
    }

    fn plan(words: &[&str]) -> Plan {
        let words = ["rt"].iter().chain(words);
        match Command::try_parse_from(words).unwrap() {
            Command::Inversion(options) => options.plan().unwrap(),
            Command::Endpoints(options) => options.plan().unwrap(),
        }
    }

    #[test]
    fn inversion_goes_as_far_as_the_paper_with_low_clients_alike() {
        let plan = plan(&["inversion"]);
        assert_eq!((plan.low.first(), plan.low.last()), (Some(&1), Some(&50)));
        assert!(plan.alike);
        assert_eq!((plan.batch(7).low, plan.batch(7).low_calls), (7, 0));
        assert_eq!(load(&plan), "at full load, low ones of one priority");
    }

    #[test]
    fn each_client_can_have_a_priority_of_its_own_and_pause_between_calls() {
        let plan = plan(&["inversion", "--each", "--pace=500"]);
        assert!(!plan.alike);
        assert_eq!((plan.batch(7).pace, plan.batch(7).low_pace), (500, 500));
        assert_eq!(load(&plan), "every 500 µs as each other one");
    }

    #[test]
    fn endpoints_have_every_client_make_the_papers_calls() {
        let plan = plan(&["endpoints", "--paper"]);
        assert!(!plan.alike);
        assert_eq!(plan.low, [1, 3, 6, 9, 12, 15]);
        assert_eq!((plan.calls, plan.batch(1).low_calls), (PAPER, PAPER));
        assert!(plan.contenders.contains(&Contender::OrbAThread));
    }
}
