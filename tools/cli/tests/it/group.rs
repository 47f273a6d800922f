//! `punctual group`: a service that is killed and started again, and commands on it.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::support::{Process, Serving, punctual, text};

/// Returns an address with a port that stays free: no other program and no other test uses the host.
fn place() -> String {
    let free = TcpListener::bind(("127.79.4.2", 0)).unwrap();
    free.local_addr().unwrap().to_string()
}

fn serve(place: &str, store: &Path) -> (Process, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    let endpoint = format!("iiop://{place}");
    command
        .args(["group", "serve", "--listen", &endpoint, "--store"])
        .arg(store);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut process = Process(command.spawn().unwrap());
    let reference = process.reference();
    assert!(!reference.is_empty(), "it has not started");
    (process, reference)
}

fn succeeded(output: Output) -> String {
    let said = text(output.stderr);
    assert!(output.status.success(), "{said}");
    text(output.stdout)
}

fn refused(output: Output, status: i32) -> String {
    assert_eq!(output.status.code(), Some(status));
    text(output.stderr)
}

#[test]
fn groups_of_a_service_that_is_killed_are_listed_changed_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let (store, place) = (folder.path().join("groups.redb"), place());
    let (server, service) = serve(&place, &store);
    let group = |command: &str, rest: &[&str]| {
        let arguments = [&["group", command, "--service", &service], rest].concat();
        punctual(&arguments)
    };
    let created = succeeded(group(
        "create",
        &["IDL:Pump:1.0", "--style", "cold-passive", "--json"],
    ));
    let created: Value = serde_json::from_str(&created).unwrap();
    assert_eq!(created["group"], 1);
    let reference = created["reference"].as_str().unwrap().to_owned();
    let balanced = succeeded(group(
        "create",
        &["IDL:Pump:1.0", "--strategy", "LeastLoaded"],
    ));
    assert!(balanced.starts_with("IOR:"), "{balanced}");
    assert!(
        refused(
            group("create", &["IDL:Pump:1.0", "--style", "luke-warm"]),
            4
        )
        .contains("style")
    );
    // The members are objects that exist: here, the service itself.
    let member = format!("corbaloc::{place}/LoadManager");
    succeeded(group("add", &["1", "host-1", &member]));
    succeeded(group("add", &[&reference, "host-2/process.a", &member]));
    let said = refused(group("add", &["1", "host-1", &member]), 4);
    assert!(said.contains("MemberAlreadyPresent"), "{said}");
    succeeded(group("set-primary", &["1", "host-2/process.a"]));
    assert!(refused(group("set-primary", &["1", "host-3"]), 4).contains("MemberNotFound"));
    assert!(refused(group("set-primary", &["2", "host-1"]), 4).contains("BadReplicationStyle"));
    assert!(refused(group("remove", &["77"]), 4).contains("ObjectGroupNotFound"));
    drop(server);

    let (_server, _) = serve(&place, &store);
    let listed: Value = serde_json::from_str(&succeeded(group("list", &["--json"]))).unwrap();
    let members = listed[0]["members"].as_array().unwrap();
    assert_eq!(members[1]["location"], "host-2/process.a");
    assert_eq!(
        (&members[0]["primary"], &members[1]["primary"]),
        (&false.into(), &true.into())
    );
    let shown = succeeded(group("list", &[]));
    assert!(
        shown.contains("cold-passive") && shown.contains("host-2/process.a  primary"),
        "{shown}"
    );
    let watched = succeeded(group("watch", &["1", "--count", "1"]));
    assert_eq!(
        watched,
        "1  cold-passive\n1  host-1  member\n1  host-2/process.a  primary\n"
    );
    succeeded(group("remove", &["1", "host-1"]));
    succeeded(group("drain", &["1", "host-2/process.a"]));
    assert!(succeeded(group("list", &[])).contains("primary, draining"));
    succeeded(group("drain", &["1", "host-2/process.a", "--undo"]));
    succeeded(group("remove", &["1"]));
    let watched = succeeded(group("watch", &["--count", "1", "--json"]));
    assert_eq!(
        watched,
        "{\"group\":2,\"is\":\"LeastLoaded\",\"location\":null,\"was\":null}\n"
    );
}

#[test]
fn the_group_of_a_name_is_listed_drained_and_removed_by_commands_for_groups() {
    let folder = tempfile::tempdir().unwrap();
    let place = place();
    let (_server, service) = serve(&place, &folder.path().join("groups.redb"));
    let group = |command: &str, rest: &[&str]| {
        let arguments = [&["group", command, "--service", &service], rest].concat();
        succeeded(punctual(&arguments))
    };
    let names = Serving::new(&["--memory", "--group-service", &service]);
    let of_names = |command: &str, rest: &[&str]| {
        let arguments = ["naming", "group", command, "--service", &names.reference];
        succeeded(punctual(&[&arguments[..], rest].concat()))
    };
    of_names("create", &["plants/pumps", "--parents"]);
    // Members are objects that exist: here, those of the service itself.
    let of = |key: &str| format!("corbaloc::{place}/{key}");
    of_names("join", &["plants/pumps", "first", &of("LoadManager")]);
    of_names(
        "join",
        &["plants/pumps", "second", &of("ReplicationManager")],
    );
    let listed: Value = serde_json::from_str(&group("list", &["--json"])).unwrap();
    let members = listed[0]["members"].as_array().unwrap();
    assert_eq!(
        (members.len(), &members[0]["location"]),
        (2, &"first".into())
    );
    let id = listed[0]["group"].as_u64().unwrap().to_string();
    group("drain", &[&id, "first"]);
    let is_led_to = |member: &str| {
        let shown = of_names("members", &["plants/pumps", "--json"]);
        let shown: Value = serde_json::from_str(&shown).unwrap();
        let mut all = shown.as_array().unwrap().iter();
        all.find(|one| one["id"] == member).unwrap()["alive"] == true
    };
    while is_led_to("first") {
        crate::support::pause();
    }
    assert!(is_led_to("second"));
    group("remove", &[&id, "first"]);
    while names
        .call(&["resolve", "plants/pumps/first"])
        .status
        .success()
    {
        crate::support::pause();
    }
    names.succeeds(&["unbind", "plants/pumps"]);
    assert_eq!(group("list", &["--json"]).trim(), "[]");
}

#[test]
fn a_group_joins_and_loses_members_by_a_name_that_is_bound_to_its_reference() {
    let folder = tempfile::tempdir().unwrap();
    let place = place();
    let (_server, service) = serve(&place, &folder.path().join("groups.redb"));
    let other_place = self::place();
    let (_other, other) = serve(&other_place, &folder.path().join("other.redb"));
    let names = Serving::in_memory();
    let group = |command: &str, rest: &[&str]| {
        let arguments = [&["group", command, "--service", &service], rest].concat();
        succeeded(punctual(&arguments))
    };
    let call = |command: &str, rest: &[&str]| {
        let arguments = ["naming", "group", command, "--service", &names.reference];
        punctual(&[&arguments[..], rest].concat())
    };
    let listed = || -> Value { serde_json::from_str(&group("list", &["--json"])).unwrap() };
    let of = |key: &str| format!("corbaloc::{place}/{key}");
    for (at, style) in ["--strategy", "--style"].into_iter().enumerate() {
        let value = ["RoundRobin", "cold-passive"][at];
        let reference = group("create", &["IDL:Pump:1.0", style, value]);
        let name = format!("pumps-{at}");
        names.succeeds(&["bind", &name, reference.trim()]);
        succeeded(call("join", &[&name, "first", &of("LoadManager")]));
        let member = of("ReplicationManager");
        succeeded(call(
            "join",
            &[&name, "second", &member, "--group-service", &service],
        ));
        let members = |at: usize| listed()[at]["members"].as_array().unwrap().clone();
        assert_eq!(members(at).len(), 2);
        assert_eq!(members(at)[1]["location"], "second");
        // Its service is another one, and nothing has changed there or here.
        for command in ["join", "leave"] {
            let mut rest = vec![name.as_str(), "second", "--group-service", &other];
            if command == "join" {
                rest.push(&member);
            }
            let said = refused(call(command, &rest), 1);
            assert!(said.contains("no group of the service"), "{said}");
        }
        let keep = [&name, "third", &member, "--ttl", "2s", "--keep"];
        assert!(refused(call("join", &keep), 1).contains("--keep renews"));
        assert_eq!(members(at).len(), 2);
        succeeded(call("leave", &[&name, "second"]));
        assert_eq!(members(at).len(), 1);
        let said = refused(call("leave", &[&name, "second"]), 4);
        assert!(said.contains("MemberNotFound"), "{said}");
    }
    // An object that is no group, at a server that has none.
    names.succeeds(&["bind", "pump", &names.reference]);
    let said = refused(call("leave", &["pump", "first"]), 4);
    assert!(
        said.contains("not_context") && said.contains("--group-service"),
        "{said}"
    );
}
