//! `rt inversion`, `rt endpoints` and `rt pools`: the papers' experiments, over the number of low
//! clients.
//!
//! For O'Ryan et al. 2001's figures 14 and 15 the text has no numbers, only their tendency: with
//! endpoints of a priority, latency slightly below that of an ORB a thread, and jitter slightly
//! above. So none of its figures stand beside ours.

mod report;

pub(super) use report::{Report, Row, Times};

use super::batch::{Batch, Outcome};
use super::pair::Pair;
use super::setup::{Contender, MOST};
use super::{Common, plot, scheduled, verdict_of};
use crate::Result;
use crate::contender::Harness;
use crate::machine::Machine;
use crate::output::{Output, progress};
use crate::placement::Placement;
use crate::running::in_turn;
use crate::statistics::Moments;
use clap::Args;

/// Upper bound of a batch, in milliseconds.
const LONGEST: u64 = 15_000;
/// Number of calls of each client in O'Ryan et al. 2001.
const PAPER: u32 = 20_000;

/// Options of `rt inversion`.
#[derive(Clone, Debug, Args)]
pub struct Inversion {
    #[command(flatten)]
    common: Common,
    /// Numbers of low clients.
    #[arg(long, value_delimiter = ',', default_values = ["1", "2", "5", "10", "20", "30", "40", "50"],
        value_parser = clap::value_parser!(u16).range(1..=i64::from(MOST)))]
    low: Vec<u16>,
    /// Calls of the high client, for each number in a round; the low ones call until it has made them.
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    calls: u32,
    /// Rounds.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    #[command(flatten)]
    output: Output,
}

/// Options of `rt endpoints`.
#[derive(Clone, Debug, Args)]
pub struct Endpoints {
    #[command(flatten)]
    common: Common,
    /// Numbers of low clients.
    #[arg(long, value_delimiter = ',', default_values = ["1", "3", "6", "9", "12", "15"],
        value_parser = clap::value_parser!(u16).range(1..=i64::from(MOST)))]
    low: Vec<u16>,
    /// Calls of each client, for each number in a round.
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    calls: u32,
    /// 20,000 calls of each client, as in the paper.
    #[arg(long, conflicts_with = "calls")]
    paper: bool,
    /// Rounds; the paper has 3.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    #[command(flatten)]
    output: Output,
}

/// Options of `rt pools`.
#[derive(Clone, Debug, Args)]
pub struct Pools {
    #[command(flatten)]
    common: Common,
    /// Numbers of low clients.
    #[arg(long, value_delimiter = ',', default_values = ["1", "5", "10", "20", "30"],
        value_parser = clap::value_parser!(u16).range(1..=i64::from(MOST)))]
    low: Vec<u16>,
    /// Calls of the high client, for each number in a round; the low ones call until it has made them.
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    calls: u32,
    /// Rounds.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    #[command(flatten)]
    output: Output,
}

/// Plan of an experiment.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    experiment: &'static str,
    common: Common,
    contenders: Vec<Contender>,
    /// Set if all low clients have the same priority.
    alike: bool,
    low: Vec<u16>,
    calls: u32,
    /// Number of calls of each low client; 0: until the high one is ready.
    low_calls: u32,
    rounds: u32,
    output: Output,
}

impl Inversion {
    /// Returns the plan of the experiment.
    ///
    /// # Errors
    /// A contender that does not belong to the experiment.
    pub(super) fn plan(&self) -> Result<Plan> {
        let known = [Contender::Floor, Contender::Lanes, Contender::Pool];
        Ok(Plan {
            experiment: "inversion",
            contenders: self.common.wanted(&known)?,
            common: self.common.clone(),
            alike: true,
            low: self.low.clone(),
            calls: self.calls,
            low_calls: 0,
            rounds: self.rounds,
            output: self.output.clone(),
        })
    }
}

impl Endpoints {
    /// Returns the plan of the experiment.
    ///
    /// # Errors
    /// A contender that does not belong to the experiment.
    pub(super) fn plan(&self) -> Result<Plan> {
        let known = [Contender::Floor, Contender::Lanes, Contender::OrbAThread];
        let calls = if self.paper { PAPER } else { self.calls };
        Ok(Plan {
            experiment: "endpoints",
            contenders: self.common.wanted(&known)?,
            common: self.common.clone(),
            alike: false,
            low: self.low.clone(),
            calls,
            low_calls: calls,
            rounds: self.rounds,
            output: self.output.clone(),
        })
    }
}

impl Pools {
    /// Returns the plan of the experiment.
    ///
    /// # Errors
    /// A contender that does not belong to the experiment.
    pub(super) fn plan(&self) -> Result<Plan> {
        let known = [
            Contender::Floor,
            Contender::Lanes,
            Contender::Pool,
            Contender::BufferedPool,
            Contender::PerConnection,
        ];
        Ok(Plan {
            experiment: "pools",
            contenders: self.common.wanted(&known)?,
            common: self.common.clone(),
            alike: false,
            low: self.low.clone(),
            calls: self.calls,
            low_calls: 0,
            rounds: self.rounds,
            output: self.output.clone(),
        })
    }
}

impl Plan {
    fn batch(&self, low: u16) -> Batch {
        Batch {
            low,
            calls: self.calls,
            warm_up: self.calls.div_ceil(20),
            pace: 0,
            low_calls: self.low_calls,
            limit: LONGEST,
        }
    }
}

/// Runs an experiment.
///
/// # Errors
/// The machine does not grant real-time priorities, a contender fails, or a file cannot be written.
pub(super) fn run(harness: &Harness, plan: &Plan) -> Result<()> {
    plan.common.check_rights()?;
    let report = measure(harness, plan)?;
    plan.output.show(&report, plot::series)?;
    verdict_of(&report.failed)
}

fn measure(harness: &Harness, plan: &Plan) -> Result<Report> {
    let mut report = Report {
        machine: Machine::this(),
        experiment: plan.experiment,
        link: plan.common.link,
        scheduling: scheduled(plan.common.best_effort),
        calls: plan.calls,
        rounds: plan.rounds,
        work: plan.common.work,
        skipped: Vec::new(),
        failed: Vec::new(),
        rows: Vec::new(),
    };
    let most = plan.low.iter().copied().max().unwrap_or_default();
    let progress = progress(plan.common.placement.len() * plan.low.len());
    for &placement in &plan.common.placement {
        let processors = match placement.pinned() {
            Ok(processors) => processors,
            Err(reason) => {
                report.skipped.push(format!("{placement}: {reason}"));
                continue;
            }
        };
        let mut pairs = Vec::new();
        for &contender in &plan.contenders {
            let setup = plan.common.setup(contender, most, plan.alike);
            match Pair::start(harness, &setup, processors) {
                Ok(pair) => pairs.push((contender, Some(pair))),
                Err(reason) => report.skipped.push(reason.to_string()),
            }
        }
        for &low in &plan.low {
            progress.set_message(format!("{placement}, {low} low clients"));
            let rows = compete(plan, placement, low, &mut pairs, &mut report.failed);
            report.rows.extend(rows);
            progress.inc(1);
        }
        let pairs = pairs.into_iter().filter_map(|(_, pair)| pair);
        pairs.into_iter().try_for_each(Pair::stop)?;
    }
    progress.finish_and_clear();
    Ok(report)
}

/// Runs all rounds beside so many low clients. A contender that fails is out from then on.
fn compete(
    plan: &Plan,
    placement: Placement,
    low: u16,
    pairs: &mut [(Contender, Option<Pair>)],
    failed: &mut Vec<String>,
) -> Vec<Row> {
    let batch = plan.batch(low);
    let mut outcomes: Vec<Vec<Outcome>> = vec![Vec::new(); pairs.len()];
    for round in 0..plan.rounds as usize {
        for who in in_turn(round, pairs.len()) {
            let (_, pair) = &mut pairs[who];
            match pair.as_mut().map(|pair| pair.perform(&batch)) {
                None => {}
                Some(Ok(outcome)) => outcomes[who].push(outcome),
                Some(Err(error)) => {
                    failed.push(error.to_string());
                    *pair = None;
                }
            }
        }
    }
    let rows = pairs.iter().zip(outcomes);
    let rows = rows.filter_map(|((contender, _), outcomes)| {
        let high = outcomes.iter().flat_map(|outcome| &outcome.high);
        let low_ones = outcomes.iter().map(Outcome::low_in_all);
        Some(Row {
            placement,
            contender: *contender,
            low,
            high: Times::of(high.copied().collect())?,
            low_ones: Times::of(low_ones.fold(Moments::default(), Moments::and)),
        })
    });
    rows.collect()
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
