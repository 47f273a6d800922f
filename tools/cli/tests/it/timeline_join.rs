//! Time lines of a client and a server, joined: on one clock, and on clocks that are apart.

use crate::support::{Process, pause, punctual, text};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// Records of a server and a client of this host, in `server.json` and `client.json` of a folder.
fn record(folder: &Path, listen: &str) {
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let [reference, server, client] = ["cubit.ior", "server.json", "client.json"].map(path);
    let program = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command
    };
    let serves = program()
        .args(["demo-server", "-ORBListenEndpoints", listen])
        .args(["--ior-file", &reference, "-ORBTimeline", &server])
        .spawn();
    let mut serves = Process(serves.unwrap());
    while std::fs::read(&reference).is_ok_and(|text| text.is_empty())
        || !folder.join("cubit.ior").exists()
    {
        pause();
    }
    let calls = program()
        .args(["demo-client", "--ior", &format!("file://{reference}")])
        .args(["--calls", "50", "-ORBTimeline", &client])
        .status();
    assert!(calls.unwrap().success());
    serves.signal("-TERM");
    assert!(serves.0.wait().unwrap().success());
}

/// Joins the two files, with options, and returns the result.
fn join(folder: &Path, options: &[&str], status: i32) -> Value {
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let [client, server] = ["client.json", "server.json"].map(path);
    let mut all = vec!["timeline", "join", &client, &server, "--json"];
    all.extend(options);
    let output = punctual(&all);
    let said = text(output.stderr);
    assert_eq!(output.status.code(), Some(status), "{said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Shifts the clock of a file: as if another host, with this offset and drift, had recorded it.
fn shift(file: &Path, boot: Option<&str>, offset: f64, drift: f64) {
    let mut json: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let begin = json["otherData"]["clock"]["begin"]["monotonic"]
        .as_f64()
        .unwrap();
    let moved = |nanos: f64| nanos + offset + (nanos - begin) * drift;
    if let Some(boot) = boot {
        let clock = &mut json["otherData"]["clock"];
        clock["boot"] = boot.into();
        for reading in ["begin", "end"] {
            let at = clock[reading]["monotonic"].as_f64().unwrap();
            clock[reading]["monotonic"] = (moved(at).round() as i64).into();
        }
    }
    for event in json["traceEvents"].as_array_mut().unwrap() {
        if let Some(at) = event["ts"].as_f64() {
            event["ts"] = (moved(at * 1000.0).round() / 1000.0).into();
        }
    }
    std::fs::write(file, json.to_string()).unwrap();
}

#[test]
fn a_requests_stages_at_client_and_server_stand_on_one_line() {
    let folder = tempfile::tempdir().unwrap();
    record(folder.path(), "iiop://127.0.0.1:0");
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let [trace, picture, page] = ["joined.json", "slow.svg", "slow.html"].map(path);
    let joined = join(folder.path(), &["--output", &trace, "--draw", &picture], 0);
    assert_eq!(joined["clocks"][0]["by"], "same-clock");
    assert_eq!(joined["contradicted"], 0);
    let operations = joined["operations"].as_array().unwrap();
    let of = |name: &str| operations.iter().find(|one| one["operation"] == name);
    let void = of("bench::Cubit::cube_void").unwrap();
    assert!(void["requests"].as_u64().unwrap() >= 50, "{void}");
    for stage in ["request", "wait", "upcall", "reply"] {
        assert!(void[stage]["p50"].as_i64().unwrap() >= 0, "{void}");
        assert!(void[stage]["longest"].as_i64() <= void["whole"]["longest"].as_i64());
    }
    let trace: Value = serde_json::from_slice(&std::fs::read(trace).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let all = joined["requests"].as_u64().unwrap();
    let count = |phase: &str, name: &str| {
        let found = events
            .iter()
            .filter(|one| one["ph"] == phase && one["name"] == name);
        u64::try_from(found.count()).unwrap()
    };
    // A bar for each request, and within it those of its stages.
    for stage in ["request", "wait", "upcall", "reply"] {
        assert!(count("b", stage) <= all && count("b", stage) + 5 >= all);
        assert_eq!(count("b", stage), count("e", stage));
    }
    let picture = std::fs::read_to_string(picture).unwrap();
    assert_eq!(picture.matches("<g><title>").count(), 20);
    join(folder.path(), &["--draw", &page, "--requests", "3"], 0);
    let page = std::fs::read_to_string(page).unwrap();
    assert_eq!(page.matches("<g><title>").count(), 3);
    assert!(page.starts_with("<!DOCTYPE html>"));
}

#[test]
fn clocks_that_are_apart_and_drift_are_laid_beside_each_other_by_the_requests() {
    for listen in ["iiop://127.0.0.1:0", "shmiop"] {
        let folder = tempfile::tempdir().unwrap();
        let listen = match listen {
            "shmiop" => format!("shmiop://{}/cubit", folder.path().display()),
            other => other.to_owned(),
        };
        record(folder.path(), &listen);
        let server = folder.path().join("server.json");
        // Half an hour ahead, and 100 ppm too quick; the host's time of day is as wrong.
        let (offset, drift) = (1_800e9, 100e-6);
        shift(&server, Some("another start"), offset, drift);
        // Connections within a host are of one host, whatever its clocks.
        let client = folder.path().join("client.json");
        shift(&client, Some("another start"), 0.0, 0.0);
        let joined = join(folder.path(), &["--clocks", "requests"], 0);
        let clock = &joined["clocks"][0];
        assert_eq!(clock["by"], "requests");
        let number = |key: &str| clock[key].as_f64().unwrap();
        // By the end of a recording of some seconds the drift has made less than a millisecond.
        let error = (number("offset") - offset).abs();
        assert!(error <= number("uncertainty") + 1e-3 * 1e9, "{clock}");
        assert!(
            (number("drift_ppm") - 100.0).abs() <= number("drift_uncertainty_ppm") + 0.1,
            "{clock}"
        );
        assert_eq!(joined["contradicted"], 0, "{clock}");
        let sent = joined["files"][0]["sent"].as_u64().unwrap();
        assert!(joined["requests"].as_u64().unwrap() + 5 >= sent, "{joined}");
    }
}

#[test]
fn an_order_that_causality_contradicts_is_said_and_files_without_common_requests_fail() {
    let folder = tempfile::tempdir().unwrap();
    record(folder.path(), "iiop://127.0.0.1:0");
    let server = folder.path().join("server.json");
    // It pretends to have the client's clock, and is 5 ms ahead.
    shift(&server, None, 5e6, 0.0);
    let joined = join(folder.path(), &[], 0);
    assert_eq!(joined["clocks"][0]["by"], "same-clock");
    let contradicted = joined["contradicted"].as_u64().unwrap();
    assert!(contradicted > 0 && contradicted <= joined["requests"].as_u64().unwrap());
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let [client, server] = ["client.json", "server.json"].map(path);
    let shown = text(punctual(&["timeline", "join", &client, &server]).stdout);
    assert!(shown.contains("contradicted by causality"), "{shown}");

    let alone = punctual(&["timeline", "join", &client, &client]);
    assert_eq!(alone.status.code(), Some(1));
    assert!(text(alone.stdout).contains("not joined"));
}

#[test]
fn what_is_no_time_line_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.json");
    let file = file.to_str().unwrap();
    for (content, reason) in [
        ("", "no time line"),
        ("[]", "no time line"),
        (r#"{"traceEvents":[],"otherData":{}}"#, "another program"),
        (
            r#"{"traceEvents":[],"otherData":{"punctual_timeline":2}}"#,
            "version 2",
        ),
        (
            r#"{"traceEvents":[],"otherData":{"punctual_timeline":1}}"#,
            "write_recording",
        ),
        (
            r#"{"traceEvents":[{"ph":"i","name":"read","ts":"x"}],"otherData":{}}"#,
            "no time line",
        ),
        (
            r#"{"traceEvents":[{"ph":"i","name":"read","ts":1e300}],"otherData":{}}"#,
            "at a time that no clock has",
        ),
        (
            r#"{"traceEvents":[],"otherData":{"punctual_timeline":1,"clock":{"boot":"","time_namespace":"",
            "begin":{"monotonic":9,"time_of_day":1},"end":{"monotonic":0,"time_of_day":1}}}}"#,
            "clocks have times that no clock has",
        ),
    ] {
        std::fs::write(file, content).unwrap();
        let output = punctual(&["timeline", "join", file]);
        assert_eq!(output.status.code(), Some(1));
        let said = text(output.stderr);
        assert!(said.contains(reason), "{content}: {said}");
    }
}
