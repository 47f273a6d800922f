//! Requests of each kind pass through the bridge, with all pairs of protocols and in any number.

use crate::bridge::bridged::{Bridged, LIMIT, Setup, exercise, moved, orb};
use crate::support::{Echo, EchoImpl, watchdog};
use punctual::bridge::BridgeOptions;
use punctual::config::GiopVersion;
use punctual::stub::Arc;
use punctual::{Interface, RootPoa, SystemExceptionKind};
use std::time::Instant;

#[test]
fn requests_arrive_by_one_protocol_and_leave_by_another() {
    let _watchdog = watchdog(LIMIT);
    for (near, far) in [
        ("iiop", "uiop"),
        ("uiop", "iiop"),
        ("iiop", "shmiop"),
        ("shmiop", "iiop"),
        ("shmiop", "shmiop"),
        ("iiop", "giop_lite+uiop"),
        ("giop_lite+uiop", "iiop"),
        ("giop_lite+iiop", "giop_lite+shmiop"),
    ] {
        let bridged = Bridged::between(near, far);
        exercise(&bridged.echo, &format!("{near} to {far}"));
        let counts = bridged.counts();
        assert_eq!((counts.two_way, counts.refused, counts.failed), (8, 0, 0));
    }
}

#[test]
fn one_ways_are_passed_on_once_each_and_without_an_answer() {
    let _watchdog = watchdog(LIMIT);
    let bridged = Bridged::between("iiop", "uiop");
    for _ in 0..100 {
        bridged.echo.ping().unwrap();
    }
    // On a busy machine another thread may serve this call while the last ping is being served.
    let limit = Instant::now() + LIMIT;
    while bridged.echo.pings().unwrap() < 100 && Instant::now() < limit {
        std::thread::yield_now();
    }
    assert_eq!(bridged.echo.pings().unwrap(), 100);
    assert_eq!(bridged.counts().one_way, 100);
}

#[test]
fn an_object_that_does_not_exist_and_one_that_exists_are_told_apart_by_locating_them() {
    let bridged = Bridged::between("uiop", "iiop");
    assert!(bridged.echo.as_object().locate().unwrap());
    let gone: Echo = bridged.poa.activate(Arc::new(EchoImpl::default())).unwrap();
    bridged.poa.deactivate(&gone).unwrap();
    let gone = bridged.through(&gone);
    assert!(!gone.locate().unwrap());
    assert!(gone.non_existent().unwrap());
    assert_eq!(bridged.counts().located, 2);
}

#[test]
fn other_objects_of_the_targets_server_are_reached_too() {
    let bridged = Bridged::between("iiop", "uiop");
    let other: Echo = bridged.poa.activate(Arc::new(EchoImpl::default())).unwrap();
    let other = Echo::from_object(bridged.through(&other));
    other.ping().unwrap();
    assert_eq!(other.pings().unwrap(), 1);
    assert_eq!(bridged.echo.pings().unwrap(), 0);
}

#[test]
fn of_the_targets_server_no_other_objects_are_reached_than_are_listed() {
    let _watchdog = watchdog(LIMIT);
    let listed = |objects| {
        Bridged::new(Setup {
            options: BridgeOptions {
                objects: Some(objects),
                ..BridgeOptions::default()
            },
            ..Setup::default()
        })
    };
    let bridged = listed(Vec::new());
    assert_eq!(bridged.echo.long(1).unwrap(), 1);
    assert!(bridged.echo.as_object().locate().unwrap());
    let other: Echo = bridged.poa.activate(Arc::new(EchoImpl::default())).unwrap();
    let reached = Echo::from_object(bridged.through(&other));
    assert!(!reached.as_object().locate().unwrap());
    let error = reached.long(1).unwrap_err();
    assert_eq!(error.kind(), SystemExceptionKind::ObjectNotExist, "{error}");
    assert_eq!(bridged.counts().refused, 1);

    let bridged = listed(vec![b"other".to_vec()]);
    let other = bridged.changed(|profile| profile.object_key = b"other".to_vec());
    // The server has no object with that key.
    let error = other.long(1).unwrap_err();
    assert_eq!(error.kind(), SystemExceptionKind::ObjectNotExist, "{error}");
    assert_eq!(bridged.counts().refused, 0);
}

#[test]
fn forwards_behind_the_bridge_are_followed_by_the_bridge() {
    let bridged = Bridged::between("uiop", "iiop");
    let elsewhere = orb(Some("iiop"), GiopVersion::V1_2);
    let poa = elsewhere.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let there: Echo = poa.activate(Arc::new(EchoImpl::default())).unwrap();
    let there = Echo::from_object(moved(there.as_object(), &bridged.server));
    let forwarder: Echo = bridged.poa.activate(Arc::new(EchoImpl::default())).unwrap();
    bridged.poa.forward(&forwarder, &there).unwrap();

    for version in [GiopVersion::V1_0, GiopVersion::V1_2] {
        let client = orb(None, version);
        let forwarder = Echo::from_object(moved(&bridged.through(&forwarder), &client));
        assert_eq!(forwarder.long(3).unwrap(), 3, "GIOP {version}");
        assert_eq!(forwarder.as_object().ior().profiles.len(), 1);
    }
    assert_eq!(elsewhere.client_connections(), 2, "one for each version");
    elsewhere.shutdown(false).unwrap();
}

#[test]
fn a_call_that_takes_long_holds_up_no_other_on_its_connection() {
    let _watchdog = watchdog(LIMIT);
    let bridged = Bridged::between("iiop", "uiop");
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| bridged.echo.wait());
        bridged.servant.gate.wait_for_waiters(1);
        assert_eq!(bridged.echo.long(1).unwrap(), 1);
        bridged.servant.gate.open();
        slow.join().unwrap().unwrap();
    });
}

#[test]
fn many_clients_at_once_get_their_own_answers() {
    let _watchdog = watchdog(LIMIT);
    let bridged = Bridged::between("iiop", "shmiop");
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let of_its_own = orb(None, GiopVersion::V1_2);
            let own = Echo::from_object(moved(bridged.echo.as_object(), &of_its_own));
            for echo in [own, bridged.echo.clone()] {
                let of_its_own = of_its_own.clone();
                scope.spawn(move || {
                    for call in 0..200 {
                        let value = thread * 1000 + call;
                        assert_eq!(echo.long(value).unwrap(), value);
                        let text = value.to_string().repeat(40);
                        assert_eq!(echo.text(&text).unwrap(), text);
                    }
                    drop(of_its_own);
                });
            }
        }
    });
    assert_eq!(bridged.counts().two_way, 3200);
}
