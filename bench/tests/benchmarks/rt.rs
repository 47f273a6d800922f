//! Tests of `rt` with ordinary threads and few calls. No time is asserted.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::{bench, texts, with_omniorb};
use serde_json::Value;

/// Returns the report of an experiment, and its plot.
fn report_of(arguments: &[&str]) -> (Value, String) {
    let usual = ["--best-effort", "--placement=same", "--rounds=1"];
    let (report, plot) = crate::report_of(&[&["rt"], arguments, &usual].concat());
    assert_eq!(report["scheduling"], "SCHED_OTHER");
    (report, plot)
}

/// Returns the report of an experiment with network namespaces; `None` where there are none, which is printed.
fn report_of_network(arguments: &[&str]) -> Option<Value> {
    let output = bench(&[&["rt"], arguments, &["--json"]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("it takes root") {
        let required = std::env::var_os("PUNCTUAL_REQUIRE_NETWORK").is_some();
        assert!(!required, "PUNCTUAL_REQUIRE_NETWORK is set: {said}");
        eprintln!("skipped: {said}");
        return None;
    }
    assert!(output.status.success(), "{said}");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

fn names(rows: &Value) -> Vec<&str> {
    texts(rows, "contender")
}

#[test]
fn latency_has_each_contender_of_ours_alone_and_beside_a_load_and_every_goal() {
    // Only Punctual's contenders: omniORB may not be installed.
    let ours = "--contenders=lanes,pool";
    let (report, plot) = report_of(&["latency", "--calls=40", "--low=2", ours]);
    let rows = &report["rows"];
    assert_eq!(names(rows), ["floor", "lanes", "pool"]);
    for row in rows.as_array().unwrap() {
        assert_eq!(row["placement"], "same");
        for how in ["alone", "loaded"] {
            let run = &row[how];
            assert!(run["samples"].as_u64().unwrap() > 0);
            for figure in ["p50", "p90", "p99", "p999", "max"] {
                assert!(run[figure].as_u64().unwrap() > 0, "{figure}");
            }
        }
        assert!(row["beside_alone"]["p99"].as_f64().unwrap() > 0.0);
        assert!(row["loaded_beside_floor"]["p50"].as_f64().unwrap() > 0.0);
        assert!(row["low_rate"].as_f64().unwrap() > 0.0);
    }
    let goals = report["goals"].as_array().unwrap();
    assert_eq!(goals.len(), 5);
    // Ordinary threads have no priority to hold.
    assert!(goals.iter().all(|goal| goal["verdict"] == "not_known"));
    assert!(plot.starts_with("<svg") && plot.contains("lanes loaded"));
}

#[test]
fn the_papers_experiments_have_a_row_for_each_number_of_low_clients() {
    for (experiment, contenders) in [
        (
            "inversion",
            with_omniorb(&["floor", "lanes", "pool"], &["omniorb"]),
        ),
        ("endpoints", vec!["floor", "lanes", "orb-a-thread"]),
    ] {
        let (report, plot) = report_of(&[experiment, "--calls=20", "--low=1,2"]);
        let rows = &report["rows"];
        assert_eq!(names(rows), contenders.repeat(2));
        for row in rows.as_array().unwrap() {
            assert!(row["high"]["mean"].as_f64().unwrap() > 0.0);
            assert!(row["high"]["jitter"].as_f64().unwrap() >= 0.0);
            if experiment == "endpoints" {
                let low = row["low"].as_u64().unwrap();
                assert_eq!(row["low_ones"]["calls"], low * 20);
            }
        }
        assert!(plot.starts_with("<svg") && plot.contains("jitter"));
    }
}

#[test]
fn low_clients_with_a_priority_each_pause_between_calls_and_get_their_share() {
    let options = [
        "inversion",
        "--each",
        "--pace=500",
        "--calls=400",
        "--low=1,4",
    ];
    let (report, _) = report_of(&options);
    assert_eq!(report["load"], "every 500 µs as each other one");
    for row in report["rows"].as_array().unwrap() {
        assert!(row["high"]["mean"].as_f64().unwrap() > 0.0, "{row}");
        assert!(row["low_ones"]["calls"].as_u64().unwrap() > 0, "{row}");
    }
}

#[test]
fn who_has_no_part_in_an_experiment_is_told_so() {
    let output = bench(&[
        "rt",
        "latency",
        "--best-effort",
        "--contenders=orb-a-thread",
    ]);
    assert!(!output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("`orb-a-thread` has no part"), "{said}");
}

#[test]
fn the_jitter_of_periodic_one_ways_is_measured_with_and_without_launch_times() {
    let Some(report) = report_of_network(&["launch", "--calls=20", "--period=5"]) else {
        return;
    };
    let rows = report["rows"].as_array().unwrap();
    // Those with `fq` and `etf` where the kernel has these.
    assert!((2..=4).contains(&rows.len()), "{rows:?}");
    for row in rows {
        let arrived = 20 - row["lost"].as_u64().unwrap();
        let compared = row["jitter"]["samples"].as_u64().unwrap();
        assert!(compared > 0 && compared < arrived, "{row}");
    }
}

#[test]
fn calls_are_measured_with_and_without_busy_polling() {
    let Some(report) = report_of_network(&["receive", "--calls=20", "--rounds=1"]) else {
        return;
    };
    let rows = report["rows"].as_array().unwrap();
    // None without `ethtool`; those of threads and steering where the kernel and the processors suffice.
    assert!(rows.len() <= 11, "{rows:?}");
    for row in rows {
        assert_eq!(row["call"]["samples"], 20, "{row}");
        assert!(row["call"]["p50"].as_f64() > Some(0.0), "{row}");
    }
}

#[test]
fn an_urgent_call_is_measured_beside_bulk_in_each_case_of_the_network() {
    let Some(report) = report_of_network(&["network", "--calls=20", "--pace=1"]) else {
        return;
    };
    let rows = report["rows"].as_array().unwrap();
    // Those with `mqprio` and `fq` where the kernel has these.
    assert!((8..=12).contains(&rows.len()), "{rows:?}");
    for row in rows {
        for times in ["response", "call"] {
            assert_eq!(row[times]["samples"], 20, "{row}");
        }
        // From the planned release, which is not after the beginning.
        assert!(
            row["response"]["max"].as_f64() >= row["call"]["max"].as_f64(),
            "{row}"
        );
        let has_bulk = row["case"] != "alone";
        assert!(has_bulk || row["bulk"].as_f64() == Some(0.0), "{row}");
    }
}
