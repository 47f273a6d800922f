//! Tests of `events` with ordinary threads and few events. No time is asserted.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::{bench, texts};
use serde_json::Value;

/// Returns the report of an experiment, and its plot.
fn report_of(arguments: &[&str]) -> (Value, String) {
    let usual = ["--placement=same", "--rounds=1"];
    let (report, plot) = crate::report_of(&[&["events"], arguments, &usual].concat());
    assert_eq!(report["scheduling"], "SCHED_OTHER");
    (report, plot)
}

fn check_times(row: &Value) {
    for figure in ["p50", "p99", "p999", "max"] {
        assert!(row[figure].as_u64().unwrap() > 0, "{figure}: {row}");
    }
}

#[test]
fn events_pass_a_channel_in_another_process_over_each_link_beside_raw_messages() {
    let (report, plot) = report_of(&["latency", "--events=10", "--octets=100", "--again=0"]);
    let rows = &report["rows"];
    let ways = ["floor", "reactive", "threads"];
    assert_eq!(texts(rows, "contender"), [ways, ways].concat());
    assert_eq!(texts(rows, "link"), [["iiop"; 3], ["uiop"; 3]].concat());
    for row in rows.as_array().unwrap() {
        assert_eq!(row["samples"], 10);
        assert!(row["ratio"].as_f64().unwrap() > 0.0, "{row}");
        check_times(row);
    }
    assert_eq!(report["goals"].as_array().unwrap().len(), 2 * 2 * 2);
    assert!(plot.starts_with("<svg") && plot.contains("reactive"));
}

#[test]
fn urgent_consumers_are_measured_alone_and_beside_a_load_by_each_way_of_dispatching() {
    let few = [
        "--events=10",
        "--high=2",
        "--low=3",
        "--work=10",
        "--best-effort",
    ];
    let (report, plot) = report_of(&[&["dispatching"], &few[..]].concat());
    let rows = &report["rows"];
    let ways = ["reactive", "threads", "pool", "single"];
    let twice: Vec<&str> = ways.iter().flat_map(|way| [*way; 2]).collect();
    assert_eq!(texts(rows, "contender"), twice);
    assert_eq!(texts(rows, "load"), ["alone", "loaded"].repeat(4));
    for row in rows.as_array().unwrap() {
        assert_eq!(row["samples"], 10 * 2);
        check_times(row);
        if row["load"] == "loaded" {
            assert!(row["p99_beside_alone"].as_f64().unwrap() > 0.0);
        }
    }
    let goals = &report["goals"];
    // Ordinary threads have no priority to hold.
    assert_eq!(texts(goals, "verdict"), ["not_known"; 3]);
    assert!(plot.starts_with("<svg") && plot.contains("loaded"));
}

#[test]
fn a_load_that_leaves_no_time_to_others_is_refused_with_what_to_change() {
    let output = bench(&["events", "dispatching", "--low=60"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    assert!(said.contains("--low-pace"), "{said}");
}
