//! `instructions`, `system-calls`, `allocations`, `context-switches`: what a call costs, counted rather
//! than timed.
//!
//! Both processes run under an instrument for n calls, and again for 2n; the difference divided by n
//! is a call's, and the start and the end cancel. Context switches the kernel counts itself.

use crate::Result;
use crate::case::{self, Case};
use crate::contender::{self, Absent, Contender, Harness, Wanted};
use crate::machine::{Environment, Machine};
use crate::output::{Json, progress};
use crate::placement::Placement;
use crate::running::{Launch, Wrapper};
use crate::table::{Cell, Table, Tone};
use clap::Args;
use serde::Serialize;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// What counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Instrument {
    /// valgrind's callgrind: instructions of the process itself, without the kernel's.
    Instructions,
    /// strace: entries into the kernel.
    SystemCalls,
    /// valgrind's memcheck: calls of `malloc` and `realloc`.
    Allocations,
    /// The kernel's own count of when a thread was switched from, both sides on one processor.
    ContextSwitches,
}

/// Without an instrument calls are quick, and what else runs switches, too: so many more are made.
const SWITCHED: u32 = 20;

/// Counts of the same that are made at most, until two agree.
const MOST_COUNTS: u32 = 5;

/// Counts of a call that differ by less are the same.
const DISAGREEMENT: f64 = 0.05;

/// What to count.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Only these contenders; without it the usual ones, but for the floor.
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

/// What one contender's call costs in one case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// The case.
    pub case: String,
    /// Who.
    pub contender: &'static str,
    /// The client's share of a call.
    pub client: f64,
    /// The server's.
    pub server: f64,
}

impl Cost {
    fn agrees_with(&self, other: &Self) -> bool {
        let close = |one: f64, other: f64| (one - other).abs() < DISAGREEMENT;
        close(self.client, other.client) && close(self.server, other.server)
    }
}

/// What was counted.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// By what.
    pub instrument: Instrument,
    /// Where.
    pub machine: Machine,
    /// What the counts depend on besides.
    pub environment: Environment,
    /// Variables that both processes had.
    pub variables: Vec<(&'static str, &'static str)>,
    /// What was left out, and why.
    pub skipped: Vec<String>,
    /// The counts, a call.
    pub costs: Vec<Cost>,
}

/// Runs the command.
///
/// # Errors
/// When a contender fails, or the instrument.
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
/// When the instrument fails; [`Instrument::check`] tells whether it is there.
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
        // Whether the ORB knows its options.
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

/// What two counts agree on. Instructions and allocations are the program's alone; the kernel also enters
/// the count when a busy machine lets a time-out pass or a wait end early, so these are counted again.
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

/// Both processes' counts from their start to their end.
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
        ..Launch::default()
    })?;
    running.call(case, calls)?;
    running.stop()?;
    Ok(Counts {
        client: instrument.read(&client)?,
        server: instrument.read(&server)?,
    })
}

/// Both sides on one processor, so that each call must switch.
fn count_switches(contender: &Contender, case: Case, calls: u32) -> Result<Counts> {
    let mut running = contender.start(&Launch {
        processors: Some(Placement::Same.processors()?),
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

impl Instrument {
    fn program(self) -> Option<&'static str> {
        match self {
            Self::Instructions | Self::Allocations => Some("valgrind"),
            Self::SystemCalls => Some("strace"),
            Self::ContextSwitches => None,
        }
    }

    /// Whether it is installed and works.
    ///
    /// # Errors
    /// The reason why not.
    pub fn check(self) -> Result<()> {
        let Some(program) = self.program() else {
            return Ok(());
        };
        let mut command = Command::new(program);
        command.arg("--version").stdout(Stdio::null());
        match command.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("{program} does not work here: {status}").into()),
            Err(error) => Err(format!("{program} is not to be had here: {error}").into()),
        }
    }

    /// What a program is run under to leave its count in `file`.
    pub(crate) fn wrapper(self, file: &Path) -> Wrapper {
        let with_file = |option: &str| {
            let mut option = OsString::from(option);
            option.push(file);
            option
        };
        let words: &[&str] = match self {
            Self::Instructions => &["valgrind", "--quiet", "--tool=callgrind"],
            Self::Allocations => &[
                "valgrind",
                "--tool=memcheck",
                "--leak-check=no",
                "--undef-value-errors=no",
                // Nobody asks where, and it takes most of the start.
                "--read-inline-info=no",
            ],
            Self::SystemCalls => &["strace", "--follow-forks", "--summary-only"],
            Self::ContextSwitches => &[],
        };
        let mut wrapper: Wrapper = words.iter().map(OsString::from).collect();
        match self {
            Self::Instructions => wrapper.push(with_file("--callgrind-out-file=")),
            Self::Allocations => wrapper.push(with_file("--log-file=")),
            Self::SystemCalls => wrapper.push(with_file("--output=")),
            Self::ContextSwitches => {}
        }
        wrapper
    }

    /// Under callgrind, one `rep movsb` counts once for each octet that it moves, so that a copy
    /// seems dearer the longer it is: the C library is told never to use it.
    #[must_use]
    pub fn environment(self) -> Vec<(&'static str, &'static str)> {
        match self {
            Self::Instructions => vec![(
                "GLIBC_TUNABLES",
                "glibc.cpu.x86_rep_movsb_threshold=1000000000",
            )],
            _ => Vec::new(),
        }
    }

    pub(crate) fn read(self, file: &Path) -> Result<u64> {
        let text = fs::read_to_string(file)?;
        let found = match self {
            Self::Instructions => callgrind_total(&text),
            Self::Allocations => memcheck_total(&text),
            Self::SystemCalls => strace_total(&text),
            Self::ContextSwitches => None,
        };
        found.ok_or_else(|| format!("{self:?}: the instrument left no total").into())
    }
}

/// `totals: 123`, or `summary: 123` in the versions that lack it.
fn callgrind_total(text: &str) -> Option<u64> {
    let value = |name: &str| {
        let line = text.lines().rfind(|line| line.starts_with(name))?;
        line[name.len()..].trim().parse().ok()
    };
    value("totals:").or_else(|| value("summary:"))
}

/// `100.00    0.000123           1       123         4 total`: the column of calls.
fn strace_total(text: &str) -> Option<u64> {
    let line = text.lines().rfind(|line| line.ends_with(" total"))?;
    line.split_whitespace().nth(3)?.parse().ok()
}

/// `==7==   total heap usage: 1,234 allocs, 1,230 frees, 5,678 bytes allocated`
fn memcheck_total(text: &str) -> Option<u64> {
    let (_, behind) = text.rsplit_once("total heap usage: ")?;
    let number = behind.split_whitespace().next()?;
    number.replace(',', "").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_total_of_callgrind_counts() {
        let text = "events: Ir\nfn=(1) main\n1 5\n\nsummary: 4\ntotals: 1234567\n";
        assert_eq!(callgrind_total(text), Some(1_234_567));
        assert_eq!(callgrind_total("events: Ir\nsummary: 7\n"), Some(7));
        assert_eq!(callgrind_total("events: Ir\n"), None);
    }

    #[test]
    fn the_calls_of_strace_are_found_in_its_summary() {
        let text = "% time     seconds  usecs/call     calls    errors syscall\n\
            ------ ----------- ----------- --------- --------- ----------------\n\
             60.00    0.000030           1        20           read\n\
            ------ ----------- ----------- --------- --------- ----------------\n\
            100.00    0.000050           1        33         2 total\n";
        assert_eq!(strace_total(text), Some(33));
        assert_eq!(strace_total(""), None);
    }

    #[test]
    fn the_allocations_of_memcheck_are_read_with_their_commas() {
        let text = "==7== HEAP SUMMARY:\n==7==     in use at exit: 0 bytes in 0 blocks\n\
            ==7==   total heap usage: 1,234,567 allocs, 9 frees, 5,678 bytes allocated\n";
        assert_eq!(memcheck_total(text), Some(1_234_567));
        assert_eq!(memcheck_total("==7== HEAP SUMMARY:\n"), None);
    }

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
