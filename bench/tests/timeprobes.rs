//! Tests of `timeprobes` with this crate's own programs and few calls. No time is asserted.
#![allow(clippy::unwrap_used)]

use serde_json::Value;
use std::process::{Command, Output};

fn timeprobes(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_punctual-bench"))
        .arg("timeprobes")
        .args(arguments)
        .output()
        .unwrap()
}

/// Returns whether the program has probes to test; prints the reason if not.
fn has_probes() -> bool {
    if !punctual::probe::COMPILED_IN {
        println!("skipped: built without the feature `time-probes`");
    }
    punctual::probe::COMPILED_IN
}

#[test]
fn a_program_that_was_built_without_probes_says_how_to_build_it_with_them() {
    if punctual::probe::COMPILED_IN {
        println!("skipped: built with the feature `time-probes`");
        return;
    }
    let output = timeprobes(&[]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    assert!(said.contains("--features time-probes"), "{said}");
}

#[test]
fn every_stage_of_both_sides_is_stamped_and_the_stages_are_the_whole_call() {
    if !has_probes() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let (json, svg) = (
        directory.path().join("t.json"),
        directory.path().join("t.svg"),
    );
    let output = timeprobes(&[
        "--placement=same",
        "--contenders=punctual,punctual-uiop",
        "--case=cube_struct",
        "--calls=60",
        &format!("--json={}", json.display()),
        "--svg",
        svg.to_str().unwrap(),
    ]);
    let table = String::from_utf8(output.stdout).unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{table}{said}");
    assert!(
        table.contains("operation demux") && table.contains("93.60"),
        "{table}"
    );
    let report: Value = serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap();
    assert!(number(&report["stamp"]) > 0.0, "{table}");
    let runs = report["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    for run in runs {
        check_stages(&run["client"], 10, &table);
        check_stages(&run["server"], 13, &table);
        let longest = number(&run["on"]["max"]);
        assert!(number(&run["client"]["whole"]) <= longest, "{table}");
        if report["invariant"] == true {
            let legs = run["legs"].as_array().unwrap();
            let times: Vec<f64> = legs.iter().map(|leg| number(&leg["time"])).collect();
            assert_eq!(times.len(), 5);
            assert!(times.iter().all(|&time| time >= 0.0), "{table}");
            assert!(times.iter().sum::<f64>() <= longest, "{table}");
        }
    }
    let plot = std::fs::read_to_string(svg).unwrap();
    assert!(plot.starts_with("<svg") && plot.contains("user upcall"));
}

/// Checks that a side's report has all stages, that no time is negative, and that the stages add up
/// to the measured time of the calls.
fn check_stages(side: &Value, lines: usize, table: &str) {
    let stages = side["stages"].as_array().unwrap();
    assert_eq!(stages.len(), lines, "{table}");
    for stage in stages {
        assert!(number(&stage["stamps"]) >= 1.0, "{stage}\n{table}");
        assert!(number(&stage["time"]) >= 0.0, "{stage}\n{table}");
        assert!(
            number(&stage["measured"]) >= number(&stage["time"]),
            "{stage}"
        );
    }
    let measured: f64 = stages.iter().map(|stage| number(&stage["measured"])).sum();
    let whole = number(&side["whole"]);
    assert!(
        (measured - whole).abs() < 1.0,
        "{measured} {whole}\n{table}"
    );
    // Missing are the first calls, which find the server, and those of the warm-up.
    assert!(number(&side["calls"]) >= 60.0, "{table}");
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
fn a_pool_s_server_and_one_reactive_thread_have_the_same_stages() {
    if !has_probes() {
        return;
    }
    let output = timeprobes(&[
        "--placement=same",
        "--contenders=punctual-lf,punctual-reactive",
        "--calls=40",
        "--json",
    ]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    for run in report["runs"].as_array().unwrap() {
        for stage in run["server"]["stages"].as_array().unwrap() {
            // A call without parameters has none to unmarshal.
            let least = f64::from(u8::from(stage["name"] != "parameter demarshal"));
            assert!(number(&stage["stamps"]) >= least, "{stage}");
        }
    }
}

#[test]
fn contenders_without_probes_and_one_ways_are_refused() {
    if !has_probes() {
        return;
    }
    for arguments in [
        ["--contenders=raw-tcp"],
        ["--case=ping"],
        ["--calls=100000"],
    ] {
        assert!(!timeprobes(&arguments).status.success(), "{arguments:?}");
    }
}
