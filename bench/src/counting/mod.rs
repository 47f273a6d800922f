//! `instructions`, `system-calls`, `allocations`, `copies`, `context-switches`: cost of a call, counted
//! rather than timed.
//!
//! Both processes run under an instrument for n calls, and again for 2n; the difference divided by
//! n is the cost of a call, as the costs of start and end cancel. The kernel counts context
//! switches itself.

mod instrument;

pub use instrument::Instrument;
pub(crate) use instrument::{agreed, of_one};

use crate::Result;
use crate::case::{self, Case};
use crate::contender::{self, Absent, Contender, Harness, Selection};
use crate::experiment::{Column, Experiment, Report, Row, Tabled};
use crate::machine::{ENVIRONMENT, Environment};
use crate::output::Json;
use crate::placement::Placement;
use crate::progress::progress;
use crate::protocol::Command;
use crate::running::Launch;
use clap::Args;
use std::path::PathBuf;

pub(crate) static EXPERIMENT: Experiment = Experiment::new(
    "instructions, system-calls, allocations, copies, context-switches",
    "what a call costs, counted rather than timed",
)
.frames(&["costs"])
.conditions(ENVIRONMENT)
.tables(&[
    Tabled::listing(
        "costs",
        "user-space instructions a call",
        "{case}",
        &[
            Column::text("contender", "contender"),
            Column::number("client", "client"),
            Column::number("server", "server"),
        ],
    )
    .only(|row| row.is("instrument", "instructions"))
    .each(&["instrument"]),
    Tabled::listing(
        "costs",
        "{instrument} a call",
        "{case}",
        &[
            Column::text("contender", "contender"),
            Column::ratio("client", "client"),
            Column::ratio("server", "server"),
        ],
    )
    .only(|row| !row.is("instrument", "instructions"))
    .each(&["instrument"]),
]);

/// Factor by which more calls are made when context switches are counted: without an instrument
/// calls are quick, and switches caused by other processes must be averaged out.
const SWITCHED: u32 = 20;

/// Maximum number of times that a case is counted until two counts agree.
const MOST_COUNTS: usize = 5;

/// Difference below which two counts of a call agree, as a fraction.
const DISAGREEMENT: f64 = 0.05;

/// Options of the commands that count: `instructions`, `system-calls` and the like.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Only these contenders; by default the usual ones without the raw-socket baseline.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub contenders: Vec<String>,
    /// Only these cases.
    #[arg(long, value_delimiter = ',')]
    pub cases: Vec<Case>,
    /// Calls in the shorter of the two runs whose difference is counted.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub calls: u32,
    #[command(flatten)]
    json: Json,
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
    let mut wanted = Selection::named(&options.contenders)?;
    if options.contenders.is_empty() {
        wanted = wanted.without_floors();
    }
    let (contenders, absent) = contender::known(harness, &wanted);
    let cases = match options.cases.is_empty() {
        true => case::of_the_goals(),
        false => options.cases.clone(),
    };
    let report = measure(instrument, &contenders, &absent, &cases, options.calls)?;
    options.json.deliver(&report)
}

/// Counts every case by every contender that starts.
///
/// # Errors
/// The instrument fails; [`Instrument::check`] tells whether it is there.
pub(crate) fn measure(
    instrument: Instrument,
    contenders: &[Contender],
    absent: &[Absent],
    cases: &[Case],
    calls: u32,
) -> Result<Report> {
    let settings = Environment::this()
        .on(Row::default().with("instrument", instrument))
        .with("variables", instrument.environment());
    let mut report = Report::without(&EXPERIMENT, settings, absent);
    // This shows whether the ORB knows its options.
    let starts = |contender: &&Contender| match contender.start(&Launch::default()) {
        Ok(_) => true,
        Err(reason) => {
            report.skip(format!("{contender}: {reason}"));
            false
        }
    };
    let contenders: Vec<&Contender> = contenders.iter().filter(starts).collect();
    let progress = progress(contenders.len() * cases.len());
    for &case in cases {
        for contender in contenders.iter().filter(|one| one.knows(case)) {
            progress.set_message(format!("{contender} {case}"));
            let [client, server] = cost(instrument, contender, case, calls)?;
            let row = Row::default()
                .with("case", case.to_string())
                .with("contender", contender.name)
                .with("client", client)
                .with("server", server)
                .with("instrument", instrument);
            report.add("costs", [row]);
            progress.inc(1);
        }
    }
    progress.finish_and_clear();
    Ok(report)
}

/// Returns the client's and the server's share of a call. Instructions and allocations depend on the
/// program alone; the kernel's counts grow when a busy machine lets a time-out pass or a wait end
/// early, so these are repeated until two agree.
fn cost(instrument: Instrument, contender: &Contender, case: Case, calls: u32) -> Result<[f64; 2]> {
    let count = || match instrument {
        Instrument::ContextSwitches => of_one(calls.saturating_mul(SWITCHED), |calls| {
            count_switches(contender, case, calls)
        }),
        _ => of_one(calls, |calls| {
            count_under(instrument, contender, case, calls)
        }),
    };
    let most = match instrument {
        Instrument::SystemCalls => MOST_COUNTS,
        _ => 1,
    };
    agreed(most, count, |one, other| {
        let mut both = one.iter().zip(other);
        both.all(|(one, other)| (one - other).abs() < DISAGREEMENT)
    })
}

/// Counts both processes from their start to their end.
fn count_under(
    instrument: Instrument,
    contender: &Contender,
    case: Case,
    calls: u32,
) -> Result<[u64; 2]> {
    let folder = tempfile::tempdir()?;
    let mut pair = contender.start(&Launch {
        counted: Some((instrument, folder.path().to_owned())),
        ..Launch::default()
    })?;
    pair.ask(Command::Calls { case, calls })?;
    pair.stop()?;
    let read = |side: &str| instrument.read(&folder.path().join(side));
    Ok([read("client")?, read("server")?])
}

/// Counts context switches with both sides on one processor, so that each call must switch.
fn count_switches(contender: &Contender, case: Case, calls: u32) -> Result<[u64; 2]> {
    let mut pair = contender.start(&Launch {
        processors: Some(Placement::Same.pinned()?),
        counted: Some((Instrument::ContextSwitches, PathBuf::new())),
        ..Launch::default()
    })?;
    pair.ask(Command::Calls { case, calls })?;
    let (client, server) = pair.observed();
    let counts = [client.switches()?.in_all(), server.switches()?.in_all()];
    pair.stop()?;
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_calls_show_fractions_and_instructions_do_not() {
        let shown = |instrument| {
            let mut report = Report::new(&EXPERIMENT, Row::default());
            let cost = Row::default()
                .with("case", "cube_void")
                .with("client", 2.25)
                .with("server", 1000.0)
                .with("instrument", instrument);
            report.add("costs", [cost]);
            report.to_string()
        };
        assert!(shown(Instrument::SystemCalls).contains("2.25"));
        let whole = shown(Instrument::Instructions);
        assert!(
            whole.contains("1000") && !whole.contains("1000.0"),
            "{whole}"
        );
    }
}
