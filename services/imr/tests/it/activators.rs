//! Activators that are processes of their own, here ORBs of their own.

use punctual::{Interface, ListenEndpoint, ObjectRef, Orb, RootPoa, SystemExceptionKind, minor};
use punctual_host::Service;
use punctual_imr::implementation_repository::{Activator, ActivatorExt, ActivatorStartServerError};
use punctual_imr::{ActivatorService, LocatorService};

use std::sync::mpsc::channel;

use crate::support::{Served, client, is_activator, kill, until};

/// An activator, until this is dropped.
pub(crate) struct Activating {
    service: ActivatorService,
    orb: Orb,
    pub(crate) object: ObjectRef,
}

impl Activating {
    pub(crate) fn new(name: &str, repository: &str) -> Self {
        Self::at(name, repository, ListenEndpoint::new("uiop", ""))
    }

    fn at(name: &str, repository: &str, endpoint: ListenEndpoint) -> Self {
        let service = ActivatorService::new(name, Some(repository.to_owned()), false).unwrap();
        Self::of(service, endpoint)
    }

    fn of(service: ActivatorService, endpoint: ListenEndpoint) -> Self {
        let orb = Orb::builder().listen(endpoint).build().unwrap();
        let poa = orb.root_poa().unwrap();
        let object = service.serve(&poa).unwrap();
        poa.manager().activate().unwrap();
        Self {
            service,
            orb,
            object,
        }
    }
}

impl Drop for Activating {
    fn drop(&mut self) {
        self.service.end_waiting();
        let _ = self.orb.shutdown(true);
        self.service.stop();
    }
}

fn without_activator() -> Served {
    Served::serve(tempfile::tempdir().unwrap(), LocatorService::in_memory())
}

#[test]
fn a_server_is_started_by_its_activator_and_its_death_is_told() {
    let served = without_activator();
    served.add("plant", |start| start.activator = "desk".to_owned());
    let works = served.works("plant");
    let refused = works.count().unwrap_err();
    assert_eq!(
        (refused.kind(), refused.minor()),
        (SystemExceptionKind::Transient, minor::START_FAILED)
    );
    let _activating = Activating::new("desk", &served.reference());
    until(|| works.count().is_ok());
    let process = works.process().unwrap();
    kill(process);
    // By the activator alone: no client asks.
    served.until_running("plant", false);
    until(|| works.process().is_ok_and(|now| now != process));
}

#[test]
fn an_activator_that_is_gone_is_the_reason_that_a_server_is_not_started() {
    let served = without_activator();
    served.add("plant", |start| start.activator = "desk".to_owned());
    let works = served.works("plant");
    let activating = Activating::new("desk", &served.reference());
    until(|| works.count().is_ok());
    let process = works.process().unwrap();
    // It is cut off: it does not unregister.
    activating.orb.shutdown(true).unwrap();
    // The server lives on, and its clients are led to it.
    let fresh = client();
    let repository = fresh.string_to_object(&served.reference()).unwrap();
    let again = crate::support::works(&repository, "", "plant");
    assert_eq!(again.process().unwrap(), process);
    kill(process);
    until(|| {
        let refused = again.process().unwrap_err();
        refused.minor() == minor::START_FAILED && refused.to_string().contains("cannot be called")
            || refused.minor() == minor::STARTS_HELD_BACK
    });
    drop(activating);
    // Another one takes its name.
    let _activating = Activating::new("desk", &served.reference());
    until(|| again.process().is_ok_and(|now| now != process));
}

#[test]
fn a_process_that_has_ended_while_its_activator_was_away_fails_its_start() {
    let served = without_activator();
    served.add("plant", |start| {
        start.activator = "desk".to_owned();
        start.fault = "hangs";
    });
    let works = served.works("plant");
    let activating = Activating::new("desk", &served.reference());
    until(|| is_activator(&served.locator, "desk"));
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| works.count().unwrap_err().minor());
        until(|| served.locator.kill_server("plant", 0).is_ok());
        until(|| !served.started().is_empty());
        drop(activating);
        kill(served.started()[0]);
        let _activating = Activating::new("desk", &served.reference());
        assert_eq!(waiting.join().unwrap(), minor::START_FAILED);
    });
}

#[test]
fn who_comes_over_tcp_has_an_activator_start_nothing() {
    let served = without_activator();
    let activating = Activating::at(
        "desk",
        &served.reference(),
        ListenEndpoint::iiop("127.0.0.1", 0),
    );
    let client = client();
    let text = client.object_to_string(&activating.object).unwrap();
    let activator = Activator::from_object(client.string_to_object(&text).unwrap());
    match activator.start_server("x", "/bin/true", "", &[]) {
        Err(ActivatorStartServerError::System(exception)) => {
            assert_eq!(exception.kind(), SystemExceptionKind::NoPermission);
        }
        other => panic!("{other:?}"),
    }
    let activator = ActivatorExt::from_object(activator.as_object().clone());
    let refused = activator.kill_server("x", 1, 9).unwrap_err();
    assert_eq!(refused.kind(), SystemExceptionKind::NoPermission);
}

#[test]
fn an_activator_of_an_old_version_tells_deaths_without_the_processes_numbers() {
    let served = Served::new();
    served.add("plant", |start| start.fault = "hangs");
    let works = served.works("plant");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| works.count().unwrap_err());
        until(|| !served.started().is_empty());
        served.locator.notify_child_death("plant").unwrap();
        assert_eq!(waiting.join().unwrap().minor(), minor::START_FAILED);
    });
    // Of a process that has registered it may be an earlier one's: it is asked.
    served.add("plant", |_| {});
    assert_eq!(works.count().unwrap(), 1);
    served.locator.notify_child_death("plant").unwrap();
    let fresh = client();
    let repository = fresh.string_to_object(&served.reference()).unwrap();
    assert_eq!(
        crate::support::works(&repository, "", "plant")
            .count()
            .unwrap(),
        2
    );
}

#[test]
fn activators_end_with_the_repository_if_they_are_asked_to() {
    let served = without_activator();
    let (say, heard) = channel();
    let mut activating = Vec::new();
    for name in ["one", "two"] {
        let service = ActivatorService::new(name, Some(served.reference()), false).unwrap();
        let say = say.clone();
        service.set_end(move || say.send(name).unwrap());
        activating.push(Activating::of(service, ListenEndpoint::new("uiop", "")));
    }
    until(|| {
        served.locator.shutdown(true, false).unwrap();
        heard.try_iter().count() >= 2
    });
}

#[test]
fn an_activator_that_registers_twice_keeps_its_token_and_another_one_gets_a_new_one() {
    let served = without_activator();
    let orb = client();
    let object = |text: &str| {
        let object = orb.string_to_object(text).unwrap();
        Activator::from_object(object)
    };
    let (one, other) = (
        object("corbaloc::127.0.0.1:1/a"),
        object("corbaloc::127.0.0.1:2/b"),
    );
    let locator = &served.locator;
    let first = locator.register_activator("desk", Some(&one)).unwrap();
    assert_eq!(
        locator.register_activator("desk", Some(&one)).unwrap(),
        first
    );
    let second = locator.register_activator("desk", Some(&other)).unwrap();
    assert_ne!(first, second);
    // The first one comes late with its farewell.
    locator.unregister_activator("desk", first).unwrap();
    assert_eq!(
        locator.register_activator("desk", Some(&other)).unwrap(),
        second
    );
    locator.unregister_activator("desk", second).unwrap();
    let refused = locator.register_activator("desk", None).unwrap_err();
    assert_eq!(refused.kind(), SystemExceptionKind::BadParam);
}
