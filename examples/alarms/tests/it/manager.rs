//! Manager, element and service together.

use serde_json::json;

use crate::service::Service;
use crate::support::{Manager, alarms, place, pushes};

fn tmf(object: &str) -> String {
    format!("EMS=acme-ems/ManagedElement=north/PTP={object}")
}

#[test]
fn alarms_are_listed_when_they_are_raised_and_not_any_more_when_they_are_cleared() {
    let service = Service::start(place("127.81.1.1"), None);
    service.create_channel(false);
    let factory = &service.factory;
    let manager = Manager::start(factory, &[]);
    assert_eq!(manager.json()["alarms"], json!([]));
    pushes(factory, &["raise", "port-1", "LOS", "minor"]);
    pushes(
        factory,
        &["raise", "port-1", "LOS", "critical", "--text", "fibre cut"],
    );
    pushes(
        factory,
        &["--form", "itf-n", "raise", "port-2", "AIS", "major"],
    );
    let json = manager.until("both", |json| {
        json["counts"]["critical"] == 1 && json["counts"]["major"] == 1
    });
    let alarm = &json["alarms"][0];
    assert_eq!(alarm["object"], tmf("port-1"));
    assert_eq!(alarm["system"], "acme-ems");
    assert_eq!(
        (&alarm["changes"], &alarm["text"]),
        (&json!(1), &json!("fibre cut"))
    );
    let other = "SubNetwork=acme-ems,ManagedElement=north,Port=port-2";
    assert_eq!(json["alarms"][1]["object"], other);
    assert_eq!(json["service"]["connected"], true);
    pushes(factory, &["clear", "port-1", "LOS"]);
    pushes(factory, &["--form", "itf-n", "clear", "port-2", "AIS"]);
    manager.until("none", |json| json["alarms"] == json!([]));
    manager.says("raised: minor LOS at EMS=acme-ems");
    manager.says("changed: critical LOS");
    manager.says("cleared: LOS");
}

#[test]
fn a_filter_leaves_other_alarms_out_and_neither_ends_of_alarms_nor_heartbeats() {
    let service = Service::start(place("127.81.1.2"), None);
    service.create_channel(false);
    let factory = &service.factory;
    let filter = "$perceivedSeverity == 'PS_CRITICAL' or $h == 2";
    let extended = Manager::start(factory, &["--filter", filter]);
    let plain = ["--grammar", "TCL", "--filter", "probableCause == 'AIS'"];
    let plain = Manager::start(factory, &plain);
    for form in ["tmf", "itf-n"] {
        for (object, cause, severity) in [
            ("port-1", "LOS", "critical"),
            ("port-2", "AIS", "minor"),
            ("port-3", "AIS", "critical"),
        ] {
            pushes(factory, &["--form", form, "raise", object, cause, severity]);
        }
        pushes(factory, &["--form", form, "clear", "port-3", "AIS"]);
        let beat = [
            "--form",
            form,
            "--system",
            "alive",
            "heartbeat",
            "--count",
            "1",
        ];
        pushes(factory, &beat);
        // The heartbeat came last.
        let systems = match form {
            "tmf" => "alive",
            _ => "SubNetwork=alive",
        };
        for manager in [&extended, &plain] {
            manager.until("alive", |json| {
                let all = json["systems"].as_array().unwrap();
                all.iter().any(|one| one["system"] == systems)
            });
        }
    }
    let critical = |object: &str| [object.to_owned(), "LOS".to_owned(), "critical".to_owned()];
    // A constraint on a field that an event lacks is false as a whole: events of Itf-N have no `$perceivedSeverity`.
    let json = extended.json();
    assert_eq!(alarms(&json), [critical(&tmf("port-1"))]);
    assert_eq!(json["filter"], filter);
    let ais = [tmf("port-2"), "AIS".to_owned(), "minor".to_owned()];
    assert_eq!(alarms(&plain.json()), [ais]);
}

#[test]
fn a_system_that_sends_nothing_any_more_is_silent_until_it_is_heard_again() {
    let service = Service::start(place("127.81.1.3"), None);
    service.create_channel(false);
    let factory = &service.factory;
    let impatient = Manager::start(factory, &["--heartbeat", "300ms"]);
    let patient = Manager::start(factory, &["--heartbeat", "24h"]);
    pushes(factory, &["heartbeat", "--count", "3", "--every", "10ms"]);
    let silent = |json: &serde_json::Value| json["systems"][0]["silent"].clone();
    impatient.until("silent", |json| silent(json) == true);
    let json = patient.until("heard", |json| json["systems"] != json!([]));
    assert_eq!(silent(&json), false);
    assert_eq!(json["systems"][0]["system"], "acme-ems");
    // An alarm is a sign of life, too.
    pushes(factory, &["raise", "port-1", "LOS", "minor"]);
    patient.until("raised", |json| json["counts"]["minor"] == 1);
}

#[test]
fn the_page_loads_all_that_it_needs_from_the_manager() {
    let service = Service::start(place("127.81.1.4"), None);
    service.create_channel(false);
    let manager = Manager::start(&service.factory, &[]);
    let page = manager.get("/alarms");
    assert!(page.contains("id=\"alarms\""), "{page}");
    for part in page.split(['"', '\'']).filter(|part| part.starts_with('/')) {
        manager.get(part);
    }
    assert!(manager.get("/alarms/page.js").contains("alarms.json"));
    assert!(manager.get("/alarms.json").contains("application/json"));
}

#[test]
fn a_manager_that_is_ended_takes_its_connection_with_it() {
    let service = Service::start(place("127.81.1.5"), None);
    service.create_channel(false);
    let manager = Manager::start(&service.factory, &["--filter", "$a == 1"]);
    manager.signal("-TERM");
    assert_eq!(manager.ended(), Some(0));
    assert_eq!(service.pull_suppliers(), 0);
}
