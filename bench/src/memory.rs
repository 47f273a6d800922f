//! `memory`: memory of an idle server, and of each idle connection.
//!
//! A server with one object is measured after its start, and again with connections that have made
//! one call each and have been silent since. The memory of a connection is the difference of the
//! server's own anonymous memory, and of all its resident memory, divided by their number; the
//! kernel's memory for a socket is not the server's and not counted.

use crate::Result;
use crate::child::Process;
use crate::contender::{self, Absent, Contender, Harness, Selection};
use crate::experiment::{Column, Experiment, Report, Row, Tabled};
use crate::giop::{self, Connection, Target};
use crate::output::Json;
use crate::process::Memory;
use crate::progress::progress;
use crate::running::Launch;
use clap::Args;
use std::time::Duration;

/// Time limit of a call.
const CALL: Duration = Duration::from_secs(20);

pub(crate) static EXPERIMENT: Experiment = Experiment::new(
    "memory",
    "how much memory an idle server takes, and each idle connection",
)
.tables(&[Tabled::listing(
    "rows",
    "a server's memory: in all in MiB, and what each idle connection added in \
        KiB",
    "{contender}",
    &[
        Column::number("connections", "connections"),
        Column::number("threads", "threads"),
        Column::mebibytes("resident", "memory.resident"),
        Column::mebibytes("proportional", "memory.proportional"),
        Column::mebibytes("anonymous", "memory.anonymous"),
        Column::kibibytes("each, resident", "connection_resident"),
        Column::kibibytes("each, anonymous", "connection_anonymous"),
    ],
)]);

/// Options of the command `memory`.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Contenders to measure; by default Punctual with each of its concurrency strategies.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub contenders: Vec<String>,
    /// Numbers of idle connections, measured one after the other.
    #[arg(long, value_delimiter = ',', default_values_t = [1000, 10_000])]
    pub connections: Vec<usize>,
    #[command(flatten)]
    json: Json,
}

/// Contenders of a run that names none: TCP by each concurrency strategy.
pub const USUAL: [&str; 3] = ["punctual", "punctual-reactive", "punctual-lf"];

/// Runs the command.
///
/// # Errors
/// A server fails, or the file cannot be written.
pub fn run(harness: &Harness, options: &Options) -> Result<()> {
    let wanted = Selection::named_or(&options.contenders, &USUAL)?;
    let (contenders, absent) = contender::known(harness, &wanted.without_floors());
    let report = measure(&contenders, &absent, &options.connections)?;
    options.json.deliver(&report)
}

/// Measures every contender that starts and is reached by GIOP over TCP.
///
/// # Errors
/// The limit of descriptors is too low.
pub(crate) fn measure(
    contenders: &[Contender],
    absent: &[Absent],
    numbers: &[usize],
) -> Result<Report> {
    let mut report = Report::without(&EXPERIMENT, Row::default(), absent);
    giop::allow(numbers.iter().copied().max().unwrap_or_default())?;
    let progress = progress(contenders.len());
    for contender in contenders {
        progress.set_message(contender.name);
        match look_at(contender, numbers) {
            Ok(rows) => report.add("rows", rows),
            Err(reason) => report.skip(reason),
        }
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(report)
}

fn look_at(contender: &Contender, numbers: &[usize]) -> Result<Vec<Row>> {
    let most = numbers.iter().copied().max().unwrap_or_default();
    let server = contender.serve(&Launch {
        connections: Some(most + 16),
        ..Launch::default()
    })?;
    let idle = server.observed().memory()?;
    let mut rows = vec![row(contender, &server, 0, idle)?];
    let target = Target::of(server.said())?;
    let mut connections = Vec::new();
    for &number in numbers {
        while connections.len() < number {
            connections.push(idle_connection(&target, connections.len())?);
        }
        rows.push(row(contender, &server, number, idle)?);
    }
    drop(connections);
    server.stop()?;
    Ok(rows)
}

/// Returns the row of a server with the given number of connections; `idle` is its memory without
/// any.
#[allow(clippy::cast_precision_loss)]
fn row(contender: &Contender, server: &Process, number: usize, idle: Memory) -> Result<Row> {
    let memory = server.observed().memory()?;
    let each =
        |now: u64, before: u64| (number > 0).then(|| (now as f64 - before as f64) / number as f64);
    Ok(Row::default()
        .with("contender", contender.name)
        .with("connections", number)
        .with("threads", server.observed().threads()?)
        .with("memory", memory)
        .with("connection_resident", each(memory.resident, idle.resident))
        .with(
            "connection_anonymous",
            each(memory.anonymous, idle.anonymous),
        ))
}

/// Opens a connection and makes a call on it, so that the server has allocated all that it needs
/// for it.
fn idle_connection(target: &Target, number: usize) -> Result<Connection> {
    let mut connection = target.connect_as(number)?;
    connection.call(target, 1, CALL)?;
    Ok(connection)
}
