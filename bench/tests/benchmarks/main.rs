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

/// Returns the report of a command, or null where the instrument that it counts with is missing, which is printed.
fn json_of(arguments: &[&str]) -> Value {
    let output = bench(&[arguments, &["--json"]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    if output.stdout.starts_with(b"skipped") {
        println!("{}", String::from_utf8_lossy(&output.stdout));
        return Value::Null;
    }
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Returns the report of an experiment in which nothing failed or was left out, and its plot.
fn report_of(arguments: &[&str]) -> (Value, String) {
    let folder = tempfile::tempdir().unwrap();
    let plot = folder.path().join("plot.svg");
    let report = json_of(&[arguments, &["--svg", plot.to_str().unwrap()]].concat());
    assert_eq!(report["failed"], Value::Array(Vec::new()));
    let skipped = report["skipped"].as_array().unwrap();
    let is_absent = |reason: &Value| {
        !has_omniorb()
            && reason
                .as_str()
                .is_some_and(|reason| reason.starts_with("omniorb"))
    };
    assert!(skipped.iter().all(is_absent), "{skipped:?}");
    (report, std::fs::read_to_string(plot).unwrap())
}

/// Returns whether benchmarks can compile programs with omniORB.
fn has_omniorb() -> bool {
    let installed = |package| {
        Command::new("pkg-config")
            .args(["--exists", package])
            .status()
    };
    let compiles = Command::new("omniidl").arg("-V").output();
    installed("omniDynamic4").is_ok_and(|status| status.success()) && compiles.is_ok()
}

/// Returns these names, and those of omniORB where it is installed.
fn with_omniorb<'n>(names: &[&'n str], omniorb: &[&'n str]) -> Vec<&'n str> {
    let omniorb = if has_omniorb() { omniorb } else { &[] };
    [names, omniorb].concat()
}

/// Returns the values of a name in all rows.
fn texts<'r>(rows: &'r Value, name: &str) -> Vec<&'r str> {
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| row[name].as_str().unwrap()).collect()
}
