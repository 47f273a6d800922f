//! `memory`: what an idle server takes, and what each idle connection adds.
//!
//! A server with one object is looked at when it has started, and again with connections that have
//! made one call each and keep quiet since. What a connection takes is the difference of the server's
//! own anonymous memory, and of all that is resident for it, divided by their number; what the kernel
//! keeps for a socket is not the server's and not counted.

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

/// A call takes no longer, or something is wrong.
const CALL: Duration = Duration::from_secs(20);

/// What to look at.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Only these contenders; without it Punctual with each way to wait for requests.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub contenders: Vec<String>,
    /// How many idle connections, one after the other.
    #[arg(long, value_delimiter = ',', default_values_t = [1000, 10_000])]
    pub connections: Vec<usize>,
    #[command(flatten)]
    json: Json,
}

/// Who is looked at when nobody is named: TCP by each way to wait for requests.
pub const USUAL: [&str; 3] = ["punctual", "punctual-reactive", "punctual-lf"];

/// One run's outcome.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Where it ran.
    pub machine: Machine,
    /// What was left out, and why.
    pub skipped: Vec<String>,
    /// What the servers took; in octets.
    pub rows: Vec<Row>,
}

/// What one server took.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Who.
    pub contender: &'static str,
    /// Idle connections.
    pub connections: usize,
    /// Threads of the server.
    pub threads: usize,
    /// What it took in all.
    pub memory: Memory,
    /// What each connection added to what is resident.
    pub connection_resident: Option<f64>,
    /// What each connection added to the server's own memory.
    pub connection_anonymous: Option<f64>,
}

/// Runs the command.
///
/// # Errors
/// When a server fails, or the file cannot be written.
pub fn run(harness: &Harness, options: &Options) -> Result<()> {
    let wanted = match options.contenders.is_empty() {
        true => Wanted::of(&USUAL)?,
        false => Wanted::named(&options.contenders)?,
    };
    let (contenders, absent) = contender::known(harness, &wanted.without_floors());
    let report = measure(&contenders, &absent, &options.connections)?;
    options.json.show(&report)
}

/// Looks at every contender that starts and is reached by GIOP over TCP.
///
/// # Errors
/// When a server does not answer, or too few descriptors are to be had.
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

/// One that has made a call, so that the server has all that it needs for it.
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
