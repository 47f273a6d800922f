//! Service and manager that are killed, with a store and persistent events.

use std::collections::BTreeSet;
use std::thread;

use serde_json::json;

use crate::service::Service;
use crate::support::{Manager, alarms, place, pushes};

/// Alarms of the burst; those with even numbers are cleared.
const BURST: usize = 2_000;

#[test]
fn a_service_that_is_killed_while_alarms_come_loses_none_and_each_is_listed_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("alarms.redb");
    let place = place("127.81.2.1");
    let mut service = Service::start(place, Some(&path));
    service.create_channel(true);
    let factory = service.factory.clone();
    let manager = Manager::start(&factory, &[]);
    let burst = {
        let factory = factory.clone();
        thread::spawn(move || pushes(&factory, &["burst", &BURST.to_string()]))
    };
    for part in 1..=3 {
        let seen = |json: &serde_json::Value| json["notices"].as_u64().unwrap();
        manager.until("some", |json| seen(json) >= part * 600);
        drop(service);
        manager.until("away", |json| json["service"]["connected"] == false);
        service = Service::start(place, Some(&path));
        manager.until("back", |json| json["service"]["connected"] == true);
    }
    burst.join().unwrap();
    // The last event of all.
    pushes(&factory, &["raise", "last", "LOS", "minor"]);
    let json = manager.until("last", |json| {
        let all = json["alarms"].as_array().unwrap();
        all.iter()
            .any(|one| one["object"].as_str().unwrap().ends_with("=last"))
    });
    let all = alarms(&json);
    let ports: BTreeSet<usize> = all
        .iter()
        .filter_map(|[object, ..]| object.rsplit_once("=port-")?.1.parse().ok())
        .collect();
    assert_eq!(ports, (1..BURST).step_by(2).collect());
    assert_eq!(all.len(), BURST / 2 + 1);
    let changed = |alarm: &&serde_json::Value| alarm["changes"] != 0;
    assert_eq!(
        json["alarms"].as_array().unwrap().iter().find(changed),
        None
    );
}

#[test]
fn what_comes_while_the_manager_is_away_waits_for_it_and_what_it_knew_it_knows_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("alarms.redb");
    let state = folder.path().join("state.json").display().to_string();
    let place = place("127.81.2.2");
    let mut service = Service::start(place, Some(&path));
    service.create_channel(true);
    let factory = service.factory.clone();
    let keeps = ["--state", &*state];
    let manager = Manager::start(&factory, &keeps);
    pushes(&factory, &["raise", "port-1", "LOS", "critical"]);
    pushes(&factory, &["raise", "port-2", "LOS", "critical"]);
    manager.until("two", |json| json["counts"]["critical"] == 2);
    // Its next pull has taken them, as the answer to it shows a third one.
    pushes(&factory, &["raise", "port-3", "LOS", "minor"]);
    manager.until("third", |json| json["counts"]["minor"] == 1);
    drop(manager);
    pushes(&factory, &["clear", "port-2", "LOS"]);
    pushes(&factory, &["raise", "port-4", "LOS", "major"]);
    // Both fail at once: it resumes its connection at a service that was started again.
    drop(service);
    service = Service::start(place, Some(&path));
    let manager = Manager::start(&factory, &keeps);
    let json = manager.until("fourth", |json| json["counts"]["major"] == 1);
    let names: Vec<_> = alarms(&json)
        .into_iter()
        .map(|[object, ..]| object)
        .collect();
    let expected = ["port-1", "port-3", "port-4"];
    let expected = expected.map(|port| format!("EMS=acme-ems/ManagedElement=north/PTP={port}"));
    assert_eq!(names, expected);
    assert_eq!(service.pull_suppliers(), 1);
    manager.signal("-TERM");
    assert_eq!(manager.ended(), Some(0));
    // The connection stays, and another filter needs another one.
    let filter = [
        "--state",
        &*state,
        "--filter",
        "$perceivedSeverity == 'PS_MINOR'",
    ];
    let manager = Manager::start(&factory, &filter);
    assert_eq!(service.pull_suppliers(), 1);
    pushes(&factory, &["raise", "port-5", "LOS", "critical"]);
    pushes(&factory, &["raise", "port-6", "LOS", "minor"]);
    let json = manager.until("sixth", |json| json["counts"]["minor"] == 2);
    assert_eq!(json["counts"]["critical"], json!(1));
}

#[test]
fn a_channel_that_a_service_without_a_store_has_lost_is_waited_for() {
    let place = place("127.81.2.3");
    let service = Service::start(place, None);
    service.create_channel(false);
    let factory = service.factory.clone();
    let manager = Manager::start(&factory, &[]);
    pushes(&factory, &["raise", "port-1", "LOS", "critical"]);
    manager.until("one", |json| json["counts"]["critical"] == 1);
    drop(service);
    let service = Service::start(place, None);
    manager.until("no channel", |json| {
        let problem = json["service"]["problem"].as_str().unwrap_or_default();
        problem.contains("no channel 0")
    });
    service.create_channel(false);
    manager.until("back", |json| json["service"]["connected"] == true);
    pushes(&factory, &["raise", "port-2", "LOS", "critical"]);
    manager.until("two", |json| json["counts"]["critical"] == 2);
}
