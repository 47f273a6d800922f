//! The whole harness with its own programs, in a hurry. No time is asserted.
#![allow(clippy::unwrap_used)]

use std::process::{Command, Output};

fn bench(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_punctual-bench"))
        .args(arguments)
        .output()
        .unwrap()
}

#[test]
fn a_quick_run_compares_us_with_the_floor_in_a_table_a_file_and_a_plot() {
    let directory = tempfile::tempdir().unwrap();
    let (json, svg) = (
        directory.path().join("run.json"),
        directory.path().join("run.svg"),
    );
    let output = bench(&[
        "latency",
        "--placement=same",
        "--contenders=punctual",
        "--cases=cube_void,take_longs:7,take_octets:1,take_octets:1024,echo_bin_structs:3,throw_bin_structs:8",
        "--rounds=2",
        "--calls=5",
        &format!("--json={}", json.display()),
        "--svg",
        svg.to_str().unwrap(),
    ]);
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(
        table.contains("take_octets:1024") && table.contains("punctual"),
        "{table}"
    );

    let report: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap();
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 6 * 2);
    for row in rows {
        let (two_way, samples) = (row["two_way"].as_bool().unwrap(), &row["samples"]);
        assert_eq!(samples, if two_way { 10 } else { 2 }, "{row}");
        assert!(row["ratio"].as_f64().unwrap() > 0.0);
    }
    let plot = std::fs::read_to_string(svg).unwrap();
    assert!(plot.starts_with("<svg") && plot.contains("take_octets"));
}

#[test]
fn a_case_that_is_none_is_refused_with_the_ones_there_are() {
    let output = bench(&["latency", "--cases=cube"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    assert!(
        said.contains("cube_void") && said.contains("take_octets"),
        "{said}"
    );
}

#[test]
fn every_raw_contender_takes_part_and_the_spinning_ones_only_across_processors() {
    let run = |placement: &str| {
        let output = bench(&[
            "latency",
            placement,
            "--contenders=raw-tcp,raw-unix,raw-tcp-spin,raw-unix-spin,raw-shm",
            "--cases=cube_long,ping",
            "--rounds=1",
            "--calls=3",
            "--json",
        ]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        report["rows"].as_array().unwrap().len()
    };
    assert_eq!(run("--placement=same"), 2 * 2);
    if std::thread::available_parallelism().unwrap().get() < 2 {
        println!("skipped the other half: one processor");
        return;
    }
    // Shared memory has no one-ways.
    assert_eq!(run("--placement=cross"), 2 * 5 - 1);
}

#[test]
fn unix_sockets_and_shared_memory_are_compared_with_their_own_floor() {
    let output = bench(&[
        "latency",
        "--contenders=punctual-uiop,punctual-shmiop",
        "--cases=cube_void",
        "--rounds=1",
        "--calls=3",
        "--json",
    ]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for row in report["rows"].as_array().unwrap() {
        if row["contender"] == "punctual-uiop" {
            assert_eq!(row["floor"], "raw-unix");
        }
        assert!(row["ratio"].as_f64().unwrap() > 0.0, "{row}");
    }
}

#[test]
fn a_contender_that_does_not_exist_is_refused_with_those_that_do() {
    let output = bench(&["latency", "--contenders=corba"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    assert!(
        said.contains("punctual-uiop") && said.contains("omniorb"),
        "{said}"
    );
}

#[test]
fn a_client_without_its_server_says_so_and_fails() {
    for program in ["raw-tcp", "raw-unix", "raw-shm", "punctual"] {
        let output = bench(&["peer", program, "client", "--at=127.0.0.1:1"]);
        assert!(!output.status.success());
        assert!(!output.stderr.is_empty());
    }
}
