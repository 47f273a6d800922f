//! `punctual naming bind --ttl` and `punctual naming group`.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "naming_support/mod.rs"]
mod support;

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;
use support::{SOME, Serving, USER_EXCEPTION};

/// Waits until a name is bound, or is not.
fn until(serving: &Serving, name: &str, is_bound: bool) {
    while serving.call(&["resolve", name]).status.success() != is_bound {
        std::thread::yield_now();
    }
}

#[test]
fn a_name_is_bound_for_a_time_and_renewed_by_rebinding() {
    let serving = Serving::in_memory();
    serving.succeeds(&["bind", "-p", "--ttl", "1s", "plants/pump", SOME]);
    let said = serving.fails(
        &["bind", "--ttl", "1s", "plants/pump", SOME],
        USER_EXCEPTION,
    );
    assert!(said.contains("AlreadyBound"), "{said}");
    serving.succeeds(&["rebind", "--ttl", "1s", "plants/pump", SOME]);
    until(&serving, "plants/pump", false);
    let said = serving.fails(&["bind", "--ttl", "500ms", "pump", SOME], 2);
    assert!(said.contains("from 1 s to 24 h"), "{said}");
    // Nothing keeps a context for a time, nor without one.
    serving.fails(&["bind", "--ttl", "1s", "--context", "c", SOME], 2);
    serving.fails(&["bind", "--keep", "pump", SOME], 2);
}

#[test]
fn a_name_is_kept_until_the_command_ends() {
    let serving = Serving::in_memory();
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    command.args(["naming", "bind", "--service", &serving.reference]);
    command.args(["--ttl", "1s", "--keep", "pump", SOME]);
    let mut keeper = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    let mut output = BufReader::new(keeper.stderr.take().unwrap());
    output.read_line(&mut said).unwrap();
    assert!(said.contains("bound until this ends"), "{said}");
    serving.succeeds(&["bind", "--ttl", "2s", "marker", SOME]);
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
