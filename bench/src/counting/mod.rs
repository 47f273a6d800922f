//! `instructions`, `system-calls`, `allocations`, `context-switches`: cost of a call, counted
//! rather than timed.
//!
//! Both processes run under an instrument for n calls, and again for 2n; the difference divided by
//! n is the cost of a call, as the costs of start and end cancel. The kernel counts context
//! switches itself.

mod instrument;

pub use instrument::Instrument;

use crate::Result;
use crate::case::{self, Case};
use crate::contender::{self, Absent, Contender, Harness, Wanted};
use crate::machine::{Environment, Machine};
use crate::output::{Json, progress};
use crate::placement::Placement;
use crate::running::Launch;
use crate::table::{Cell, Table, Tone};
use clap::Args;
use serde::Serialize;
use std::fmt;

/// Factor by which more calls are made without an instrument: calls are quick then, and other
/// processes cause switches, too.
const SWITCHED: u32 = 20;

/// Upper bound of the counts of one case, until two agree.
const MOST_COUNTS: u32 = 5;

/// Difference below which two counts of a call agree, as a fraction.
const DISAGREEMENT: f64 = 0.05;

/// Options of the command.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Only these contenders; by default the usual ones without the floor.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub contenders: Vec<String>,
    /// Only these cases.
    #[arg(long, value_delimiter = ',')]
    pub cases: Vec<Case>,
    /// Calls of the shorter run.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub calls: u32,
    #[command(flatten)]
    json: Json,
}

/// Cost of one contender's call in one case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// Case of the call.
    pub case: String,
    /// Contender that made the call.
    pub contender: &'static str,
    /// Client's share of a call.
    pub client: f64,
    /// Server's share of a call.
    pub server: f64,
}

impl Cost {
    fn agrees_with(&self, other: &Self) -> bool {
        let close = |one: f64, other: f64| (one - other).abs() < DISAGREEMENT;
        close(self.client, other.client) && close(self.server, other.server)
    }
}

/// Report of the counts.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Instrument that counted.
    pub instrument: Instrument,
    /// Machine of the counts.
    pub machine: Machine,
    /// Environment on which the counts depend.
    pub environment: Environment,
    /// Environment variables of both processes.
    pub variables: Vec<(&'static str, &'static str)>,
    /// Parts left out, with the reasons.
    pub skipped: Vec<String>,
    /// Costs per call.
    pub costs: Vec<Cost>,
}

/// Runs the command.
///
/// # Errors
/// A contender or the instrument fails.
pub fn run(harness: &Harness, instrument: Instrument, options: &Options) -> Result<()> {
    if let Err(reason) = instrument.check() {
        println!("skipped: {reason}");
        return Ok(());
    }
    let mut wanted = Wanted::named(&options.contenders)?;
    if options.contenders.is_empty() {
        wanted = wanted.without_floors();
    }
    let (contenders, absent) = contender::known(harness, &wanted);
    let cases = match options.cases.is_empty() {
        true => case::of_the_goals(),
        false => options.cases.clone(),
    };
    let report = measure(instrument, &contenders, &absent, &cases, options.calls)?;
    options.json.show(&report)
}

/// Counts every case by every contender that starts.
///
/// # Errors
/// The instrument fails; [`Instrument::check`] tells whether it is there.
pub fn measure(
    instrument: Instrument,
    contenders: &[Contender],
    absent: &[Absent],
    cases: &[Case],
    calls: u32,
) -> Result<Report> {
    let left_out = |absent: &Absent| format!("{}: {}", absent.name, absent.reason);
    let mut report = Report {
        instrument,
        machine: Machine::this(),
        environment: Environment::this(),
        variables: instrument.environment(),
        skipped: absent.iter().map(left_out).collect(),
        costs: Vec::new(),
    };
    let progress = progress(contenders.len() * cases.len());
    for contender in contenders {
        // This shows whether the ORB knows its options.
        if let Err(reason) = contender.start(&Launch::default()) {
            report.skipped.push(reason.to_string());
            continue;
        }
        for &case in cases.iter().filter(|case| contender.knows(**case)) {
            progress.set_message(format!("{} {case}", contender.name));
            report
                .costs
                .push(agreed(instrument, contender, case, calls)?);
            progress.inc(1);
        }
    }
    progress.finish_and_clear();
    report.costs.sort_by_key(|cost| {
        let place = |case: &Case| case.to_string() == cost.case;
        cases.iter().position(place)
    });
    Ok(report)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (title, digits) = match self.instrument {
            Instrument::Instructions => ("user-space instructions a call", 0),
            Instrument::SystemCalls => ("system calls a call", 2),
            Instrument::Allocations => ("allocations a call", 2),
            Instrument::ContextSwitches => {
                ("context switches a call, both sides on one processor", 2)
            }
        };
        let number = |value: f64| Cell::new(format!("{value:.digits$}"), Tone::Plain);
        let row = |cost: &Cost| {
            let cells = vec![
                Cell::new(cost.contender, Tone::Plain),
                number(cost.client),
                number(cost.server),
            ];
            (cost.case.clone(), cells)
        };
        let table = Table {
            title: title.to_owned(),
            columns: ["contender", "client", "server"]
                .map(str::to_owned)
                .to_vec(),
            rows: self.costs.iter().map(row).collect(),
        };
        writeln!(f, "{}", self.environment)?;
        for (name, value) in &self.variables {
            writeln!(f, "{name}={value}")?;
        }
        write!(f, "{table}")?;
        for skipped in &self.skipped {
            writeln!(f, "skipped {skipped}")?;
        }
        Ok(())
    }
}

/// Returns a count on which two runs agree. Instructions and allocations depend on the program
/// alone; the kernel's counts grow when a busy machine lets a time-out pass or a wait end early, so
/// these are repeated.
fn agreed(instrument: Instrument, contender: &Contender, case: Case, calls: u32) -> Result<Cost> {
    let mut last = cost(instrument, contender, case, calls)?;
    if !matches!(instrument, Instrument::SystemCalls) {
        return Ok(last);
    }
    for _ in 1..MOST_COUNTS {
        let next = cost(instrument, contender, case, calls)?;
        let agree = next.agrees_with(&last);
        last = next;
        if agree {
            break;
        }
    }
    Ok(last)
}

#[allow(clippy::cast_precision_loss)]
fn cost(instrument: Instrument, contender: &Contender, case: Case, calls: u32) -> Result<Cost> {
    let calls = match instrument {
        Instrument::ContextSwitches => calls.saturating_mul(SWITCHED),
        _ => calls,
    };
    let count = |calls| match instrument {
        Instrument::ContextSwitches => count_switches(contender, case, calls),
        _ => count_under(instrument, contender, case, calls),
    };
    let (short, long) = (count(calls)?, count(calls * 2)?);
    let each = |short: u64, long: u64| (long as f64 - short as f64) / f64::from(calls);
    Ok(Cost {
        case: case.to_string(),
        contender: contender.name,
        client: each(short.client, long.client),
        server: each(short.server, long.server),
    })
}

struct Counts {
    client: u64,
    server: u64,
}

/// Counts both processes from their start to their end.
fn count_under(
    instrument: Instrument,
    contender: &Contender,
    case: Case,
    calls: u32,
) -> Result<Counts> {
    let directory = tempfile::tempdir()?;
    let (client, server) = (
        directory.path().join("client"),
        directory.path().join("server"),
    );
    let mut running = contender.start(&Launch {
        client: instrument.wrapper(&client),
        server: instrument.wrapper(&server),
        environment: instrument.environment(),
        is_counted: true,
        ..Launch::default()
    })?;
    running.call(case, calls)?;
    running.stop()?;
    Ok(Counts {
        client: instrument.read(&client)?,
        server: instrument.read(&server)?,
    })
}

/// Counts switches with both sides on one processor, so that each call must switch.
fn count_switches(contender: &Contender, case: Case, calls: u32) -> Result<Counts> {
    let mut running = contender.start(&Launch {
        processors: Some(Placement::Same.pinned()?),
        is_counted: true,
        ..Launch::default()
    })?;
    running.call(case, calls)?;
    let (client, server) = running.observed();
    let counts = Counts {
        client: client.switches()?.in_all(),
        server: server.switches()?.in_all(),
    };
    running.stop()?;
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_calls_show_fractions_and_instructions_do_not() {
        let report = |instrument| Report {
            instrument,
            machine: Machine::this(),
            environment: Environment::this(),
            variables: Vec::new(),
            skipped: Vec::new(),
            costs: vec![Cost {
                case: "cube_void".to_owned(),
                contender: "punctual",
                client: 2.25,
                server: 1000.0,
            }],
        };
        assert!(report(Instrument::SystemCalls).to_string().contains("2.25"));
        let whole = report(Instrument::Instructions).to_string();
        assert!(
            whole.contains("1000") && !whole.contains("1000.0"),
            "{whole}"
        );
    }
}
