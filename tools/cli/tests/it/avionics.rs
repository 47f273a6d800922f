//! Tests of `punctual demo avionics`. Whether deadlines are met depends on the machine.

use crate::support::punctual;
use serde_json::Value;
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

fn flown(options: &[&str]) -> std::process::Output {
    let fixed = [
        "demo",
        "avionics",
        "--for",
        "1s",
        "--best-effort",
        "--load",
        "5",
    ];
    punctual(&[&fixed, options].concat())
}

/// Returns a number of an operation.
fn of(json: &Value, operation: &str, what: &str) -> u64 {
    let operations = json["operations"].as_array().unwrap();
    let found = operations.iter().find(|one| one["operation"] == operation);
    found.unwrap()[what].as_u64().unwrap()
}

#[test]
fn each_event_has_its_job_on_the_board_that_waits_for_it() {
    let output = flown(&["--json"]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let is_as_required = json["is_as_required"].as_bool().unwrap();
    assert_eq!(output.status.success(), is_as_required);
    assert_eq!(json["is_real_time"], false);
    let jobs = |operation| of(&json, operation, "jobs");
    for (source, chain) in [
        ("io.rate30", &["flir.proxy", "targets.track"][..]),
        (
            "io.rate15",
            &["gps.proxy", "ins.proxy", "position.compute", "map.update"],
        ),
        ("io.rate5", &["fuel.proxy", "fuel.watch"]),
        ("display.rate20", &["hud.refresh"]),
    ] {
        assert!(jobs(source) > 0, "{source}: {json:#}");
        for operation in chain {
            // On a machine that delays one supplier, a conjunction unites two jobs, and counts one as lost.
            let lost = match *operation {
                "position.compute" | "map.update" => of(&json, "position.compute", "lost"),
                _ => 0,
            };
            assert_eq!(
                jobs(operation) + lost,
                jobs(source),
                "{operation}: {json:#}"
            );
        }
        let last = chain.last().unwrap();
        assert!(of(&json, last, "p50") <= of(&json, last, "max"));
        assert!(of(&json, last, "max") > 0);
    }
    let rates = json["rates"].as_array().unwrap();
    let summed: u64 = rates.iter().filter_map(|rate| rate["jobs"].as_u64()).sum();
    let operations = json["operations"].as_array().unwrap();
    let all: u64 = operations
        .iter()
        .filter_map(|one| one["jobs"].as_u64())
        .sum();
    assert_eq!(summed, all);
}

#[test]
fn what_ran_is_drawn_below_the_plan() {
    let folder = tempfile::tempdir().unwrap();
    for (name, begins) in [("ran.svg", "<svg"), ("ran.html", "<!")] {
        let file = folder.path().join(name);
        let output = flown(&["--json", "--draw", file.to_str().unwrap()]);
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        let drawn = fs::read_to_string(&file).unwrap();
        assert!(drawn.starts_with(begins), "{name}");
        let operations = json["operations"].as_array().unwrap();
        let rows = drawn.matches(">what ran<").count();
        assert_eq!(rows, operations.len(), "{name}");
        // The first job of the fastest interrupt begins the picture; others may be late.
        assert!(drawn.contains("io.rate30, recorded job 1"), "{name}");
    }
    let nowhere = folder.path().join("none/ran.svg");
    let output = flown(&["--draw", nowhere.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("none/ran.svg"), "{text}");
    let output = flown(&["--draw", "ran.png"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn the_table_has_the_plan_beside_what_ran_and_says_what_does_not_hold() {
    let output = flown(&[]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.starts_with("proved by RMS: 16 operations on 3 boards"),
        "{text}"
    );
    assert!(text.contains("\noperation "), "{text}");
    assert!(
        text.contains("\nposition.compute mission   15 HIGH "),
        "{text}"
    );
    assert!(text.contains("without real-time priorities"), "{text}");
}

/// Returns whether a process runs: one that has ended may wait for its parent.
fn runs(process: &str) -> bool {
    let state = fs::read_to_string(format!("/proc/{process}/stat"));
    state.is_ok_and(|text| !text.contains(") Z "))
}

#[test]
fn boards_end_when_the_command_is_killed() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"))
        .args([
            "demo",
            "avionics",
            "--for",
            "600s",
            "--best-effort",
            "--load",
            "1",
        ])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let id = command.id();
    let begin = Instant::now();
    let boards = loop {
        let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
        let children = children.unwrap();
        let boards: Vec<_> = children.split_whitespace().map(str::to_owned).collect();
        if boards.len() == 3 {
            break boards;
        }
        assert!(begin.elapsed() < PATIENCE, "{boards:?}");
        std::thread::sleep(Duration::from_millis(5));
    };
    command.kill().unwrap();
    command.wait().unwrap();
    while boards.iter().any(|board| runs(board)) {
        assert!(begin.elapsed() < PATIENCE, "a board of {boards:?} runs on");
        std::thread::sleep(Duration::from_millis(5));
    }
}
