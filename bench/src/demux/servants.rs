//! `servants`: many calls to each of many servants, beyond what the ORBs of Gokhale and Schmidt 1998 survived (§4.4):
//! whether all calls are answered or arrive, how long that takes, and whether the server keeps memory of them.

use super::client::Demand;
use super::setup::{Setup, Strategy};
use crate::Result;
use crate::contender::Harness;
use crate::experiment::{self, Bound, Column, Experiment, Report, Row, Tabled};
use crate::output::Json;
use crate::placement::Placement;
use crate::progress::progress;
use crate::protocol::Order;
use clap::Args;

/// Number of servants above which calls are one-ways only: 80 million calls with a reply each take half an hour.
const TWO_WAY: u32 = 10_000;

pub(crate) static EXPERIMENT: Experiment = Experiment::new(
    "servants",
    "whether a server with very many servants serves very many calls, and what memory it keeps of them",
)
.reproduces("Gokhale and Schmidt 1998, §4.4: 1,000 servants and 80 calls of each, at which the ORBs of its time ended")
.conditions("{calls} calls of each servant, one after the other; client and server at {placement}")
.tables(&[Tabled::listing(
    "rows",
    "calls of every servant; the server's own memory in MiB",
    "{servants}",
    &[
        Column::text("calls", "kind"),
        Column::number("made", "made"),
        Column::number("failed", "failed").rated(Bound::AtMost(0.0)),
        Column::number("not arrived", "missing").rated(Bound::AtMost(0.0)),
        Column::number("a second", "rate"),
        Column::mebibytes("before", "before"),
        Column::mebibytes("behind", "behind"),
    ],
)]);

/// Options of the command `servants`.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Numbers of servants; with more than 10,000, calls are one-ways only.
    #[arg(long, value_delimiter = ',', default_values_t = [1000, 1_000_000], value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    servants: Vec<u32>,
    /// Calls of each servant.
    #[arg(long, default_value_t = 80, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    calls: u32,
    /// Processors of client and server.
    #[arg(long, default_value = "same")]
    placement: Placement,
    #[command(flatten)]
    json: Json,
}

/// Runs the command.
///
/// # Errors
/// A process fails, or a file cannot be written.
pub fn run(harness: &Harness, options: &Options) -> Result<()> {
    let settings = Row::default()
        .with("calls", options.calls)
        .with("placement", options.placement);
    let mut report = Report::new(&EXPERIMENT, settings);
    let kinds = |&servants: &u32| match servants <= TWO_WAY {
        true => vec![(servants, false), (servants, true)],
        false => vec![(servants, true)],
    };
    let runs: Vec<(u32, bool)> = options.servants.iter().flat_map(kinds).collect();
    let progress = progress(runs.len());
    for (servants, one_way) in runs {
        progress.set_message(format!("{servants} servants"));
        report.add("rows", [measure(harness, options, servants, one_way)?]);
        progress.inc(1);
    }
    progress.finish_and_clear();
    options.json.deliver(&report)
}

#[allow(clippy::cast_precision_loss)]
fn measure(harness: &Harness, options: &Options, servants: u32, one_way: bool) -> Result<Row> {
    let setup = experiment::Setup::Demux(Setup {
        one_way,
        ..Setup::of(servants, &[Strategy::Active])
    });
    let at = options.placement.processors()?;
    let mut pair = experiment::start(harness, &setup, at)?;
    // Buffers and tables reach their final size.
    pair.ask(Order(Demand::Each { times: 1 }))?;
    let before = pair.observed().1.memory()?.anonymous;
    let times = options.calls;
    let [made, failed, arrived, took] = pair.ask(Order(Demand::Each { times }))?[..] else {
        return Err("a client told less than it did".into());
    };
    let behind = pair.observed().1.memory()?.anonymous;
    pair.stop()?;
    Ok(Row::default()
        .with("servants", servants)
        .with("kind", if one_way { "one-way" } else { "two-way" })
        .with("made", made)
        .with("failed", failed)
        .with("missing", made.saturating_sub(failed + arrived))
        .with("rate", made as f64 * 1e9 / took.max(1) as f64)
        .with("before", before)
        .with("behind", behind))
}
