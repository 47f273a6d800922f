//! Test programs that `cargo test` leaves out, as many at a time as there are processors: most of their time they wait, or use
//! a single one.

use super::machine::Machine;
use super::programs::{self, Program};
use super::report::Verdict;
use crate::run::Result;
use std::collections::VecDeque;
use std::num::NonZero;
use std::sync::{Mutex, PoisonError};

/// Feature without which the models of lock-free code are empty.
const LOOM: &str = "punctual-models/loom";

/// Name of the test programs that need loom.
const MODELS: &str = "models";

/// Builds and runs the programs. The models of lock-free code are built by a command of their own, as the libraries that loom
/// needs would change features of those that all others depend on.
pub(super) fn run() -> Result<()> {
    let names = programs::left_out()?;
    println!(
        "test programs left out of `cargo test`: {}",
        names.join(", ")
    );
    let others = names.iter().filter(|name| *name != MODELS);
    let others: Vec<&str> = others.flat_map(|name| ["--test", name]).collect();
    let mut programs = programs::build(&others)?.programs;
    let models = programs::build(&["--test", MODELS, "--features", LOOM])?;
    programs.extend(models.programs);
    let failed = run_all(&programs)?;
    match failed.is_empty() {
        true => Ok(()),
        false => Err(format!("tests failed:\n  {}", failed.join("\n  "))),
    }
}

/// Runs all programs, also after one has failed; returns the names of the tests that failed.
fn run_all(programs: &[Program]) -> Result<Vec<String>> {
    let left = Mutex::new(programs.iter().collect::<VecDeque<_>>());
    let next = || {
        left.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front()
    };
    let run_some = || {
        let mut failed = Vec::new();
        while let Some(program) = next() {
            let verdict = Verdict::of(program, Machine::Quiet)?;
            println!("{}", verdict.line());
            failed.extend(verdict.failed_tests());
        }
        Ok(failed)
    };
    let lanes = std::thread::available_parallelism().map_or(1, NonZero::get);
    std::thread::scope(|scope| {
        let lanes: Vec<_> = (0..lanes).map(|_| scope.spawn(run_some)).collect();
        let ended = lanes.into_iter().map(|lane| {
            let ended = lane.join();
            ended.unwrap_or_else(|_| Err("a thread that ran tests has panicked".to_owned()))
        });
        let failed: Result<Vec<Vec<String>>> = ended.collect();
        Ok(failed?.concat())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    /// Returns a program that prints a line of the test harness, and ends with a status.
    fn program(folder: &Path, name: &str, line: &str, status: u8) -> Program {
        let file = folder.join(name);
        fs::write(&file, format!("#!/bin/sh\necho '{line}'\nexit {status}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        Program {
            package: "own".to_owned(),
            name: name.to_owned(),
            file,
            folder: folder.to_owned(),
        }
    }

    #[test]
    fn all_programs_run_and_the_tests_that_failed_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let programs = [
            program(folder, "fails", "test a::b ... FAILED", 101),
            program(folder, "dies", "test a::b ... ok", 3),
            program(folder, "passes", "test a::b ... ok", 0),
        ];
        let mut failed = run_all(&programs).unwrap();
        failed.sort();
        assert_eq!(failed[0], "own dies: exit status: 3: ");
        assert_eq!(failed[1..], ["own fails: a::b"]);
    }
}
