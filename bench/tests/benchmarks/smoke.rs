//! Tests of the whole harness with this crate's own programs and few calls. No time is asserted.
#![allow(clippy::unwrap_used)]

use crate::{bench, has_omniorb, json_of, report_of, texts};
use serde_json::Value;

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

    let report: Value = serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap();
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
        let all = "--contenders=raw-tcp,raw-unix,raw-tcp-spin,raw-unix-spin,raw-shm";
        let few = ["--cases=cube_long,ping", "--rounds=1", "--calls=3"];
        let report = json_of(&[&["latency", placement, all], &few[..]].concat());
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
    let report = json_of(&[
        "latency",
        "--contenders=punctual-uiop,punctual-shmiop,punctual-shmiop-spin",
        "--cases=cube_void",
        "--rounds=1",
        "--calls=3",
    ]);
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
fn a_client_without_its_server_tells_the_harness_so() {
    for program in ["raw-tcp", "raw-unix", "raw-shm", "punctual"] {
        let output = bench(&["peer", program, "client", "--at=127.0.0.1:1"]);
        assert!(output.stdout.starts_with(b"error "), "{output:?}");
    }
}

#[test]
fn every_kind_of_throughput_has_a_rate() {
    let report = json_of(&[
        "throughput",
        "--contenders=punctual",
        "--rounds=2",
        "--calls=40",
        "--threads=1,3",
        "--again=1",
    ]);
    let rows = report["rows"].as_array().unwrap();
    let kinds = if std::thread::available_parallelism().unwrap().get() < 2 {
        println!("skipped what needs two processors");
        (2 * 2 * 2 + 2) * 2
    } else {
        // Two-ways by threads, references and placements; one-ways by placements. The floor does not buffer.
        (2 * 2 * 3 + 3) * 2 + 1
    };
    assert_eq!(rows.len(), kinds, "{report}");
    for row in rows {
        assert!(row["rate"].as_f64().unwrap() > 0.0);
        assert!(row["known"].is_boolean() && row["threads"].is_number());
        assert_eq!(
            row["references"].is_null(),
            row["load"] != "two-way",
            "{row}"
        );
    }
}

#[test]
fn every_strategy_serves_its_clients_on_every_link_beside_the_floor() {
    let (report, plot) = report_of(&[
        "scale",
        "--clients=1,3",
        "--processors=1",
        "--rounds=2",
        "--millis=20",
        "--again=0",
    ]);
    let rows = report["rows"].as_array().unwrap();
    let ours = rows.iter().filter(|row| {
        let name = row["contender"].as_str().unwrap();
        name.starts_with("punctual") || name.starts_with("raw")
    });
    // Links, strategies and the floor, numbers of clients.
    assert_eq!(ours.count(), 2 * 4 * 2);
    for row in rows {
        for figure in ["rate", "p50", "p99", "processor"] {
            assert!(row[figure].as_f64().unwrap() > 0.0, "{figure}: {row}");
        }
        let is_compared = row["strategy"] == "leader_followers" || row["strategy"] == "reactive";
        assert_eq!(row["beside_threads"].is_number(), is_compared, "{row}");
    }
    assert!(plot.starts_with("<svg") && plot.contains("calls a second"));
}

#[test]
fn more_processors_than_there_are_are_refused_by_name() {
    let output = bench(&["scale", "--processors=1,100000"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success());
    assert!(
        said.contains("--processors: 100000 are more than"),
        "{said}"
    );
}

#[test]
fn memory_is_told_of_the_idle_server_and_of_each_connection() {
    let report = json_of(&["memory", "--contenders=punctual", "--connections=10,20"]);
    let rows = report["rows"].as_array().unwrap();
    let numbers: Vec<u64> = rows
        .iter()
        .map(|row| row["connections"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, [0, 10, 20]);
    assert!(rows[0]["memory"]["resident"].as_u64().unwrap() > 0);
    assert!(rows[2]["connection_anonymous"].is_number());
}

#[test]
fn under_load_nothing_is_lost() {
    let reports = json_of(&[
        "load",
        "--connections=60",
        "--busy=5",
        "--phase=100",
        "--acts=500",
    ]);
    let report = &reports[0];
    assert_eq!(report["phases"].as_array().unwrap().len(), 4);
    assert_eq!(report["silent"], 60 - 6 - 5);
    assert_eq!(report["alive"], true);
    assert_eq!(report["hostile"].as_array().unwrap().len(), 6);
}

#[test]
fn context_switches_are_counted_without_an_instrument() {
    let output = bench(&[
        "context-switches",
        "--contenders=punctual",
        "--cases=cube_void",
        "--calls=20",
    ]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("cube_void") && said.contains("punctual"),
        "{said}"
    );
}

#[test]
fn a_budget_that_was_just_written_is_kept_and_one_that_is_too_small_is_not() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("budgets.json");
    let file = file.to_str().unwrap();
    let budgets = |how: &str| {
        bench(&[
            "budgets",
            how,
            "--file",
            file,
            "--cases=cube_void",
            "--calls=200",
        ])
    };
    let output = budgets("--update");
    let said = String::from_utf8(output.stdout).unwrap();
    if said.starts_with("skipped: ") {
        println!("{said}");
        return;
    }
    assert!(output.status.success(), "{said}");
    let text = std::fs::read_to_string(file).unwrap();
    let mut budgets_now: Value = serde_json::from_str(&text).unwrap();
    let system_calls = &mut budgets_now["cases"]["cube_void"]["client"]["system_calls"];
    assert!(system_calls.as_f64().unwrap() >= 2.0, "{text}");
    *system_calls = 1.0.into();
    std::fs::write(file, budgets_now.to_string()).unwrap();
    let checked = budgets("--check");
    let table = String::from_utf8_lossy(&checked.stdout).into_owned();
    let said = String::from_utf8_lossy(&checked.stderr).into_owned();
    assert!(!checked.status.success());
    assert!(said.contains(" of 6 counts are not within"), "{said}");
    let mut rows = table.lines().map(str::split_whitespace);
    let moved = rows.any(|row| {
        let row: Vec<_> = row.collect();
        row.starts_with(&["cube_void", "client", "system", "calls", "1"])
            && row.ends_with(&["moved"])
    });
    assert!(moved, "{table}");
}

#[test]
fn calls_of_each_of_many_servants_are_all_answered_or_arrive() {
    let report = json_of(&["servants", "--servants=1500", "--calls=3"]);
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(texts(&report["rows"], "kind"), ["two-way", "one-way"]);
    for row in rows {
        assert_eq!(
            (&row["made"], &row["failed"], &row["missing"]),
            (&4500.into(), &0.into(), &0.into())
        );
        assert!(row["rate"].as_f64().unwrap() > 0.0 && row["behind"].as_u64().unwrap() > 0);
    }
}

#[test]
fn long_octets_of_a_call_are_copied_only_into_vectors_of_the_programs_and_short_ones_once_more() {
    let report = json_of(&[
        "copies",
        "--contenders=punctual",
        "--cases=take_octets:16384,take_octets:65536,echo_octets:65536",
        "--calls=20",
    ]);
    if report.is_null() {
        return;
    }
    let costs = report["costs"].as_array().unwrap();
    let octets = |case: &str, side: &str| {
        let is_meant =
            |cost: &&serde_json::Value| cost["case"] == case && cost["contender"] == "punctual";
        let cost = costs.iter().find(is_meant).unwrap();
        assert_eq!(cost["instrument"], "copied_bytes");
        let (_, length) = case.split_once(':').unwrap();
        cost[side].as_f64().unwrap() / length.parse::<f64>().unwrap()
    };
    assert!(octets("take_octets:65536", "client") < 0.2, "{report}");
    assert!(octets("take_octets:65536", "server") < 0.2, "{report}");
    let short = octets("take_octets:16384", "client");
    assert!((0.95..1.2).contains(&short), "{report}");
    // The client's result, and the vector that the servant makes of the argument.
    for side in ["client", "server"] {
        let copied = octets("echo_octets:65536", side);
        assert!((0.95..1.2).contains(&copied), "{side}: {report}");
    }
}

#[test]
fn a_report_on_the_papers_is_written_and_goes_on_with_what_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let papers = || {
        let output = bench(&[
            "papers",
            "--quick",
            "--only=latency",
            "--folder",
            folder.path().to_str().unwrap(),
        ]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
        (String::from_utf8(output.stdout).unwrap(), said)
    };
    let (summary, said) = papers();
    assert!(
        said.contains("1 of 1") && !said.contains("measured before"),
        "{said}"
    );
    assert!(
        summary.contains("Gokhale and Schmidt 1998: of "),
        "{summary}"
    );
    let report = std::fs::read_to_string(folder.path().join("report.md")).unwrap();
    let is_measured = |row: &&str| row.contains("`punctual bench latency --placement same");
    let (measured, others): (Vec<&str>, Vec<&str>) = report
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| place"))
        .partition(is_measured);
    assert!(measured.len() >= 9, "{report}");
    assert!(!measured.concat().contains("not reproduced"), "{report}");
    // The folder has nothing of the others.
    assert!(
        others.iter().all(|row| row.contains("not reproduced")),
        "{report}"
    );
    let page = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.contains("<img src=\"latency.svg\""));
    assert!(folder.path().join("latency.svg").exists());
    let (_, said) = papers();
    assert!(said.contains("measured before"), "{said}");
}

#[test]
fn each_goal_gets_a_verdict_in_the_table_the_file_and_the_picture() {
    let directory = tempfile::tempdir().unwrap();
    let (json, svg) = (
        directory.path().join("goals.json"),
        directory.path().join("goals.svg"),
    );
    let output = bench(&[
        "goals",
        "--hasty",
        "--only=same,octets-mib,spin,one-way,threads,throughput,idle,load,system-calls,context",
        &format!("--json={}", json.display()),
        "--svg",
        svg.to_str().unwrap(),
    ]);
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{table}");
    assert!(!table.contains('\u{1b}'), "colours that nobody asked for");
    let report: Value = serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap();
    let lines = report["lines"].as_array().unwrap();
    let verdict = |name: &str| {
        let line = lines.iter().find(|line| line["name"] == name).unwrap();
        line["verdict"].as_str().unwrap().to_owned()
    };
    for measured in [
        "same-tcp-p50",
        "same-unix-p99",
        "octets-mib",
        "one-way-same",
        "idle-server",
        "load-p99",
    ] {
        assert_ne!(verdict(measured), "absent", "{table}");
    }
    assert_eq!(verdict("load-lost"), "ok", "{table}");
    let counted = report["verdicts"].as_object().unwrap().values();
    let counted: u64 = counted.map(|number| number.as_u64().unwrap()).sum();
    assert_eq!(counted, lines.len() as u64, "{report}");
    for line in lines.iter().filter(|line| line["verdict"] == "absent") {
        assert!(!line["note"].as_str().unwrap().is_empty(), "{line}");
    }
    let plot = std::fs::read_to_string(svg).unwrap();
    assert!(plot.starts_with("<svg") && plot.contains("10,000 connections"));
}

#[test]
fn goals_are_listed_without_being_measured_and_unknown_ones_refused() {
    let output = bench(&["goals", "--list"]);
    let listed = String::from_utf8(output.stdout).unwrap();
    assert!(
        listed.contains("instructions-void-client") && listed.contains("≤ 950"),
        "{listed}"
    );
    let output = bench(&["goals", "--only=faster"]);
    assert!(!output.status.success());
}

#[test]
fn every_strategy_finds_its_objects_in_every_order_one_way_and_in_depth() {
    let (report, plot) = report_of(&[
        "demux",
        "--objects=1,20",
        "--parts=curves",
        "--rounds=1",
        "--calls=5",
    ]);
    let rows = report["rows"].as_array().unwrap();
    let of = |key: &str, value: Value| rows.iter().filter(|row| row[key] == value).count();
    // One of them is calls by the DII.
    let strategies = 6;
    // Objects, operations and orders; one-ways in two orders; depths, which omniORB has not.
    let omniorb = usize::from(has_omniorb());
    assert_eq!(of("strategy", "linear".into()), 2 * 3 * 4 + 2 * 2 + 5);
    assert_eq!(of("two_way", false.into()), (strategies + omniorb) * 4);
    assert_eq!(of("over", "depth".into()), strategies * 5);
    assert_eq!(of("strategy", "omniorb".into()), omniorb * (2 * 3 * 4 + 4));
    assert!(rows.iter().all(|row| row["median"].as_f64().unwrap() > 0.0));
    assert!(plot.contains("figure 31") && plot.contains("figure 32"));
}

#[test]
fn what_is_inside_a_call_is_measured_and_nothing_is_left_behind() {
    let report = json_of(&["demux", "--quick", "--parts=inside"]);
    let lines = report["inside"].as_array().unwrap();
    let line = |what: &str| {
        let found = lines
            .iter()
            .find(|line| line["what"].as_str().unwrap().contains(what));
        found.unwrap_or_else(|| panic!("nothing of {what}"))["value"]
            .as_f64()
            .unwrap()
    };
    for what in [
        "key to servant, active",
        "operation lookup",
        "activation, active",
        "past the adapter",
        "through the adapter",
    ] {
        assert!(line(what).is_finite(), "{what}");
    }
    assert!(line("objects left").abs() < 0.5);
}

#[test]
fn a_servers_instructions_are_counted_over_what_varies() {
    let report = json_of(&[
        "demux-instructions",
        "--algorithms=random",
        "--objects=1,30",
        "--operations=100",
        "--depths=2",
        "--calls=100",
    ]);
    if report.is_null() {
        return;
    }
    assert_eq!(report["goals"].as_array().unwrap().len(), 3);
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2 + 1 + 1);
    for row in rows {
        assert!(row["instructions"].as_f64().unwrap() > 100.0, "{row}");
    }
}
