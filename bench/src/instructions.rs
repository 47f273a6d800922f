//! `instructions` and `system-calls`: what a call costs, counted rather than timed.
//!
//! Both processes run under an instrument for n calls, and again for 2n; the difference divided by n
//! is a call's, and the start and the end cancel.

use crate::Result;
use crate::case::{Case, Operation};
use crate::contender::{Contender, Launch, Wrapper};
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Instrument {
    /// valgrind's callgrind: instructions of the process itself, without the kernel's.
    Callgrind,
    /// strace: entries into the kernel.
    Strace,
}

/// What to count.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Only these contenders.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub contenders: Vec<String>,
    /// Only these cases.
    #[arg(long, value_delimiter = ',')]
    pub cases: Vec<Case>,
    /// Calls of the shorter run.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub calls: u32,
    /// Write the figures to this file.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

impl Options {
    fn cases(&self) -> Vec<Case> {
        if !self.cases.is_empty() {
            return self.cases.clone();
        }
        vec![
            Case::plain(Operation::CubeVoid),
            Case::plain(Operation::CubeLong),
            Case::sized(Operation::TakeOctets, 4096),
            Case::sized(Operation::TakeBinStructs, 1024),
        ]
    }
}

/// What one contender's call costs in one case.
#[derive(Clone, Debug, Serialize)]
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

/// Counts every case by every contender.
///
/// # Errors
/// When a contender fails, or the instrument; [`Instrument::check`] tells whether it is there.
pub fn run(
    instrument: Instrument,
    contenders: &[Contender],
    options: &Options,
) -> Result<Vec<Cost>> {
    let mut costs = Vec::new();
    for case in options.cases() {
        for contender in contenders {
            costs.push(cost(instrument, contender, case, options.calls)?);
        }
    }
    if let Some(path) = &options.json {
        fs::write(path, serde_json::to_string_pretty(&costs)? + "\n")?;
    }
    Ok(costs)
}

/// The figures for people.
#[must_use]
pub fn table(instrument: Instrument, costs: &[Cost]) -> String {
    let what = match instrument {
        Instrument::Callgrind => "user-space instructions a call",
        Instrument::Strace => "system calls a call",
    };
    let mut text = format!(
        "{what}\n{:<22} {:<10} {:>10} {:>10}\n",
        "case", "contender", "client", "server"
    );
    let digits = match instrument {
        Instrument::Callgrind => 0,
        Instrument::Strace => 2,
    };
    for cost in costs {
        // Writing to a String does not fail.
        let _ = writeln!(
            text,
            "{:<22} {:<10} {:>10.digits$} {:>10.digits$}",
            cost.case, cost.contender, cost.client, cost.server
        );
    }
    text
}

#[allow(clippy::cast_precision_loss)]
fn cost(instrument: Instrument, contender: &Contender, case: Case, calls: u32) -> Result<Cost> {
    let short = count(instrument, contender, case, calls)?;
    let long = count(instrument, contender, case, calls * 2)?;
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
fn count(instrument: Instrument, contender: &Contender, case: Case, calls: u32) -> Result<Counts> {
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

impl Instrument {
    fn program(self) -> &'static str {
        match self {
            Self::Callgrind => "valgrind",
            Self::Strace => "strace",
        }
    }

    /// Whether it is installed and works.
    ///
    /// # Errors
    /// The reason why not.
    pub fn check(self) -> Result<()> {
        let program = self.program();
        let mut command = Command::new(program);
        command.arg("--version").stdout(Stdio::null());
        match command.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("{program} does not work here: {status}").into()),
            Err(error) => Err(format!("{program} is not to be had here: {error}").into()),
        }
    }

    /// What a program is run under to leave its count in `file`.
    fn wrapper(self, file: &Path) -> Wrapper {
        let words: &[&str] = match self {
            Self::Callgrind => &["valgrind", "--quiet", "--tool=callgrind"],
            Self::Strace => &["strace", "--follow-forks", "--summary-only"],
        };
        let mut wrapper: Wrapper = words.iter().map(OsString::from).collect();
        match self {
            Self::Callgrind => {
                let mut option = OsString::from("--callgrind-out-file=");
                option.push(file);
                wrapper.push(option);
            }
            Self::Strace => wrapper.extend(["--output".into(), file.into()]),
        }
        wrapper
    }

    /// Under callgrind, one `rep movsb` counts once for each octet that it moves, so that a copy
    /// seems dearer the longer it is: the C library is told never to use it.
    fn environment(self) -> Vec<(&'static str, &'static str)> {
        match self {
            Self::Callgrind => vec![(
                "GLIBC_TUNABLES",
                "glibc.cpu.x86_rep_movsb_threshold=1000000000",
            )],
            Self::Strace => Vec::new(),
        }
    }

    fn read(self, file: &Path) -> Result<u64> {
        let text = fs::read_to_string(file)?;
        let found = match self {
            Self::Callgrind => callgrind_total(&text),
            Self::Strace => strace_total(&text),
        };
        found.ok_or_else(|| format!("{} left no total", self.program()).into())
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
    fn system_calls_show_fractions_and_instructions_do_not() {
        let costs = [Cost {
            case: "cube_void".to_owned(),
            contender: "punctual",
            client: 2.25,
            server: 2.0,
        }];
        assert!(table(Instrument::Strace, &costs).contains("2.25"));
        assert!(!table(Instrument::Callgrind, &costs).contains('.'));
    }
}
