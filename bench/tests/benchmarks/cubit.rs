//! Tests of `punctual-bench cubit` from the outside, with few calls. No time is asserted.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::{bench, has_omniorb};
use serde_json::Value;
use std::process::Output;

fn cubit(arguments: &[&str]) -> Output {
    bench(&[&["cubit", "--cpus", "same"], arguments].concat())
}

fn standard_output(output: Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}{shown}");
    shown
}

/// Returns the contenders in an array of rows, each with the number of its rows, without those of omniORB.
fn contenders(rows: &Value) -> Vec<(String, usize)> {
    let mut counted: Vec<(String, usize)> = Vec::new();
    for row in rows.as_array().unwrap() {
        let name = row["contender"].as_str().unwrap();
        if name.starts_with("omniORB") {
            continue;
        }
        match counted.iter_mut().find(|(known, _)| known == name) {
            Some((_, number)) => *number += 1,
            None => counted.push((name.to_owned(), 1)),
        }
    }
    counted
}

fn all_with(names: &[&str], number: usize) -> Vec<(String, usize)> {
    names
        .iter()
        .map(|name| ((*name).to_owned(), number))
        .collect()
}

#[test]
fn wrong_questions_are_answered_with_what_there_is() {
    trycmd::TestCases::new().case("tests/benchmarks/cubit/*.toml");
}

#[test]
fn the_command_starts_itself_as_the_peers_of_what_is_compared() {
    let output = bench(&[
        "latency",
        "--placement=same",
        "--contenders=punctual-uiop",
        "--cases=cube_void",
        "--rounds=1",
        "--calls=3",
        "--json",
    ]);
    let report: Value = serde_json::from_str(&standard_output(output)).unwrap();
    assert_eq!(
        contenders(&report["rows"]),
        all_with(&["raw-unix", "punctual-uiop"], 1)
    );
}

#[test]
fn the_matrix_has_a_row_for_each_pair_and_a_column_for_each_operation() {
    let folder = tempfile::tempdir().unwrap();
    let svg = folder.path().join("figure.svg");
    let json = standard_output(cubit(&[
        "--messaging=giop,giop_lite,frames",
        "--link=uiop,diop",
        "--calls=3",
        "--rounds=2",
        "--lent",
        "--json",
        "--svg",
        svg.to_str().unwrap(),
    ]));
    let report: Value = serde_json::from_str(&json).unwrap();
    let two_way = ["iiop", "uiop", "giop_lite+uiop"];
    let with_raw = ["raw tcp", "raw unix", "iiop", "uiop", "giop_lite+uiop"];
    assert_eq!(contenders(&report["figure_16"]), all_with(&with_raw, 9));
    let texts = crate::texts(&report["figure_16"], "contender");
    assert_eq!(texts.contains(&"omniORB unix"), has_omniorb());
    for row in report["figure_16"].as_array().unwrap() {
        assert_eq!(row["samples"], 2 * 3, "{row}");
        assert!(row["times_raw_tcp"].as_f64().unwrap() > 0.0, "{row}");
        assert_eq!(row["gain_percent"].is_null(), row["protocol"].is_null());
    }
    let one_way = ["iiop", "frames+uiop", "frames+diop"];
    assert_eq!(contenders(&report["one_way"]), all_with(&one_way, 2));
    let mut lent = all_with(&two_way, 3);
    lent.splice(..0, all_with(&["raw tcp", "raw unix"], 1));
    assert_eq!(contenders(&report["lent"]), lent);
    assert_eq!(report["compared"].as_array().unwrap().len(), 2);
    let skipped = report["skipped"].as_array().unwrap().iter();
    let names: Vec<&str> = skipped
        .map(|reason| reason.as_str().unwrap().split(": ").next().unwrap())
        .collect();
    assert!(names.starts_with(&["diop", "giop_lite+diop"]), "{names:?}");
    assert_eq!(report["failed"], Value::Array(Vec::new()));

    let figure = std::fs::read_to_string(svg).unwrap();
    assert!(figure.starts_with("<svg"));
    for name in ["giop_lite+uiop", "raw unix", "octets:4096", "structs:341"] {
        assert!(figure.contains(name), "`{name}` is not in the figure");
    }
}

#[test]
fn shared_memory_is_measured_blocking_and_spinning() {
    let json = standard_output(cubit(&[
        "--messaging=giop",
        "--link=shmiop",
        "--calls=2",
        "--rounds=1",
        "--json",
    ]));
    let report: Value = serde_json::from_str(&json).unwrap();
    let measured = [
        "raw tcp",
        "raw unix",
        "iiop",
        "shmiop blocking",
        "shmiop spinning",
    ];
    assert_eq!(contenders(&report["figure_16"]), all_with(&measured, 9));
}

#[test]
fn the_table_shows_our_gains_beside_the_papers_also_when_a_file_gets_the_figures() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.json");
    let table = standard_output(cubit(&[
        "--messaging=giop,giop_lite",
        "--link=iiop,uiop",
        "--calls=2",
        "--rounds=1",
        &format!("--json={}", file.display()),
    ]));
    let written: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(written["compared"].as_array().unwrap().len(), 3);
    let papers: Vec<&str> = table
        .lines()
        .filter(|line| line.trim_start().starts_with("the paper's "))
        .collect();
    assert!(papers.iter().any(|line| line.contains("≈+50")), "{table}");
    assert!(
        papers.iter().any(|line| line.contains("+0.36…+4.74")),
        "{table}"
    );
    for part in [
        "uiop over iiop",
        "giop_lite+uiop over uiop",
        "not available",
        "void",
    ] {
        assert!(table.contains(part), "`{part}` is not in\n{table}");
    }
    assert!(!table.contains('\u{1b}'), "colours that nobody asked for");
}
