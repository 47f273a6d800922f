//! Peers that break rules: forged keys, floods of names, servers that are none.

use std::sync::mpsc::channel;
use std::time::Duration;

use punctual::{Interface, Orb, SystemExceptionKind, minor};
use punctual_host::Service;
use punctual_imr::implementation_repository::{
    AdministrationAddOrUpdateServerError, AdministrationServerIsRunningError, StartupOptions,
};

use crate::idl::Works;
use crate::server::GO;
use crate::support::{Served, client, key, until};

#[test]
fn forged_keys_start_nothing_and_harm_nothing() {
    let served = Served::new();
    served.add("plant", |_| {});
    let repository = served.locator.as_object();
    let good = key("", "plant", "works");
    let mut keys: Vec<Vec<u8>> = (0..good.len())
        .map(|length| good[..length].to_vec())
        .collect();
    // The whole path is there from some length on: such a key is the server's, whatever its object.
    keys.retain(|key| key.len() < good.len() - "works".len());
    keys.extend([
        b"\x14\x01\x0f\0NUP\xff\xff\xff\xffplant".to_vec(),
        b"\x14\x01\x0f\0NSP".to_vec(),
        key("north", "plant", "works"),
        key("", "plan", "works"),
        vec![0xff; 60_000],
        b"PUN2aaaaaaaaaaaaaaaaaaaaaaaa".to_vec(),
    ]);
    for key in keys.iter().filter(|key| !key.is_empty()) {
        let object = repository
            .with_object_key(key, Works::REPOSITORY_ID)
            .unwrap();
        let refused = Works::from_object(object).count().unwrap_err();
        let kind = refused.kind();
        let is_refused = kind == SystemExceptionKind::ObjectNotExist
            || kind == SystemExceptionKind::Transient && refused.minor() == minor::UNKNOWN_SERVER;
        assert!(is_refused, "{key:?}: {refused}");
    }
    assert_eq!((served.started(), served.service.servers()), (vec![], 1));
    assert_eq!(served.works("plant").count().unwrap(), 1);
}

#[test]
fn a_key_of_tao_leads_to_the_server_of_its_poa() {
    let served = Served::new();
    // A server of TAO that runs: it says where it is, and has an object of another kind of key.
    served.add("plant", |_| {});
    served.locator.activate_server("plant").unwrap();
    let key = b"\x14\x01\x0f\0NUP\0\0\0\x06plant\0works";
    let object = served
        .locator
        .as_object()
        .with_object_key(key, Works::REPOSITORY_ID)
        .unwrap();
    // It is forwarded to the process, which has no such object, as it is none of TAO.
    let refused = Works::from_object(object).count().unwrap_err();
    assert_eq!(refused.kind(), SystemExceptionKind::ObjectNotExist);
    // A client that finds nothing there asks here once more.
    assert!(served.service.forwards() >= 1);
}

#[test]
fn the_number_of_servers_is_bounded() {
    let served = Served::with(|limits| limits.servers = 3);
    for name in ["a", "b", "c"] {
        served
            .locator
            .server_is_running(name, "corbaloc::127.0.0.1:1/", None)
            .unwrap();
    }
    match served
        .locator
        .server_is_running("d", "corbaloc::127.0.0.1:1/", None)
    {
        Err(AdministrationServerIsRunningError::System(exception)) => {
            assert_eq!(exception.kind(), SystemExceptionKind::ImpLimit);
        }
        other => panic!("{other:?}"),
    }
    match served
        .locator
        .add_or_update_server("d", &StartupOptions::default())
    {
        Err(AdministrationAddOrUpdateServerError::System(exception)) => {
            assert_eq!(exception.kind(), SystemExceptionKind::ImpLimit);
        }
        other => panic!("{other:?}"),
    }
    served
        .locator
        .server_is_running("a", "corbaloc::127.0.0.1:2/", None)
        .unwrap();
}

#[test]
fn the_number_of_clients_that_wait_for_a_server_is_bounded() {
    let served = Served::with(|limits| limits.waiting = 2);
    served.add("plant", |start| start.fault = "hangs");
    let works = served.works("plant");
    let (say, heard) = channel();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            let say = say.clone();
            let call = || works.count().unwrap_err().minor();
            scope.spawn(move || say.send(call()).unwrap());
        }
        assert_eq!(heard.recv().unwrap(), minor::LIMIT);
        // So that it is ended with the test.
        until(|| served.started().len() == 1);
        served.service.end_waiting();
        let others = [heard.recv().unwrap(), heard.recv().unwrap()];
        assert_eq!(others, [minor::DISCARDED; 2]);
    });
}

#[test]
fn a_registration_says_where_the_server_is() {
    let served = Served::new();
    for (name, partial) in [("plant", ""), ("", "corbaloc::127.0.0.1:1/"), ("a\0b", "x")] {
        let refused = served.locator.server_is_running(name, partial, None);
        assert!(
            matches!(refused, Err(AdministrationServerIsRunningError::System(_))),
            "{name:?}"
        );
    }
    // One whose place is no reference is refused when a client comes.
    served
        .locator
        .server_is_running("plant", "no place", None)
        .unwrap();
    assert!(served.works("plant").count().is_err());
}

#[test]
fn clients_that_go_away_while_they_wait_do_not_hold_up_the_others() {
    let served = Served::new();
    served.add("plant", |start| start.fault = "waits");
    let impatient = |client: &Orb| {
        let repository = client.string_to_object(&served.reference()).unwrap();
        let works = crate::support::works(&repository, "", "plant");
        let works = works.as_object().with_timeout(Duration::from_millis(50));
        Works::from_object(works).count().unwrap_err();
    };
    impatient(&served.client);
    let leaving = client();
    impatient(&leaving);
    std::fs::write(served.folder.path().join(GO), "").unwrap();
    assert_eq!(served.works("plant").count().unwrap(), 1);
    leaving.shutdown(true).unwrap();
    assert_eq!(served.started().len(), 1);
}
