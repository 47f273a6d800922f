//! `demux-instructions`: user-space instructions of a server's call, over objects, operations and
//! the depth of adapters. The counts do not depend on the machine's load and caches.

use super::client::{Batch, Demand};
use super::setup::{Algorithm, Setup, Strategy};
use crate::Result;
use crate::contender::Harness;
use crate::counting::{Instrument, agreed, of_one};
use crate::experiment::{self, Bound, Column, Experiment, GOALS, Goal, Pair, Report, Row, Tabled};
use crate::machine::{ENVIRONMENT, Environment};
use crate::output::Json;
use crate::progress::progress;
use crate::statistics::variation;
use clap::Args;

/// Largest allowed difference between the counts of one row, as a fraction.
const GOAL: f64 = 0.02;
/// Difference below which two counts agree, as a fraction, and the number of counts after which no
/// agreement is expected.
const AGREEMENT: f64 = 0.01;
const MOST_COUNTS: usize = 4;
/// Number of objects in series that vary another quantity.
const SOME: u32 = 100;

pub(crate) static EXPERIMENT: Experiment = Experiment::new(
    "demux-instructions",
    "whether a server's instructions for a call depend on how much there is \
        to search",
)
.frames(&["rows", "goals"])
.conditions(ENVIRONMENT)
.tables(&[
    Tabled::matrix(
        "rows",
        "the server's instructions a call, {algorithm}, over {over}",
        ("strategy", "number"),
        Column::number("", "instructions"),
    )
    .each(&["algorithm", "over"]),
    GOALS,
]);

/// Options of the command `demux-instructions`.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Strategies by which objects and operations are found.
    #[arg(long, value_delimiter = ',', default_values = ["active"])]
    pub strategies: Vec<Strategy>,
    /// Orders in which objects are called; worst-case repeats one call.
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
    /// Calls in the shorter of the two runs whose difference is counted.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    pub calls: u32,
    #[command(flatten)]
    json: Json,
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
    options.json.deliver(&measure(harness, options)?)
}

/// Counts all series.
fn measure(harness: &Harness, options: &Options) -> Result<Report> {
    let settings = Environment::this()
        .on(Row::default())
        .with("variables", Instrument::Instructions.environment());
    let mut report = Report::new(&EXPERIMENT, settings);
    let with = |&strategy: &Strategy| {
        let order = move |&algorithm: &Algorithm| Order {
            strategy,
            algorithm,
        };
        options.algorithms.iter().map(order)
    };
    let orders: Vec<Order> = options.strategies.iter().flat_map(with).collect();
    let varied = [
        ("objects", &options.objects),
        ("operations", &options.operations),
        ("depth", &options.depths),
    ];
    let values: usize = varied.iter().map(|(_, values)| values.len()).sum();
    let progress = progress(values * orders.len());
    for &order in &orders {
        for (over, values) in varied {
            let mut counts = Vec::new();
            for &value in values {
                progress.set_message(format!("{value} {over}"));
                let count = count(harness, order, over, value, options.calls)?;
                let row = order.on(over).with("number", value);
                report.add("rows", [row.with("instructions", count)]);
                counts.push(count);
                progress.inc(1);
            }
            report.add("goals", judged(order, over, &counts));
        }
    }
    progress.finish_and_clear();
    Ok(report)
}

/// Compares the variation of a series of counts with its goal; only the strategy `active` has one.
fn judged(order: Order, over: &str, counts: &[f64]) -> Option<Row> {
    let goal = Goal {
        what: "by which fraction the greatest count is more than the least",
        bound: Bound::AtMost(GOAL),
        reached: variation(counts),
        noisy: false,
    };
    (order.strategy == Strategy::Active).then(|| goal.on(order.on(over)))
}

/// Demultiplexing strategy by which the called objects are found, and the order of the calls.
#[derive(Clone, Copy, Debug)]
struct Order {
    strategy: Strategy,
    algorithm: Algorithm,
}

impl Order {
    /// Returns a row of this calling order, for a series over the quantity `over`.
    fn on(self, over: &str) -> Row {
        Row::default()
            .with("strategy", self.strategy)
            .with("algorithm", self.algorithm)
            .with("over", over)
    }
}

fn count(harness: &Harness, order: Order, over: &str, value: u32, calls: u32) -> Result<f64> {
    let varied = |this, usual| if this == over { value } else { usual };
    let setup = Setup {
        depth: varied("depth", 1),
        operations: vec![varied("operations", 1)],
        ..Setup::of(varied("objects", SOME), &[order.strategy])
    };
    of_a_call(harness, &setup, order, calls)
}

/// Returns the counts that `budgets` keeps: calls of one object among 1,000, in an adapter 20
/// levels deep, with the default strategies.
///
/// # Errors
/// A process or the instrument fails.
pub(crate) fn budgeted(harness: &Harness) -> Result<Vec<(String, f64)>> {
    let setup = Setup {
        depth: 20,
        operations: vec![100],
        ..Setup::of(1000, &[Strategy::Active])
    };
    let count = |algorithm: Algorithm| {
        let order = Order {
            strategy: Strategy::Active,
            algorithm,
        };
        let name = format!("{} of {setup}", algorithm.name());
        Ok((name, of_a_call(harness, &setup, order, 10_000)?))
    };
    [Algorithm::WorstCase, Algorithm::Random]
        .map(count)
        .into_iter()
        .collect()
}

/// Returns a count on which two runs agree: making a million objects does not take exactly as many
/// instructions each time.
fn of_a_call(harness: &Harness, setup: &Setup, order: Order, calls: u32) -> Result<f64> {
    let batch = |calls| Batch {
        strategy: order.strategy,
        operations: setup.operations[0],
        algorithm: order.algorithm,
        calls,
        timed: false,
    };
    let count = || {
        of_one(calls, |calls| {
            Ok([count_run(harness, setup, batch(calls))?])
        })
    };
    let close = |[next]: &[f64; 1], [last]: &[f64; 1]| (next / last - 1.0).abs() < AGREEMENT;
    let [count] = agreed(MOST_COUNTS, count, close)?;
    Ok(count)
}

fn count_run(harness: &Harness, setup: &Setup, batch: Batch) -> Result<u64> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("server");
    let setup = experiment::Setup::Demux(setup.clone());
    let server = experiment::server(harness, &setup, None);
    let mut server = Instrument::Instructions.around(&server, &file);
    let mut pair = Pair::start(&mut server, |at| {
        experiment::client(harness, &setup, None, at)
    })?;
    pair.ask(crate::protocol::Order(Demand::Calls(batch)))?;
    pair.stop()?;
    Instrument::Instructions.read(&file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_vary_by_what_the_dearest_takes_more_than_the_cheapest() {
        let order = |strategy| Order {
            strategy,
            algorithm: Algorithm::Random,
        };
        let active = order(Strategy::Active);
        let verdict = |counts: &[f64]| judged(active, "objects", counts).unwrap().text("verdict");
        assert_eq!(verdict(&[1000.0, 1019.0, 1010.0]), "ok");
        assert_eq!(verdict(&[1000.0, 1021.0]), "missed");
        assert_eq!(verdict(&[]), "absent");
        assert_eq!(judged(order(Strategy::Linear), "objects", &[1.0]), None);
    }
}
