//! `demux-instructions`: user-space instructions of a server's call, over objects, operations and
//! the depth of adapters. The counts do not depend on the machine's load and caches.

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

/// Largest allowed difference between the counts of one row, as a fraction.
const GOAL: f64 = 0.02;
/// Difference below which two counts agree, as a fraction, and the number of counts after which no
/// agreement is expected.
const AGREEMENT: f64 = 0.01;
const MOST_COUNTS: usize = 4;
/// Number of objects where something else is varied.
const SOME: u32 = 100;

/// Options of the command.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Strategies by which objects and operations are found.
    #[arg(long, value_delimiter = ',', default_values = ["active"])]
    pub strategies: Vec<Strategy>,
    /// Orders in which objects are called: worst-case is the same call again and again.
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

/// Report of the counts.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Environment on which the counts depend.
    pub environment: Environment,
    /// Environment variables of the server.
    pub variables: Vec<(&'static str, &'static str)>,
    /// Varied quantities, by strategy.
    pub series: Vec<Series>,
}

/// Counts over one varied quantity.
#[derive(Clone, Debug, Serialize)]
pub struct Series {
    /// Strategy by which objects and operations are found.
    pub strategy: Strategy,
    /// Order in which objects are called.
    pub algorithm: Algorithm,
    /// Varied quantity.
    pub over: &'static str,
    /// Values of the quantity, with the instructions at each.
    pub counts: Vec<(u32, f64)>,
    /// Difference between the largest and the smallest count, as a fraction of the smallest.
    pub variation: f64,
    /// Set if that is within 2%; only the strategy `active` has a goal.
    pub within: bool,
}

/// Runs the command.
///
/// # Errors
/// A process or the instrument fails.
pub fn run(harness: &Harness, options: &Options) -> Result<()> {
    if let Err(reason) = Instrument::Instructions.check() {
        println!("skipped: {reason}");
        return Ok(());
    }
    options.json.show(&measure(harness, options)?)
}

/// Counts all series.
///
/// # Errors
/// A process or the instrument fails.
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

/// Objects to call, and their strategy.
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

/// Returns the counts that `budgets` keeps: a call of one object among many, deep down, by the
/// defaults.
///
/// # Errors
/// A process or the instrument fails.
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

/// Returns a count on which two runs agree: making a million objects does not take exactly as many
/// instructions each time.
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

/// Returns the difference of a run and one of twice as many calls, so that start and end cancel.
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
