//! `punctual log`: a service that is killed and started again, and commands on it.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::support::{Process, punctual, text};

/// Returns an address with a port that stays free: no other program and no other test uses the host.
fn place() -> String {
    let free = TcpListener::bind(("127.79.4.1", 0)).unwrap();
    free.local_addr().unwrap().to_string()
}

fn serve(place: &str, store: &Path) -> (Process, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    let endpoint = format!("iiop://{place}");
    command.args(["log", "serve", "--reply-records", "4"]);
    command.args(["--listen", &endpoint, "--store"]).arg(store);
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

fn refused(output: Output) -> String {
    assert!(!output.status.success());
    text(output.stderr)
}

fn long(number: usize) -> String {
    format!(r#"{{"type": "long", "value": {number}}}"#)
}

#[test]
fn records_of_a_service_that_is_killed_are_queried_and_logs_of_both_factories_listed() {
    let folder = tempfile::tempdir().unwrap();
    let (store, place) = (folder.path().join("logs.redb"), place());
    let (server, factory) = serve(&place, &store);
    let log = |command: &str, rest: &[&str]| {
        let arguments = [&["log", command, &factory], rest].concat();
        punctual(&arguments)
    };
    assert_eq!(
        succeeded(log("create", &["--wrap", "--max-size", "9000"])),
        "1\n"
    );
    assert_eq!(
        succeeded(log("create", &["--id", "5", "--life", "60"])),
        "5\n"
    );
    let site = r#"site={"type": "string", "value": "Ulm"}"#;
    for number in 0..7 {
        let info = long(number);
        let written = log(
            "write",
            &["--log", "1", "--info", &info, "--attribute", site],
        );
        assert_eq!(succeeded(written), "");
    }
    drop(server);

    let (_server, again) = serve(&place, &store);
    assert_eq!(again, factory);
    let lines = succeeded(log("query", &["--log", "1", "--filter", "$site == 'Ulm'"]));
    let records: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let infos: Vec<_> = records
        .iter()
        .map(|record| &record["info"]["value"])
        .collect();
    assert_eq!(infos, [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(records[6]["attr_list"][0]["name"], "site");
    let counted = log(
        "query",
        &[
            "--log",
            "1",
            "--count",
            "--grammar",
            "TCL",
            "--filter",
            "id > 4",
        ],
    );
    assert_eq!(succeeded(counted), "3\n");
    let listed = succeeded(log("logs", &[]));
    let (first, second) = listed.split_once('\n').unwrap();
    assert!(first.starts_with("1: 7 records, "), "{listed}");
    assert!(first.ends_with(" octets of 9000, wraps"), "{listed}");
    assert_eq!(second, "5: 0 records, 0 octets, halts\n");
    let json: Value =
        serde_json::from_str(succeeded(log("logs", &["--json"])).lines().next().unwrap()).unwrap();
    assert_eq!(
        (&json["records"], &json["wraps"]),
        (&7.into(), &true.into())
    );
    for other in ["EventLogFactory", "NotifyLogFactory", "NotifyLogService"] {
        let factory = format!("corbaloc:iiop:{place}/{other}");
        assert_eq!(succeeded(punctual(&["log", "logs", &factory])), "");
    }
}

#[test]
fn what_is_wrong_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (_server, factory) = serve(&place(), &folder.path().join("logs.redb"));
    let log = |command: &str, rest: &[&str]| {
        let arguments = [&["log", command, &factory], rest].concat();
        punctual(&arguments)
    };
    assert_eq!(succeeded(log("create", &["--max-size", "50"])), "1\n");
    let info = long(1);
    let five = ["--info", &info].repeat(5);
    for (output, reason) in [
        (log("query", &["--log", "9"]), "the service has no log 9"),
        (
            log("query", &["--log", "1", "--filter", "$.id =="]),
            "the service refuses the constraint `$.id ==`",
        ),
        (
            log("query", &["--log", "1", "--grammar", "SQL"]),
            "the service has no grammar `SQL`",
        ),
        (
            log("create", &["--id", "1"]),
            "the service has a log 1 already",
        ),
        (
            log("write", &[&["--log", "1"], five.as_slice()].concat()),
            "2 of 5 records are written",
        ),
        (
            log(
                "write",
                &["--log", "1", "--info", r#"{"type": "long", "value": "x"}"#],
            ),
            "for '--info <JSON>'",
        ),
        (
            punctual(&["log", "logs", "nowhere"]),
            "FACTORY is the factory",
        ),
    ] {
        let said = refused(output);
        assert!(said.contains(reason), "{reason}: {said}");
    }
    let listed = succeeded(log("logs", &[]));
    assert!(listed.ends_with(" of 50, halts, full\n"), "{listed}");
    let missing = punctual(&["log", "serve", "--listen", "iiop://127.0.0.1:0"]);
    assert!(refused(missing).contains("store"));
}
