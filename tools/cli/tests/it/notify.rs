//! `punctual notify`: a service, and commands that look at it and set it up.

use crate::support::{Process, punctual, text};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Starts a service in memory; returns the reference to its factory.
fn service() -> (Process, String) {
    served(&[])
}

fn served(options: &[&str]) -> (Process, String) {
    served_at("iiop://127.0.0.1:0", options)
}

fn served_at(endpoint: &str, options: &[&str]) -> (Process, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    command.args(["notify", "serve", "--listen", endpoint]);
    command.args(options).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut process = Process(command.spawn().unwrap());
    let reference = process.reference();
    assert!(reference.starts_with("IOR:"), "{reference}");
    (process, reference)
}

fn notify(arguments: &[&str]) -> Output {
    punctual(&[&["notify"][..], arguments].concat())
}

/// Returns what a command prints that succeeds.
fn done(arguments: &[&str]) -> String {
    let output = notify(arguments);
    assert!(output.status.success(), "{}", text(output.stderr));
    text(output.stdout)
}

/// Returns the errors of a command that fails.
fn refused(arguments: &[&str]) -> String {
    let output = notify(arguments);
    assert_eq!(output.status.code(), Some(1), "{}", text(output.stdout));
    text(output.stderr)
}

fn written(folder: &Path, contents: &str) -> String {
    let path = folder.join("topology.toml");
    std::fs::write(&path, contents).unwrap();
    path.to_str().unwrap().to_owned()
}

const TOPOLOGY: &str = r#"
[channel.alarms.quality]
OrderPolicy = "FifoOrder"
Timeout = "1500ms"

[channel.alarms.administration]
MaxConsumers = 7

[channel.alarms.consumers.default]
types = [{ domain = "Telecom", type = "*" }]

[channel.alarms.consumers.operators]
operator = "or"
quality = { MaxEventsPerConsumer = 50 }
types = []

[[channel.alarms.consumers.operators.filters]]
grammar = "ETCL"
constraints = [
    { types = [{ domain = "Telecom", type = "NT_ALARM" }], text = "$severity > 3" },
    { text = "$urgent" },
]

[[channel.alarms.suppliers.default.filters]]
grammar = "TCL"
constraints = [{ text = "severity >= 0" }]

[channel.heartbeats]
"#;

#[test]
fn a_topology_is_made_once_and_comes_back_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let (_service, factory) = service();
    let file = written(folder.path(), TOPOLOGY);
    assert_eq!(
        done(&["import", &factory, &file]),
        "0: alarms\n1: heartbeats\n"
    );
    let exported = done(&["export", &factory]);
    let tree: toml::Table = exported.parse().unwrap();
    let alarms = &tree["channel"]["alarms"];
    assert_eq!(alarms["quality"]["Timeout"].as_str(), Some("1500ms"));
    assert_eq!(
        alarms["administration"]["MaxConsumers"].as_integer(),
        Some(7)
    );
    let operators = &alarms["consumers"]["operators"];
    assert_eq!(operators["operator"].as_str(), Some("or"));
    assert_eq!(operators["types"].as_array().unwrap().len(), 0);
    assert_eq!(
        operators["quality"]["MaxEventsPerConsumer"].as_integer(),
        Some(50)
    );
    let filter = &operators["filters"][0];
    assert_eq!(filter["grammar"].as_str(), Some("EXTENDED_TCL"));
    assert_eq!(filter["constraints"][1]["text"].as_str(), Some("$urgent"));
    let types = &alarms["consumers"]["default"]["types"];
    assert_eq!(types[0]["domain"].as_str(), Some("Telecom"));
    // Again, by the same file, and by the one that was exported.
    done(&["import", &factory, &file]);
    assert_eq!(done(&["export", &factory]), exported);
    let file = written(folder.path(), &exported);
    done(&["import", &factory, &file]);
    assert_eq!(done(&["export", &factory]), exported);
    // Another service gets the same.
    let (_other, other) = service();
    done(&["import", &other, &file]);
    assert_eq!(done(&["export", &other]), exported);
    assert!(!done(&["export", &other, "--channel", "1"]).contains("alarms"));
    assert!(refused(&["export", &other, "--channel", "9"]).contains("no channel 9"));
}

#[test]
fn changes_of_a_file_are_set_at_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let (_service, factory) = service();
    done(&["create", &factory]);
    let before = done(&["export", &factory]);
    assert!(before.contains("[channel.channel-0.quality]"), "{before}");
    let file = |constraint: &str, types: &str| {
        let contents = format!(
            "[channel.channel-0]\nadministration = {{ RejectNewEvents = true }}\n\
             [channel.channel-0.consumers.default]\n{types}\n\
             filters = [{{ grammar = 'TCL', constraints = [{{ text = '{constraint}' }}] }}]"
        );
        written(folder.path(), &contents)
    };
    done(&[
        "import",
        &factory,
        &file("a > 1", "types = [{ domain = 'A', type = 'B' }]"),
    ]);
    let first = done(&["export", &factory]);
    assert!(
        first.contains("a > 1") && first.contains("\"A\""),
        "{first}"
    );
    assert!(first.contains("RejectNewEvents = true"), "{first}");
    done(&["import", &factory, &file("a > 2", "")]);
    let second = done(&["export", &factory]);
    assert!(
        second.contains("a > 2") && !second.contains("a > 1"),
        "{second}"
    );
    assert!(!second.contains("types"), "{second}");
    assert_eq!(done(&["channels", &factory]).lines().count(), 1);
}

#[test]
fn persistent_connections_are_made_for_clients_that_have_references() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store.redb");
    let (_service, factory) = served(&["--store", store.to_str().unwrap()]);
    let contents = "[channel.kept]\nquality = { ConnectionReliability = 'Persistent' }\n\
        [[channel.kept.consumers.default.proxies]]\n\
        kind = 'push structured'\nclient = 'corbaloc:iiop:127.77.1.4:1/sink'\n\
        filters = [{ grammar = 'TCL', constraints = [{ text = 'a > 1' }] }]";
    let file = written(folder.path(), contents);
    done(&["import", &factory, &file]);
    let exported = done(&["export", &factory]);
    assert!(
        exported.contains("kind = \"push structured\""),
        "{exported}"
    );
    done(&["import", &factory, &file]);
    done(&["import", &factory, &written(folder.path(), &exported)]);
    assert_eq!(done(&["export", &factory]), exported);
}

#[test]
fn names_outlive_a_service_with_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store.redb");
    let store = store.to_str().unwrap();
    let contents = "[channel.kept]\nquality = { ConnectionReliability = 'Persistent' }\n\
        [channel.kept.consumers.readers]\n[channel.passing]";
    let file = written(folder.path(), contents);
    let (first, factory) = served(&["--store", store]);
    done(&["import", &factory, &file]);
    first.signal("-KILL");
    drop(first);
    let (_again, factory) = served(&["--store", store]);
    let exported = done(&["export", &factory]);
    assert!(
        exported.contains("[channel.kept.consumers.readers]"),
        "{exported}"
    );
    assert!(!exported.contains("passing"), "{exported}");
    // The name of what is gone can be given again.
    done(&["import", &factory, &file]);
    assert_eq!(done(&["channels", &factory]).lines().count(), 2);
}

#[test]
fn mistakes_in_a_file_name_line_and_key_and_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (_service, factory) = service();
    for (contents, said) in [
        ("[channel.a]\ncolour = 3", "line 2: unknown field `colour`"),
        (
            "[channel.a.quality]\n\nTimeout = 3",
            "line 3: `channel.a.quality.Timeout`: expected a time with its unit",
        ),
        (
            "[channel.a]\nquality = { Speed = 3 }",
            "line 2: `channel.a.quality.Speed`: there is no such property",
        ),
        (
            "[[channel.a.consumers.x.filters]]\ngrammar = 'TCL'\nconstraints = [{ text = 'a > > 1' }]",
            "line 3: `channel.a.consumers.x.filters.constraints.text`: 1:5: expected a value",
        ),
        (
            "[[channel.a.consumers.x.filters]]\ngrammar = 'SQL'",
            "line 2: `channel.a.consumers.x.filters.grammar`: expected `EXTENDED_TCL`",
        ),
        (
            "[[channel.a.suppliers.x.proxies]]\nkind = 'push me'\nclient = ''",
            "line 2: `channel.a.suppliers.x.proxies.kind`: expected one of push any",
        ),
        ("[channel.a", "line 1:"),
    ] {
        let error = refused(&["import", &factory, &written(folder.path(), contents)]);
        assert!(error.contains(&format!("topology.toml, {said}")), "{error}");
    }
    assert_eq!(done(&["channels", &factory]), "");
    // What the service alone can say.
    let contents =
        "[channel.a]\n[channel.a.consumers.x]\nquality = { ConnectionReliability = 'Persistent' }";
    let error = refused(&["import", &factory, &written(folder.path(), contents)]);
    let said =
        "line 3: `channel.a.consumers.x.quality.ConnectionReliability`: the service refuses it";
    assert!(error.contains(said), "{error}");
}

#[test]
fn watch_shows_what_waits_and_what_was_lost() {
    let folder = tempfile::tempdir().unwrap();
    let (_service, factory) = service();
    let contents = "[channel.a.consumers.default]\nquality = { MaxEventsPerConsumer = 2 }\n\
        [[channel.a.consumers.default.proxies]]\n\
        kind = 'pull structured'\nclient = 'corbaloc:iiop:127.77.1.5:1/sink'";
    done(&["import", &factory, &written(folder.path(), contents)]);
    done(&["push", &factory, "--type", "T", "--count", "5"]);
    let looks = done(&[
        "watch",
        &factory,
        "--looks",
        "2",
        "--interval",
        "1ms",
        "--json",
    ]);
    assert_eq!(looks.lines().count(), 2);
    let look: Value = serde_json::from_str(looks.lines().next().unwrap()).unwrap();
    assert_eq!((&look["received"], &look["held"]), (&5.into(), &2.into()));
    let consumer = &look["consumers"][0];
    assert_eq!(
        (&consumer["queued"], &consumer["discarded"]),
        (&2.into(), &3.into())
    );
    assert_eq!(consumer["kind"], "pull structured");
    assert_eq!(consumer["peer"], "iiop://127.77.1.5:1");
    let table = done(&["watch", &factory, "--looks", "1"]);
    assert!(table.contains("0/0 pull structured"), "{table}");
    assert!(table.contains("lost by consumers: 3 discarded"), "{table}");
    let error = refused(&["watch", &factory, "--channel", "4"]);
    assert!(error.contains("the service has no channel 4"), "{error}");
}

#[test]
fn watch_goes_on_when_the_server_is_started_again_and_ends_at_once_when_it_is_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store.redb");
    let options = ["--store", store.to_str().unwrap()];
    // No other program and no other test uses the host.
    let free = TcpListener::bind(("127.77.1.6", 0)).unwrap();
    let endpoint = format!("iiop://{}", free.local_addr().unwrap());
    drop(free);
    let (first, factory) = served_at(&endpoint, &options);
    done(&["create", &factory, "--persistent"]);
    let watch = |interval: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
        command.args([
            "notify",
            "watch",
            &factory,
            "--json",
            "--interval",
            interval,
        ]);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        Process(command.stderr(Stdio::piped()).spawn().unwrap())
    };
    let mut watched = watch("20ms");
    let mut looks = BufReader::new(watched.0.stdout.take().unwrap()).lines();
    let mut reasons = BufReader::new(watched.0.stderr.take().unwrap()).lines();
    assert!(looks.next().unwrap().unwrap().contains("received"));
    first.signal("-KILL");
    drop(first);
    let reason = reasons.next().unwrap().unwrap();
    assert!(
        reason.contains("TRANSIENT") || reason.contains("COMM_FAILURE"),
        "{reason}"
    );
    let (_again, _) = served_at(&endpoint, &options);
    done(&["push", &factory]);
    let has_it = |look: String| look.contains("\"received\":1,");
    assert!(looks.any(|look| has_it(look.unwrap())));
    watched.signal("-TERM");
    assert!(watched.0.wait().unwrap().success());
    // Not after its interval.
    let mut watched = watch("1h");
    let mut looks = BufReader::new(watched.0.stdout.take().unwrap()).lines();
    assert!(has_it(looks.next().unwrap().unwrap()));
    watched.signal("-TERM");
    assert!(watched.0.wait().unwrap().success());
}

#[test]
fn a_constraint_with_a_mistake_is_refused_with_its_place_and_leaves_no_filter() {
    let (_server, factory) = served(&["--most-filters", "1"]);
    done(&["create", &factory]);
    let text = refused(&["pull", &factory, "--filter", "$a > > 3"]);
    assert!(text.contains("1:6: expected a value"), "{text}");
    done(&["pull", &factory, "--filter", "$a > 3", "--count", "0"]);
}
