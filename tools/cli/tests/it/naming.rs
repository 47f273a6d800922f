//! `punctual naming`: a server, and the commands on it.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::support;

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use support::{SOME, SYSTEM_EXCEPTION, Serving, USER_EXCEPTION, punctual, text};

fn furnished() -> Serving {
    let serving = Serving::in_memory();
    serving.succeeds(&["new-context", "plants"]);
    serving.succeeds(&["bind", "-p", "plants/north.site/pump", SOME]);
    serving.succeeds(&["bind", "clock.time", SOME]);
    serving.succeeds(&[
        "bind",
        "--context",
        "works",
        &format!("{}#plants", serving.url("corbaname")),
    ]);
    serving
}

#[test]
fn names_are_bound_listed_drawn_resolved_and_unbound() {
    let serving = furnished();
    assert_eq!(serving.succeeds(&["list"]), "clock.time\nplants/\nworks/\n");
    assert_eq!(serving.succeeds(&["list", "plants/north.site"]), "pump\n");
    assert_eq!(
        serving.succeeds(&["tree"]),
        "/\n\
         ├── clock.time\n\
         ├── plants/\n\
         │   └── north.site/\n\
         │       └── pump\n\
         └── works/ is plants\n"
    );
    let reference = serving.succeeds(&["resolve", "works/north.site/pump"]);
    let facts = text(punctual(&["ior", reference.trim()]).stdout);
    assert!(
        facts.contains("127.0.0.1") && facts.contains("some"),
        "{facts}"
    );
    serving.succeeds(&["rebind", "clock.time", "corbaloc::127.0.0.1:1/other"]);
    serving.succeeds(&["unbind", "plants/north.site/pump", "clock.time"]);
    serving.succeeds(&["unbind", "--destroy", "plants/north.site"]);
    assert_eq!(
        serving.succeeds(&["tree"]),
        "/\n├── plants/\n└── works/ is plants\n"
    );
}

#[test]
fn exceptions_are_told_with_their_members_and_a_status_of_their_own() {
    let serving = furnished();
    let said = serving.fails(&["resolve", "plants/x/y"], USER_EXCEPTION);
    assert_eq!(
        said,
        "error: `plants/x/y`: NotFound (missing_node): nothing has the name `x/y`\n\
         help: `punctual naming list plants` shows what is bound there\n"
    );
    let said = serving.fails(&["bind", "clock.time", SOME], USER_EXCEPTION);
    assert!(
        said.contains("AlreadyBound") && said.contains("naming rebind"),
        "{said}"
    );
    let said = serving.fails(&["unbind", "--destroy", "plants"], USER_EXCEPTION);
    assert!(
        said.contains("NotEmpty") && said.contains("naming list plants"),
        "{said}"
    );
    let said = serving.fails(&["unbind", "plants"], 1);
    assert!(
        said.contains("has bindings") && said.contains("--keep-contents"),
        "{said}"
    );
    serving.succeeds(&["resolve", "plants/north.site"]);
    let said = serving.fails(&["resolve", "a//b"], 1);
    assert!(said.contains("offset 2") && said.contains("help"), "{said}");
    let output = punctual(&["naming", "list", "--service", SOME]);
    assert_eq!(output.status.code(), Some(SYSTEM_EXCEPTION));
    assert!(text(output.stderr).contains("help"));
}

#[test]
fn exceptions_as_json_are_those_that_a_call_shows() {
    let serving = furnished();
    let said = serving.fails(&["resolve", "--json", "plants/x/y"], USER_EXCEPTION);
    let idl = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../services/naming/client/idl/CosNaming.idl"
    );
    let name = json!(
        [["plants", ""], ["x", ""], ["y", ""]]
            .map(|[id, kind]| { json!({ "id": id, "kind": kind }) })
    );
    let name = name.to_string();
    let called = ["call", &serving.reference, "resolve", &name, "--idl", idl];
    let called = punctual(&called);
    assert_eq!(called.status.code(), Some(USER_EXCEPTION));
    let called: Value = serde_json::from_slice(&called.stderr).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&said).unwrap(), called);
}

#[test]
fn a_server_that_does_not_start_prints_its_error_alone() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("iiop://{}", taken.local_addr().unwrap());
    let output = punctual(&[
        "naming",
        "serve",
        "--memory",
        "--status",
        "127.0.0.1:0",
        "--listen",
        &endpoint,
    ]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(output.stderr);
    assert!(
        said.starts_with("error: ") && said.contains("help: "),
        "{said}"
    );
    assert!(
        !said.contains("bindings in") && !said.contains("status at"),
        "{said}"
    );
}

#[test]
fn json_has_the_same_for_programs() {
    let serving = furnished();
    let lines = serving.succeeds(&["list", "--json"]);
    let lines: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let clock = json!({ "name": "clock.time", "id": "clock", "kind": "time", "type": "object" });
    assert_eq!(lines[0], clock);
    assert_eq!(lines.len(), 3);
    let tree: Value = serde_json::from_str(&serving.succeeds(&["tree", "--json"])).unwrap();
    assert_eq!(
        tree[1]["bindings"][0]["bindings"][0]["name"],
        "plants/north.site/pump"
    );
    assert_eq!(tree[2]["same_as"], "plants");
    let one = serving.succeeds(&["resolve", "--json", "plants"]);
    let one: Value = serde_json::from_str(&one).unwrap();
    assert_eq!(one["type_id"], "IDL:omg.org/CosNaming/NamingContextExt:1.0");
}

#[test]
fn an_export_is_imported_into_another_server_with_contexts_that_are_shared() {
    let serving = furnished();
    serving.succeeds(&["bind", "--context", "plants/round", &serving.reference]);
    serving.succeeds(&["bind", "nothing", "nil"]);
    let other = Serving::in_memory();
    serving.succeeds(&["bind", "--context", "other", &other.reference]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("names.json").display().to_string();
    serving.succeeds(&["export", "--output", &file]);
    let said = other.succeeds(&["import", &file]);
    assert!(
        said.starts_with("3 objects and 5 contexts were bound"),
        "{said}"
    );
    // `other` is the server itself now.
    let drawn = other.succeeds(&["tree"]);
    let expected = serving
        .succeeds(&["tree"])
        .replace("other/ of another server", "other/ is /");
    assert_eq!(drawn, expected);
    other.succeeds(&["resolve", "works/north.site/pump"]);
    other.succeeds(&["resolve", "plants/round/plants/north.site/pump"]);
    let again = other.succeeds(&["import", "--json", &file]);
    let again: Value = serde_json::from_str(&again).unwrap();
    assert_eq!(
        again,
        json!({ "objects": 0, "contexts": 0, "groups": 0, "kept": 8 })
    );
    let said = other.fails(&["import", "/dev/null"], 1);
    assert!(said.contains("help"), "{said}");
}

#[test]
fn changes_are_seen_by_who_watches() {
    let serving = furnished();
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    command.args(["naming", "watch", "--json", "--interval", "50ms"]);
    command.args(["--service", &serving.reference]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut watching = command.spawn().unwrap();
    let mut said = String::new();
    // It has looked once.
    BufReader::new(watching.stderr.take().unwrap())
        .read_line(&mut said)
        .unwrap();
    assert_eq!(said, "5 bindings\n");
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    serving.succeeds(&["bind", "plants/new", SOME]);
    let seen = next();
    assert_eq!(
        (&seen["change"], &seen["name"]),
        (&json!("bound"), &json!("plants/new"))
    );
    serving.succeeds(&["rebind", "plants/new", "corbaloc::127.0.0.1:1/other"]);
    assert_eq!(next()["change"], "rebound");
    serving.succeeds(&["unbind", "plants/new"]);
    assert_eq!(next()["change"], "unbound");
    watching.kill().unwrap();
    watching.wait().unwrap();
}

#[test]
fn dead_and_unreachable_objects_are_found_and_pruned_when_told_to() {
    let serving = furnished();
    // The root exists. A context of an invented key does not.
    serving.succeeds(&["bind", "alive", &serving.reference]);
    let dead = format!("{}/nobody", serving.url("corbaloc"));
    serving.succeeds(&["bind", "plants/dead", &dead]);
    let output = serving.call(&["check", "--json", "--answer", "1s"]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(output.stdout);
    let mut found: Vec<Value> = said
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    found.sort_by_key(|one| one["name"].to_string());
    let told: Vec<_> = found
        .iter()
        .map(|one| (one["name"].as_str(), one["is"].as_str()))
        .collect();
    assert_eq!(
        told,
        [
            (Some("clock.time"), Some("unreachable")),
            (Some("plants/dead"), Some("dead")),
            (Some("plants/north.site/pump"), Some("unreachable")),
        ]
    );
    let output = serving.call(&["check", "--prune"]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(output.stdout);
    assert!(said.contains("1 bindings removed, 2 kept"), "{said}");
    assert!(said.contains("--prune-unreachable"), "{said}");
    assert_eq!(serving.succeeds(&["list", "plants"]), "north.site/\n");
    serving.fails(&["check", "--prune", "--prune-unreachable"], 1);
    let said = serving.succeeds(&["check"]);
    assert!(said.contains("1 objects, 0 dead"), "{said}");
}

#[test]
fn a_service_is_found_by_options_of_the_orb_and_objects_by_their_names_everywhere() {
    let serving = furnished();
    serving.succeeds(&["bind", "root", &serving.reference]);
    let init = format!("NameService={}/NameService", serving.url("corbaloc"));
    let listed = punctual(&["naming", "list", "-ORBInitRef", &init]);
    assert!(text(listed.stdout).contains("clock.time"));
    let idl = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../services/naming/client/idl/CosNaming.idl"
    );
    let root = format!("{}#root", serving.url("corbaname"));
    let called = punctual(&[
        "call",
        "--idl",
        idl,
        &root,
        "to_string",
        r#"[{"id":"a.b","kind":"c"}]"#,
    ]);
    assert_eq!(
        text(called.stdout).trim(),
        r#""a\\.b.c""#,
        "{:?}",
        text(called.stderr)
    );
    let called = punctual(&["call", "--idl", idl, &format!("{root}x"), "new_context"]);
    let said = text(called.stderr);
    assert!(said.contains("`rootx`: it is not bound"), "{said}");
    let shown = text(punctual(&["ior", &root]).stdout);
    assert!(shown.contains("NameService"), "{shown}");
}

#[test]
fn a_store_is_kept_and_has_one_server_and_another_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("names.redb").display().to_string();
    let first = Serving::new(&["--store", &store]);
    first.succeeds(&["bind", "-p", "a/b", SOME]);
    let second = punctual(&[
        "naming",
        "serve",
        "--listen",
        "iiop://127.0.0.1:0",
        "--store",
        &store,
    ]);
    let said = text(second.stderr);
    assert!(
        !second.status.success() && said.contains("another naming server"),
        "{said}"
    );
    drop(first);
    let again = Serving::new(&["--store", &store, "--allow", "=10.0.0.0/8"]);
    again.succeeds(&["resolve", "a/b"]);
    let said = again.fails(&["unbind", "a/b"], SYSTEM_EXCEPTION);
    assert!(said.contains("NO_PERMISSION"), "{said}");
    let text_file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("Cargo.toml")
        .display()
        .to_string();
    let other = punctual(&[
        "naming",
        "serve",
        "--listen",
        "iiop://127.0.0.1:0",
        "--store",
        &text_file,
    ]);
    let said = text(other.stderr);
    assert!(
        !other.status.success() && said.contains("not changed"),
        "{said}"
    );
}
