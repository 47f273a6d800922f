//! `demux-instructions`: a server's user-space instructions a call, which neither the machine's load nor its
//! caches change, over objects, operations and the depth of adapters.

use super::client::Batch;
use super::peers::{Instrumented, Peers};
use super::setup::{Algorithm, Setup, Strategy};
use crate::Result;
use crate::contender::Harness;
use crate::counting::Instrument;
use crate::machine::Environment;
use crate::output::{Json, progress};
use crate::table::{Cell, Table, Tone};
use clap::Args;
use serde::Serialize;
use std::fmt;

/// How far the counts of one row may lie apart.
const GOAL: f64 = 0.02;
/// How far two counts that agree lie apart, and after how many none is expected to.
const AGREEMENT: f64 = 0.01;
const MOST_COUNTS: usize = 4;
/// Objects where something else is varied.
const SOME: u32 = 100;

/// What to count.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// How objects and operations are found.
    #[arg(long, value_delimiter = ',', default_values = ["active"])]
    pub strategies: Vec<Strategy>,
    /// In which order they are called: worst-case is the same call again and again.
    #[arg(long, value_delimiter = ',', default_values = ["worst-case", "random"])]
    pub algorithms: Vec<Algorithm>,
    /// Numbers of objects.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 100, 10_000, 1_000_000])]
    pub objects: Vec<u32>,
    /// Numbers of operations: 1, 10, 100.
    #[arg(long, value_delimiter = ',', default_values_t = super::plan::OPERATIONS)]
    pub operations: Vec<u32>,
    /// Depths of adapters.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 5, 20])]
    pub depths: Vec<u32>,
    /// Calls of the shorter run.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    pub calls: u32,
    #[command(flatten)]
    json: Json,
}

/// The counts.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// What they depend on.
    pub environment: Environment,
    /// Variables that the server had.
    pub variables: Vec<(&'static str, &'static str)>,
    /// Each thing that was varied, by strategy.
    pub series: Vec<Series>,
}

/// One thing varied.
#[derive(Clone, Debug, Serialize)]
pub struct Series {
    /// How objects and operations are found.
    pub strategy: Strategy,
    /// In which order they are called.
    pub algorithm: Algorithm,
    /// What is varied.
    pub over: &'static str,
    /// Its values, and the instructions at each.
    pub counts: Vec<(u32, f64)>,
    /// How much more the dearest takes than the cheapest, as a share of it.
    pub variation: f64,
    /// Whether that is within 2%; other strategies than active have no goal.
    pub within: bool,
}

/// Runs the command.
///
/// # Errors
/// When a process fails, or the instrument.
pub fn run(harness: &Harness, options: &Options) -> Result<()> {
    if let Err(reason) = Instrument::Instructions.check() {
        println!("skipped: {reason}");
        return Ok(());
    }
    options.json.show(&measure(harness, options)?)
}

/// Counts.
///
/// # Errors
/// When a process fails, or the instrument.
pub fn measure(harness: &Harness, options: &Options) -> Result<Report> {
    let varied = options.objects.len() + options.operations.len() + options.depths.len();
    let orders: Vec<_> = options
        .strategies
        .iter()
        .flat_map(|&strategy| {
            let with = move |&algorithm| Order {
                strategy,
                algorithm,
            };
            options.algorithms.iter().map(with)
        })
        .collect();
    let progress = progress(varied * orders.len());
    let mut series = Vec::new();
    for &order in &orders {
        for (over, values) in [
            ("objects", &options.objects),
            ("operations", &options.operations),
            ("depth", &options.depths),
        ] {
            let mut counts = Vec::new();
            for &value in values {
                progress.set_message(format!("{value} {over}"));
                counts.push((value, count(harness, order, over, value, options.calls)?));
                progress.inc(1);
            }
            series.push(Series::new(order, over, counts));
        }
    }
    progress.finish_and_clear();
    Ok(Report {
        environment: Environment::this(),
        variables: Instrument::Instructions.environment(),
        series,
    })
}

/// Who is called, and how they are found.
#[derive(Clone, Copy, Debug)]
struct Order {
    strategy: Strategy,
    algorithm: Algorithm,
}

fn count(harness: &Harness, order: Order, over: &str, value: u32, calls: u32) -> Result<f64> {
    let varied = |this, usual| if this == over { value } else { usual };
    let setup = Setup {
        objects: varied("objects", SOME),
        depth: varied("depth", 1),
        operations: vec![varied("operations", 1)],
        one_way: false,
        strategies: vec![order.strategy],
    };
    agreed(harness, &setup, order, calls)
}

/// What `budgets` keeps: a call of one among many, deep down, by the defaults.
///
/// # Errors
/// When a process fails, or the instrument.
pub(crate) fn budgeted(harness: &Harness) -> Result<Vec<(String, f64)>> {
    let setup = Setup {
        objects: 1000,
        depth: 20,
        operations: vec![100],
        one_way: false,
        strategies: vec![Strategy::Active],
    };
    let count = |algorithm: Algorithm| {
        let order = Order {
            strategy: Strategy::Active,
            algorithm,
        };
        let name = format!("{} of {setup}", algorithm.name());
        Ok((name, agreed(harness, &setup, order, 10_000)?))
    };
    [Algorithm::WorstCase, Algorithm::Random]
        .map(count)
        .into_iter()
        .collect()
}

/// What two counts agree on: making a million objects does not take exactly as many instructions each time.
fn agreed(harness: &Harness, setup: &Setup, order: Order, calls: u32) -> Result<f64> {
    let mut last = difference(harness, setup, order, calls)?;
    for _ in 1..MOST_COUNTS {
        let next = difference(harness, setup, order, calls)?;
        let agree = (next / last - 1.0).abs() < AGREEMENT;
        last = next;
        if agree {
            break;
        }
    }
    Ok(last)
}

/// Of a run and one of twice as many calls, so that start and end cancel.
fn difference(harness: &Harness, setup: &Setup, order: Order, calls: u32) -> Result<f64> {
    let batch = |calls| Batch {
        strategy: order.strategy,
        operations: setup.operations[0],
        algorithm: order.algorithm,
        calls,
        timed: false,
    };
    let short = count_run(harness, setup, batch(calls))?;
    let long = count_run(harness, setup, batch(calls * 2))?;
    #[allow(clippy::cast_precision_loss)]
    Ok((long as f64 - short as f64) / f64::from(calls))
}

fn count_run(harness: &Harness, setup: &Setup, batch: Batch) -> Result<u64> {
    let directory = tempfile::tempdir()?;
    let file = directory.path().join("server");
    let instrumented = Instrumented {
        wrapper: Instrument::Instructions.wrapper(&file),
        environment: Instrument::Instructions.environment(),
    };
    let mut peers = Peers::start(harness, setup, None, Some(&instrumented))?;
    peers.run(batch)?;
    peers.stop()?;
    Instrument::Instructions.read(&file)
}

impl Series {
    fn new(order: Order, over: &'static str, counts: Vec<(u32, f64)>) -> Self {
        let values = counts.iter().map(|count| count.1);
        let (low, high) = values.fold((f64::INFINITY, 0.0_f64), |(low, high), one| {
            (low.min(one), high.max(one))
        });
        let variation = if low > 0.0 && low.is_finite() {
            high / low - 1.0
        } else {
            0.0
        };
        Self {
            strategy: order.strategy,
            algorithm: order.algorithm,
            over,
            counts,
            variation,
            within: variation <= GOAL,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.environment)?;
        for (name, value) in &self.variables {
            writeln!(f, "{name}={value}")?;
        }
        for series in &self.series {
            let number = |count: &(u32, f64)| Cell::new(format!("{:.0}", count.1), Tone::Plain);
            let mut columns: Vec<_> = series.counts.iter().map(|it| it.0.to_string()).collect();
            let mut cells: Vec<_> = series.counts.iter().map(number).collect();
            columns.push("variation".to_owned());
            let tone = match (series.strategy, series.within) {
                (Strategy::Active, true) => Tone::Good,
                (Strategy::Active, false) => Tone::Bad,
                _ => Tone::Plain,
            };
            let percent = series.variation * 100.0;
            cells.push(Cell::new(format!("{percent:.1} %"), tone));
            let table = Table {
                title: format!(
                    "the server's instructions a call, {}, over {}",
                    series.algorithm.name(),
                    series.over
                ),
                columns,
                rows: vec![(series.strategy.name().to_owned(), cells)],
            };
            write!(f, "\n{table}")?;
        }
        let active = self
            .series
            .iter()
            .filter(|series| series.strategy == Strategy::Active);
        for series in active.filter(|series| !series.within) {
            let order = series.algorithm.name();
            writeln!(f, "missed: {order}, over {} by more than 2 %", series.over)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_vary_by_what_the_dearest_takes_more_than_the_cheapest() {
        let order = Order {
            strategy: Strategy::Active,
            algorithm: Algorithm::Random,
        };
        let series = |counts: &[(u32, f64)]| Series::new(order, "objects", counts.to_vec());
        let within = series(&[(1, 1000.0), (2, 1019.0), (3, 1010.0)]);
        assert!((within.variation - 0.019).abs() < 1e-9 && within.within);
        assert!(!series(&[(1, 1000.0), (2, 1021.0)]).within);
        assert!(series(&[]).within);
    }
}
