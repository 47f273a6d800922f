//! Results of test programs: counts, failures, processor time.

use super::load::keep_test_threads;
use super::machine::Machine;
use super::programs::Program;
use crate::run::{Result, root};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde::Serialize;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// USER_HZ, in which `/proc` counts processor time: 100 on every machine that Punctual runs on.
const TICKS_A_SECOND: f64 = 100.0;

/// Results of running all test programs once.
#[derive(Debug, Serialize)]
pub(super) struct Round {
    pub(super) number: u32,
    pub(super) verdicts: Vec<Verdict>,
}

/// Result of running one test program.
#[derive(Debug, Serialize)]
pub(super) struct Verdict {
    program: String,
    passed: u32,
    ignored: u32,
    /// Names of the tests that failed, or how the program ended.
    pub(super) failures: Vec<String>,
    /// Processor time used by the test program, in seconds, and by those that ended meanwhile.
    processor_seconds: f64,
    /// Wall-clock time of the test program's run, in seconds.
    seconds: f64,
}

impl Verdict {
    /// Runs a test program; on a busy machine, on the one processor to which this thread is pinned. A program that takes
    /// longer than [`LIMIT`] is ended, and its tests that have not ended have failed.
    pub(super) fn of(program: &Program, machine: Machine<'_>) -> Result<Self> {
        let mut command = match machine {
            Machine::Delayed(delays) => delays.command(program),
            _ => Command::new(&program.file),
        };
        command
            .current_dir(&program.folder)
            .env("CARGO_MANIFEST_DIR", &program.folder)
            .stdin(Stdio::null());
        if let Machine::Busy(load) = machine {
            keep_test_threads(&mut command, load);
        }
        let (before, began) = (children_seconds()?, Instant::now());
        let output = output(command, program, machine)?;
        let text = String::from_utf8_lossy(&output.stdout);
        let mut failures = failed_tests(&text);
        if began.elapsed() >= LIMIT {
            failures.extend(unended_tests(&text));
        }
        if failures.is_empty() && !output.status.success() {
            let told = String::from_utf8_lossy(&output.stderr);
            let last = told.lines().rev().take(5).collect::<Vec<_>>();
            failures.push(format!("{}: {}", output.status, last.join(" | ")));
        }
        if !failures.is_empty() {
            keep_output(program, &text, &String::from_utf8_lossy(&output.stderr))?;
        }
        Ok(Self {
            program: program.shown(),
            passed: count(&text, "passed"),
            ignored: count(&text, "ignored"),
            failures,
            processor_seconds: children_seconds()? - before,
            seconds: began.elapsed().as_secs_f64(),
        })
    }

    /// Returns what became of the program, in one line.
    pub(super) fn line(&self) -> String {
        let (program, failed) = (&self.program, self.failures.len());
        format!(
            "{program}: {} passed, {failed} failed, {} ignored, {:.0} s",
            self.passed, self.ignored, self.seconds
        )
    }

    /// Returns the names of the tests that failed, with that of the program.
    pub(super) fn failed_tests(&self) -> impl Iterator<Item = String> {
        let failures = self.failures.iter();
        failures.map(|name| format!("{}: {name}", self.program))
    }
}

/// Longest time that a test program may take. The slowest, a crash test with 50 kills, takes some twelve minutes on a quiet
/// machine.
const LIMIT: Duration = Duration::from_secs(1800);

/// Runs a program, and ends it after [`LIMIT`]. One under strace has a process group of its own, which is ended with it; the
/// others stay in that of this process, so that Ctrl-C in a terminal ends them.
fn output(mut command: Command, program: &Program, machine: Machine<'_>) -> Result<Output> {
    let failed = |error| format!("{} could not be run: {error}", program.shown());
    let end_by = match machine {
        Machine::Delayed(_) => {
            command.process_group(0);
            kill_process_group
        }
        _ => kill_process,
    };
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let pid = Pid::from_child(&child);
    let (ended, end) = mpsc::channel::<()>();
    let watch = std::thread::spawn(move || {
        if end.recv_timeout(LIMIT) == Err(mpsc::RecvTimeoutError::Timeout) {
            // It may have ended just now.
            let _ = end_by(pid, Signal::KILL);
        }
    });
    let output = child.wait_with_output().map_err(failed);
    drop(ended);
    // It cannot panic.
    let _ = watch.join();
    output
}

/// Returns the names of the tests that a program's output reports as slow, and of which it reports no result.
fn unended_tests(text: &str) -> Vec<String> {
    let slow = text.lines().filter_map(|line| {
        let line = line.strip_prefix("test ")?;
        line.strip_suffix(" has been running for over 60 seconds")
    });
    slow.filter(|name| !text.contains(&format!("test {name} ... ")))
        .map(|name| format!("{name} (did not end)"))
        .collect()
}

/// Lines of a failed program's output that are printed.
const SHOWN: usize = 100;

/// Writes the output of a failed program to a file in target/tests, and prints its last lines and the file's path.
fn keep_output(program: &Program, said: &str, told: &str) -> Result<()> {
    let folder = root().join("target/tests");
    let file = folder.join(format!("{}-{}.txt", program.package, program.name));
    let failed = |error| format!("{}: {error}", file.display());
    fs::create_dir_all(&folder).map_err(failed)?;
    let text = format!("{told}\n{said}");
    fs::write(&file, &text).map_err(failed)?;
    let lines: Vec<&str> = text.lines().collect();
    let last = lines.len().saturating_sub(SHOWN);
    eprintln!("\r\x1b[K{}", lines[last..].join("\n"));
    eprintln!("all of its output: {}", file.display());
    Ok(())
}

/// Returns the names of the tests that a program's output reports as failed.
fn failed_tests(text: &str) -> Vec<String> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("test "));
    lines
        .filter_map(|line| line.strip_suffix(" ... FAILED"))
        .map(str::to_owned)
        .collect()
}

/// Returns the sum of the numbers before `word` in a program's result lines.
fn count(text: &str, word: &str) -> u32 {
    text.lines()
        .filter(|line| line.starts_with("test result:"))
        .flat_map(|line| line.split([';', '.']))
        .filter_map(|part| part.trim().strip_suffix(word)?.trim().parse::<u32>().ok())
        .sum()
}

/// Returns the processor time in seconds of the child processes that have ended and been waited
/// for, including their own children.
pub(super) fn children_seconds() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")
        .map_err(|error| format!("/proc/self/stat: {error}"))?;
    // Behind the name in parentheses: state is field 3, cutime and cstime are 16 and 17 (proc(5)).
    let ticks: u64 = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .skip(13)
        .take(2)
        .filter_map(|field| field.parse::<u64>().ok())
        .sum();
    Ok(ticks as f64 / TICKS_A_SECOND)
}

/// Prints a table of the programs that took longest or failed, and the totals.
pub(super) fn print(rounds: &[Round], programs: &[Program], build_seconds: f64) {
    for round in rounds {
        let mut verdicts: Vec<&Verdict> = round.verdicts.iter().collect();
        verdicts.sort_by(|a, b| b.processor_seconds.total_cmp(&a.processor_seconds));
        println!(
            "round {}: processor s, wall s, passed, failed",
            round.number
        );
        for one in verdicts.iter().take(15) {
            println!(
                "{:9.1} {:8.1} {:6} {:4}  {}",
                one.processor_seconds,
                one.seconds,
                one.passed,
                one.failures.len(),
                one.program
            );
        }
        let sum = |of: fn(&Verdict) -> f64| round.verdicts.iter().map(of).sum::<f64>();
        println!(
            "{:9.1} {:8.1} {:6} {:4}  all {} programs, {} ignored",
            sum(|one| one.processor_seconds),
            sum(|one| one.seconds),
            sum(|one| f64::from(one.passed)),
            round
                .verdicts
                .iter()
                .map(|one| one.failures.len())
                .sum::<usize>(),
            programs.len(),
            sum(|one| f64::from(one.ignored)),
        );
    }
    let target = std::env::var_os("CARGO_TARGET_DIR");
    let built = target
        .map_or_else(|| root().join("target"), PathBuf::from)
        .join("debug");
    println!(
        "building them took {build_seconds:.0} s of processor time; {} has {:.1} GiB",
        built.display(),
        size(&built) as f64 / f64::from(1 << 30)
    );
}

/// Returns the total size in bytes of all files below a folder.
fn size(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else {
        return 0;
    };
    entries
        .flatten()
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => size(&entry.path()),
            _ => entry.metadata().map_or(0, |metadata| metadata.len()),
        })
        .sum()
}

/// Writes the results of all test runs to a file as JSON.
pub(super) fn write(file: &Path, rounds: &[Round], build_seconds: f64) -> Result<()> {
    #[derive(Serialize)]
    struct Results<'r> {
        build_processor_seconds: f64,
        rounds: &'r [Round],
    }
    let results = Results {
        build_processor_seconds: build_seconds,
        rounds,
    };
    let text = serde_json::to_string_pretty(&results).map_err(|error| error.to_string())?;
    fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))
}

/// Returns an error with the names of all tests that failed in any round.
pub(super) fn failures(rounds: &[Round]) -> Result<()> {
    let all: Vec<String> = rounds
        .iter()
        .flat_map(|round| round.verdicts.iter().map(move |one| (round, one)))
        .flat_map(|(round, one)| {
            one.failed_tests()
                .map(move |test| format!("round {}: {test}", round.number))
        })
        .collect();
    match all.is_empty() {
        true => Ok(()),
        false => Err(format!("tests failed:\n  {}", all.join("\n  "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\nrunning 3 tests\ntest a::b ... ok\ntest a::c ... FAILED\ntest d ... ignored, slow\n\n\
        test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.53s\n";

    #[test]
    fn a_programs_lines_say_what_passed_and_which_failed() {
        assert_eq!(failed_tests(TEXT), ["a::c"]);
        assert_eq!(count(TEXT, "passed"), 1);
        assert_eq!(count(TEXT, "ignored"), 1);
        assert_eq!(count("running 0 tests", "passed"), 0);
    }

    #[test]
    fn tests_that_have_not_ended_are_those_that_are_slow_and_have_no_result() {
        let text = "test a has been running for over 60 seconds\n\
            test b has been running for over 60 seconds\ntest a ... ok\n";
        assert_eq!(unended_tests(text), ["b (did not end)"]);
    }
}
