//! Instruments: the counting programs, how a process is run under them, and where their totals are.

use crate::Result;
use serde::Serialize;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Instrument that counts events of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Instrument {
    /// valgrind's callgrind: instructions of the process itself, without the kernel's.
    Instructions,
    /// Instrument strace, which counts entries into the kernel.
    SystemCalls,
    /// Instrument memcheck of valgrind, which counts calls of `malloc` and `realloc`.
    Allocations,
    /// Instrument DHAT of valgrind in its mode that counts the bytes which the C library's functions copy: `memcpy`,
    /// `memmove` and the like, which longer copies of Rust and C++ call as well. The kernel's are not among them.
    CopiedBytes,
    /// Kernel's own count of context switches, with both sides on one processor.
    ContextSwitches,
}

impl Instrument {
    fn program(self) -> Option<&'static str> {
        match self {
            Self::Instructions | Self::Allocations | Self::CopiedBytes => Some("valgrind"),
            Self::SystemCalls => Some("strace"),
            Self::ContextSwitches => None,
        }
    }

    /// Checks that the instrument is installed and works.
    ///
    /// # Errors
    /// The reason why it does not.
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

    /// Returns a command under the instrument, which leaves its count in `file`.
    pub(crate) fn around(self, command: &Command, file: &Path) -> Command {
        let wrapper = self.wrapper(file);
        let program = command.get_program();
        let mut words = wrapper.iter().map(OsString::as_os_str);
        let mut around = Command::new(words.next().unwrap_or(program));
        around.args(words);
        if !wrapper.is_empty() {
            around.arg(program);
        }
        around.args(command.get_args()).envs(self.environment());
        around
    }

    /// Counts a process from its start to its end.
    ///
    /// # Errors
    /// The process fails, or the instrument leaves no total.
    pub(crate) fn count(self, command: &Command) -> Result<u64> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("count");
        let status = self.around(command, &file).status()?;
        match status.success() {
            true => self.read(&file),
            false => Err(format!("the counted process ended with {status}").into()),
        }
    }

    fn wrapper(self, file: &Path) -> Vec<OsString> {
        let with_file = |option: &str| {
            let mut option = OsString::from(option);
            option.push(file);
            option
        };
        let words: &[&str] = match self {
            Self::Instructions => &[
                "valgrind",
                "--quiet",
                "--tool=callgrind",
                // The counter's rate is measured for a fixed time, not by a fixed number of instructions.
                "--toggle-collect=*cycles::Rate::calibrate*",
                // Otherwise only that would be counted. The order of the two matters.
                "--collect-atstart=yes",
            ],
            Self::Allocations => &[
                "valgrind",
                "--tool=memcheck",
                "--leak-check=no",
                "--undef-value-errors=no",
                // Source positions are not needed, and reading them takes most of the start.
                "--read-inline-info=no",
            ],
            Self::CopiedBytes => &[
                "valgrind",
                "--tool=dhat",
                "--mode=copy",
                "--dhat-out-file=/dev/null",
                "--read-inline-info=no",
            ],
            Self::SystemCalls => &["strace", "--follow-forks", "--summary-only"],
            Self::ContextSwitches => &[],
        };
        let mut wrapper: Vec<OsString> = words.iter().map(OsString::from).collect();
        match self {
            Self::Instructions => wrapper.push(with_file("--callgrind-out-file=")),
            Self::Allocations | Self::CopiedBytes => wrapper.push(with_file("--log-file=")),
            Self::SystemCalls => wrapper.push(with_file("--output=")),
            Self::ContextSwitches => {}
        }
        wrapper
    }

    /// Returns the environment variables of counted processes. Under callgrind, one `rep movsb`
    /// counts once for each byte that it moves, so that a copy seems dearer the longer it is: the
    /// variables keep the C library from using it.
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
            Self::CopiedBytes => dhat_total(&text),
            Self::SystemCalls => strace_total(&text),
            Self::ContextSwitches => None,
        };
        found.ok_or_else(|| format!("{self:?}: the instrument left no total").into())
    }
}

/// Returns the count of one call: the difference between a run of `calls` calls and one of twice as
/// many, so that the costs of start and end cancel.
///
/// # Errors
/// Those of `count`.
#[allow(clippy::cast_precision_loss)]
pub(crate) fn of_one<const N: usize>(
    calls: u32,
    count: impl Fn(u32) -> Result<[u64; N]>,
) -> Result<[f64; N]> {
    let (short, long) = (count(calls)?, count(calls * 2)?);
    Ok(std::array::from_fn(|side| {
        (long[side] as f64 - short[side] as f64) / f64::from(calls)
    }))
}

/// Counts until two counts in a row agree, at most `most` times, and returns the last one.
///
/// # Errors
/// Those of `count`.
pub(crate) fn agreed<T>(
    most: usize,
    count: impl Fn() -> Result<T>,
    agree: impl Fn(&T, &T) -> bool,
) -> Result<T> {
    let mut last = count()?;
    for _ in 1..most {
        let next = count()?;
        let is_enough = agree(&next, &last);
        last = next;
        if is_enough {
            break;
        }
    }
    Ok(last)
}

/// Returns the total that callgrind prints as `totals: 123`, or as `summary: 123` in the versions
/// that lack it.
fn callgrind_total(text: &str) -> Option<u64> {
    let value = |name: &str| {
        let line = text.lines().rfind(|line| line.starts_with(name))?;
        line[name.len()..].trim().parse().ok()
    };
    value("totals:").or_else(|| value("summary:"))
}

/// Returns the number of calls from strace's summary line: `100.00    0.000123           1
/// 123         4 total`.
fn strace_total(text: &str) -> Option<u64> {
    let line = text.lines().rfind(|line| line.ends_with(" total"))?;
    line.split_whitespace().nth(3)?.parse().ok()
}

/// Returns the number of allocations from memcheck's line: `==7==   total heap usage: 1,234 allocs,
/// 1,230 frees, 5,678 bytes allocated`.
fn memcheck_total(text: &str) -> Option<u64> {
    number_behind(text, "total heap usage: ")
}

/// Returns the number of bytes from DHAT's line: `==7== Total:     1,234 bytes in 5 blocks`.
fn dhat_total(text: &str) -> Option<u64> {
    number_behind(text, "Total: ")
}

/// Returns the number behind the last place of these words, which may have commas.
fn number_behind(text: &str, words: &str) -> Option<u64> {
    let (_, behind) = text.rsplit_once(words)?;
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
    fn the_bytes_of_dhat_are_read_with_their_commas() {
        let text = "==7== DHAT, a dynamic heap analysis tool\n==7== \n==7== Total:     655,645 bytes in 33 blocks\n==7== \n";
        assert_eq!(dhat_total(text), Some(655_645));
        assert_eq!(dhat_total("==7== DHAT\n"), None);
    }
}
