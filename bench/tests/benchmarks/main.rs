//! Integration tests: one program, a module for each subject.
#![allow(clippy::unwrap_used)]

mod ami;
mod cubit;
mod events;
mod rt;
mod smoke;

use serde_json::Value;
use std::process::{Command, Output};

/// Runs the program to its end.
fn bench(arguments: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_punctual-bench"));
    program.args(arguments).output().unwrap()
}

/// Returns the report of an experiment in which nothing failed or was left out, and its plot.
fn report_of(arguments: &[&str]) -> (Value, String) {
    let folder = tempfile::tempdir().unwrap();
    let plot = folder.path().join("plot.svg");
    let drawn = ["--json", "--svg", plot.to_str().unwrap()];
    let output = bench(&[arguments, &drawn].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    for empty in ["failed", "skipped"] {
        assert_eq!(report[empty], Value::Array(Vec::new()), "{said}");
    }
    (report, std::fs::read_to_string(plot).unwrap())
}

/// Returns the values of a name in all rows.
fn texts<'r>(rows: &'r Value, name: &str) -> Vec<&'r str> {
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| row[name].as_str().unwrap()).collect()
}
