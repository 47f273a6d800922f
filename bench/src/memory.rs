//! `memory`: memory of an idle server, and of each idle connection.
//!
//! A server with one object is measured after its start, and again with connections that have made
//! one call each and have been silent since. The memory of a connection is the difference of the
//! server's own anonymous memory, and of all its resident memory, divided by their number; the
//! kernel's memory for a socket is not the server's and not counted.

use crate::Result;
use crate::contender::{self, Absent, Contender, Harness, Wanted};
use crate::giop::{self, Connection, Target};
use crate::machine::Machine;
use crate::output::{Json, progress};
use crate::process::Memory;
use crate::running::Launch;
use crate::table::{Cell, Table, Tone};
use clap::Args;
use serde::Serialize;
use std::fmt;
use std::time::Duration;

/// Time limit of a call.
const CALL: Duration = Duration::from_secs(20);

/// Options of the command.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Only these contenders; by default Punctual with each way to wait for requests.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub contenders: Vec<String>,
    /// Numbers of idle connections, one after the other.
    #[arg(long, value_delimiter = ',', default_values_t = [1000, 10_000])]
    pub connections: Vec<usize>,
    #[command(flatten)]
    json: Json,
}

/// Contenders of a run that names none: TCP by each way to wait for requests.
pub const USUAL: [&str; 3] = ["punctual", "punctual-reactive", "punctual-lf"];

/// Results of one run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Machine of the run.
    pub machine: Machine,
    /// Parts left out, with the reasons.
    pub skipped: Vec<String>,
    /// Memory of the servers, in bytes.
    pub rows: Vec<Row>,
}

/// Memory of one server.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Contender of the row.
    pub contender: &'static str,
    /// Number of idle connections.
    pub connections: usize,
    /// Number of threads of the server.
    pub threads: usize,
    /// Memory of the server.
    pub memory: Memory,
    /// Resident memory that each connection added.
    pub connection_resident: Option<f64>,
    /// Anonymous memory that each connection added.
    pub connection_anonymous: Option<f64>,
}

/// Runs the command.
///
/// # Errors
/// A server fails, or the file cannot be written.
pub fn run(harness: &Harness, options: &Options) -> Result<()> {
    let wanted = match options.contenders.is_empty() {
        true => Wanted::of(&USUAL)?,
        false => Wanted::named(&options.contenders)?,
    };
    let (contenders, absent) = contender::known(harness, &wanted.without_floors());
    let report = measure(&contenders, &absent, &options.connections)?;
    options.json.show(&report)
}

/// Measures every contender that starts and is reached by GIOP over TCP.
///
/// # Errors
/// A server does not answer, or the descriptor limit is too low.
pub fn measure(contenders: &[Contender], absent: &[Absent], numbers: &[usize]) -> Result<Report> {
    let left_out = |absent: &Absent| format!("{}: {}", absent.name, absent.reason);
    let mut report = Report {
        machine: Machine::this(),
        skipped: absent.iter().map(left_out).collect(),
        rows: Vec::new(),
    };
    giop::allow(numbers.iter().copied().max().unwrap_or_default())?;
    let progress = progress(contenders.len());
    for contender in contenders {
        progress.set_message(contender.name);
        match look_at(contender, numbers) {
            Ok(rows) => report.rows.extend(rows),
            Err(reason) => report.skipped.push(reason.to_string()),
        }
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(report)
}

#[allow(clippy::cast_precision_loss)]
fn look_at(contender: &Contender, numbers: &[usize]) -> Result<Vec<Row>> {
    let most = numbers.iter().copied().max().unwrap_or_default();
    let server = contender.serve(&Launch {
        connections: Some(most + 16),
        ..Launch::default()
    })?;
    let idle = server.observed().memory()?;
    let mut rows = vec![Row {
        contender: contender.name,
        connections: 0,
        threads: server.observed().threads()?,
        memory: idle,
        connection_resident: None,
        connection_anonymous: None,
    }];
    let target = Target::of(server.address())?;
    let mut connections = Vec::new();
    for &number in numbers {
        while connections.len() < number {
            connections.push(idle_connection(&target)?);
        }
        let memory = server.observed().memory()?;
        let each = |now: u64, before: u64| Some((now as f64 - before as f64) / number as f64);
        rows.push(Row {
            contender: contender.name,
            connections: number,
            threads: server.observed().threads()?,
            memory,
            connection_resident: each(memory.resident, idle.resident),
            connection_anonymous: each(memory.anonymous, idle.anonymous),
        });
    }
    drop(connections);
    server.stop()?;
    Ok(rows)
}

/// Opens a connection and makes a call on it, so that the server has allocated all that it needs
/// for it.
fn idle_connection(target: &Target) -> Result<Connection> {
    let mut connection = target.connect()?;
    connection.call(target, 1, CALL)?;
    Ok(connection)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |text: String| Cell::new(text, Tone::Plain);
        let each = |octets: Option<f64>| {
            octets.map_or_else(Cell::none, |octets| {
                plain(format!("{:.2}", octets / 1024.0))
            })
        };
        let row = |row: &Row| {
            let cells = vec![
                plain(row.connections.to_string()),
                plain(row.threads.to_string()),
                plain(mebibytes(row.memory.resident)),
                plain(mebibytes(row.memory.proportional)),
                plain(mebibytes(row.memory.anonymous)),
                each(row.connection_resident),
                each(row.connection_anonymous),
            ];
            (row.contender.to_owned(), cells)
        };
        let table = Table {
            title: "a server's memory: in all in MiB, and what each idle connection added in KiB"
                .to_owned(),
            columns: [
                "connections",
                "threads",
                "resident",
                "proportional",
                "anonymous",
                "each, resident",
                "each, anonymous",
            ]
            .map(str::to_owned)
            .to_vec(),
            rows: self.rows.iter().map(row).collect(),
        };
        writeln!(f, "{}", self.machine)?;
        write!(f, "{table}")?;
        for skipped in &self.skipped {
            writeln!(f, "skipped {skipped}")?;
        }
        Ok(())
    }
}

#[allow(clippy::cast_precision_loss)]
fn mebibytes(octets: u64) -> String {
    format!("{:.2}", octets as f64 / f64::from(1 << 20))
}
