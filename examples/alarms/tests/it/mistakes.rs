//! Mistakes on the command line: each has a clear error, and an exit status.

use crate::service::Service;
use crate::support::{element, managed, place};

fn fails(output: std::process::Output, status: i32, part: &str) {
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains(part), "{part}: {told}");
    assert_eq!(output.status.code(), Some(status), "{told}");
}

#[test]
fn references_that_are_none_and_services_that_do_not_answer_are_told() {
    let (host, port) = place("127.81.3.1");
    let away = format!("corbaloc::{host}:{port}/NotifyEventChannelFactory");
    for (factory, part) in [
        ("corbaloc:nonsense", "is no reference"),
        ("http://127.0.0.1/", "is no reference"),
        ("file:///missing.ior", "is no reference"),
        (&*away, "no Notification Service answers"),
    ] {
        fails(managed(&[factory]), 1, part);
        fails(element(factory, &["clear", "port-1", "LOS"]), 1, part);
    }
}

#[test]
fn filters_grammars_channels_pages_and_files_that_are_wrong_are_told() {
    let service = Service::start(place("127.81.3.2"), None);
    service.create_channel(false);
    let factory = &*service.factory;
    for (arguments, part) in [
        (["--filter", "$severity > > 3"], "refuses `$severity > > 3`"),
        (["--channel", "7"], "no channel 7"),
        (["--web", "0.0.0.0:0"], "may be reached from other machines"),
        (["--web", "nowhere"], "--web nowhere"),
        (
            ["--state", "/proc/none/state.json"],
            "/proc/none/state.json",
        ),
    ] {
        fails(managed(&[&[factory], &arguments[..]].concat()), 1, part);
    }
    let sql = ["--filter", "a == 1", "--grammar", "SQL"];
    fails(
        managed(&[&[factory], &sql[..]].concat()),
        1,
        "--grammar SQL",
    );
    fails(managed(&[factory, "--heartbeat", "30"]), 2, "`30s`");
    fails(managed(&[factory, "--nonsense"]), 2, "--nonsense");
    let bad = ["raise", "port-1", "LOS", "dreadful"];
    fails(element(factory, &bad), 2, "critical");
    fails(
        element(factory, &["--channel", "7", "clear", "a", "b"]),
        1,
        "no channel 7",
    );
    // None of these has left a proxy behind.
    assert_eq!(service.pull_suppliers(), 0);
}
