//! `punctual naming bind --ttl` and `punctual naming group`.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::support;

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;
use support::{SOME, Serving, USER_EXCEPTION};

/// Waits until a name is bound, or until it is unbound.
fn until(serving: &Serving, name: &str, is_bound: bool) {
    while serving.call(&["resolve", name]).status.success() != is_bound {
        crate::support::pause();
    }
}

#[test]
fn a_name_is_bound_for_a_time_and_renewed_by_rebinding() {
    let serving = Serving::in_memory();
    serving.succeeds(&["bind", "-p", "--ttl", "3s", "plants/pump", SOME]);
    let said = serving.fails(
        &["bind", "--ttl", "3s", "plants/pump", SOME],
        USER_EXCEPTION,
    );
    assert!(said.contains("AlreadyBound"), "{said}");
    serving.succeeds(&["rebind", "--ttl", "1s", "plants/pump", SOME]);
    until(&serving, "plants/pump", false);
    let said = serving.fails(&["bind", "--ttl", "500ms", "pump", SOME], 2);
    assert!(said.contains("from 1 s to 24 h"), "{said}");
    // A context cannot be bound for a limited time, and `--keep` needs one.
    serving.fails(&["bind", "--ttl", "1s", "--context", "c", SOME], 2);
    serving.fails(&["bind", "--keep", "pump", SOME], 2);
}

#[test]
fn a_name_is_kept_until_the_command_ends() {
    let serving = Serving::in_memory();
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    command.args(["naming", "bind", "--service", &serving.reference]);
    command.args(["--ttl", "2s", "--keep", "pump", SOME]);
    let mut keeper = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    let mut output = BufReader::new(keeper.stderr.take().unwrap());
    output.read_line(&mut said).unwrap();
    assert!(said.contains("bound until this ends"), "{said}");
    serving.succeeds(&["bind", "--ttl", "3s", "marker", SOME]);
    until(&serving, "marker", false);
    serving.succeeds(&["resolve", "pump"]);
    let id = keeper.id().to_string();
    assert!(Command::new("kill").arg(id).status().unwrap().success());
    assert!(keeper.wait().unwrap().success());
    let said = serving.fails(&["resolve", "pump"], USER_EXCEPTION);
    assert!(said.contains("NotFound"), "{said}");
}

#[test]
fn an_export_makes_nothing_permanent_that_is_temporary() {
    let serving = Serving::in_memory();
    serving.succeeds(&["bind", "stays", SOME]);
    serving.succeeds(&["bind", "--ttl", "1h", "ends", SOME]);
    let exported = serving.call(&["export"]);
    let said = String::from_utf8(exported.stderr).unwrap();
    assert!(
        said.contains("1 temporary bindings are not exported"),
        "{said}"
    );
    let exported: Value = serde_json::from_slice(&exported.stdout).unwrap();
    let bindings = exported["bindings"].as_array().unwrap();
    assert_eq!(bindings.len(), 1);
    assert_eq!(bindings[0]["name"], "stays");
}

const OTHER: &str = "corbaloc::127.0.0.1:1/other";

#[test]
fn a_group_is_made_joined_resolved_and_left() {
    let serving = Serving::new(&["--memory", "--group-check", "0"]);
    let call = |rest: &[&str]| {
        let (command, rest) = rest.split_first().unwrap();
        let all = [&[*command, "--service", &serving.reference][..], rest].concat();
        support::punctual(&[&["naming", "group"][..], &all].concat())
    };
    let succeeds = |rest: &[&str]| {
        let output = call(rest);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{rest:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    };
    succeeds(&["create", "-p", "plants/pumps", "--choice", "least-loaded"]);
    let empty = serving.fails(&["resolve", "plants/pumps"], 3);
    assert!(empty.contains("TRANSIENT"), "{empty}");
    succeeds(&["join", "plants/pumps", "a", SOME]);
    succeeds(&["join", "plants/pumps", "b", OTHER, "--ttl", "1h"]);
    succeeds(&["report", "plants/pumps", "a", "0.5"]);
    succeeds(&["report", "plants/pumps", "b", "0.25"]);
    let led = |name: &str| serving.succeeds(&["resolve", name]);
    assert_eq!(led("plants/pumps"), led("plants/pumps/b"));
    let shown = succeeds(&["members", "plants/pumps"]);
    assert_eq!(shown, "a: stays, load 0.5\nb: for 3600 s, load 0.25\n");
    let members: Value =
        serde_json::from_str(&succeeds(&["members", "plants/pumps", "--json"])).unwrap();
    assert_eq!(members[1]["id"], "b");
    assert_eq!(members[1]["ttl_ms"], 3_600_000);
    assert_eq!(members[1]["alive"], true);
    assert!(
        members[0]["reference"]
            .as_str()
            .unwrap()
            .starts_with("IOR:")
    );
    let listed = serving.succeeds(&["list", "plants", "--json"]);
    assert!(listed.contains(r#""type":"object""#), "{listed}");
    succeeds(&["leave", "plants/pumps", "b"]);
    assert_eq!(led("plants/pumps"), led("plants/pumps/a"));
    for (rest, status, told) in [
        (&["leave", "plants/pumps", "b"][..], 4, "missing_node"),
        (&["join", "plants", "x", SOME], 4, "not_context"),
        (&["create", "plants/pumps"], 4, "AlreadyBound"),
        (&["create", "plants/pumps/in"], 4, "not_context"),
        (&["report", "plants/pumps", "a", "-1"], 2, ""),
        (&["join", "plants/pumps", "x", SOME, "--keep"], 2, "--ttl"),
    ] {
        let output = call(rest);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "{rest:?}: {said}");
        assert!(said.contains(told), "{rest:?}: {said}");
    }
    serving.succeeds(&["unbind", "plants/pumps"]);
    assert_eq!(serving.succeeds(&["list", "plants"]), "");
}

#[test]
fn an_exported_group_is_imported_with_the_members_that_stay() {
    let serving = Serving::new(&["--memory", "--group-check", "0"]);
    let group = |serving: &Serving, command: &str, rest: &[&str]| {
        let all = [
            &["naming", "group", command, "--service", &serving.reference],
            rest,
        ]
        .concat();
        let output = support::punctual(&all);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{all:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    };
    serving.succeeds(&["new-context", "plants"]);
    group(&serving, "create", &["plants/pumps", "--choice", "all"]);
    group(&serving, "create", &["empty"]);
    group(&serving, "join", &["plants/pumps", "a", SOME]);
    group(&serving, "join", &["plants/pumps", "b", OTHER]);
    group(
        &serving,
        "join",
        &["plants/pumps", "c", OTHER, "--ttl", "1h"],
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("names.json").display().to_string();
    let exported = serving.call(&["export", "--output", &file]);
    let said = String::from_utf8(exported.stderr).unwrap();
    assert!(said.contains("1 temporary bindings"), "{said}");
    let other = Serving::new(&["--memory", "--group-check", "0"]);
    let said = other.succeeds(&["import", &file]);
    assert!(said.contains("1 contexts and 2 groups"), "{said}");
    assert_eq!(
        group(&other, "members", &["plants/pumps"]),
        "a: stays\nb: stays\n"
    );
    assert_eq!(group(&other, "members", &["empty"]), "");
    let said = other.succeeds(&["import", &file]);
    assert!(said.contains("3 names were bound already"), "{said}");
}
