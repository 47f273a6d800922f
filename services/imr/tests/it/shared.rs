//! Repositories that share their servers by etcd: one start, everybody answered, whichever of them dies.

use std::sync::Barrier;
use std::time::Duration;

use punctual::{Interface, SystemException, SystemExceptionKind, minor};
use punctual_imr::implementation_repository::{
    ActivationMode, AdministrationAddOrUpdateServerError, ServerInformation, StartupOptions,
};
use rustix::process::Signal;

use crate::etcd::{Two, has};
use crate::idl::Works;
use crate::support::{is_activator, kill, until, works};

/// Returns what a repository says of its servers, but not when it has asked them last.
fn listed(two: &Two, which: usize) -> Vec<ServerInformation> {
    let (mut all, _) = two.locator(which).list(0, false).unwrap();
    for server in &mut all {
        server.active_status = Default::default();
    }
    all
}

fn object(two: &Two, which: &[usize], name: &str) -> Works {
    works(&two.object(which), "", name)
}

fn until_added(two: &Two, which: usize, name: &str) {
    until(|| !two.locator(which).find(name).unwrap().server.is_empty());
}

#[test]
fn what_one_repository_learns_the_other_one_knows() {
    let Some(two) = Two::start() else { return };
    let (_first, _second) = (two.here(0), two.here(1));
    let _activating = two.activating();
    two.add(0, "plant", |_| {});
    until_added(&two, 1, "plant");
    two.locator(1)
        .link_servers("plant", &["pump".to_owned()])
        .unwrap();
    until_added(&two, 0, "pump");
    // The server registers with whichever it reaches.
    until(|| object(&two, &[1], "plant").count().is_ok());
    let process = object(&two, &[0], "plant").process().unwrap();
    assert_eq!(two.started(), [process]);
    until(|| listed(&two, 0) == listed(&two, 1));
    assert_eq!(listed(&two, 0).len(), 2);
    // Its activator tells one of them of its death.
    kill(process);
    for which in [0, 1] {
        until(|| {
            two.locator(which)
                .find("plant")
                .unwrap()
                .partial_ior
                .is_empty()
        });
    }
    two.locator(1).remove_server("plant").unwrap();
    until(|| two.locator(0).find("plant").unwrap().server.is_empty());
    let refused = object(&two, &[0], "plant").count().unwrap_err();
    assert_eq!(refused.minor(), minor::UNKNOWN_SERVER);
    // All that is there is there after a restart, too.
    let before = listed(&two, 0);
    drop(_first);
    let _first = two.here(0);
    assert_eq!(listed(&two, 0), before);
}

#[test]
fn a_storm_of_clients_on_two_repositories_causes_one_start_and_all_are_answered() {
    let Some(two) = Two::start() else { return };
    let (first, second) = (two.here(0), two.here(1));
    let _activating = two.activating();
    two.add(0, "plant", |start| start.delay = Duration::from_millis(300));
    until_added(&two, 1, "plant");
    until(|| activator_is_known(&two));
    let begin = Barrier::new(40);
    std::thread::scope(|scope| {
        for at in 0..40 {
            let (two, begin) = (&two, &begin);
            scope.spawn(move || {
                let client = crate::support::client();
                let repository = client.string_to_object(&two.reference(&[at % 2])).unwrap();
                let works = works(&repository, "", "plant");
                begin.wait();
                works.count().unwrap();
                client.shutdown(true).unwrap();
            });
        }
    });
    assert_eq!(object(&two, &[0], "plant").count().unwrap(), 41);
    assert_eq!(two.started().len(), 1);
    let forwards = (first.service.forwards(), second.service.forwards());
    assert!(forwards.0 >= 20 && forwards.1 >= 20, "{forwards:?}");
}

/// Returns whether both know the activator.
fn activator_is_known(two: &Two) -> bool {
    [0, 1]
        .iter()
        .all(|which| is_activator(&two.locator(*which), "desk"))
}

/// Calls until a repository lives to lead the way, and returns how often one has died meanwhile.
fn called(works: &Works) -> (i32, usize) {
    let mut broken = 0;
    loop {
        match works.process() {
            Ok(process) => return (process, broken),
            Err(exception) => {
                assert!(is_of_a_death(&exception), "{exception}");
                broken += 1;
            }
        }
    }
}

/// Returns whether an exception comes of a repository that has died while a client waited there. It may repeat the call: the
/// request has not come to a server.
fn is_of_a_death(exception: &SystemException) -> bool {
    exception.kind() == SystemExceptionKind::CommFailure
}

#[test]
fn a_repository_that_is_killed_in_the_middle_of_a_start_is_replaced_by_the_other_one() {
    let Some(two) = Two::start() else { return };
    let _second = two.here(1);
    let _activating = two.activating();
    // Killed before the start is claimed, while it is, when the process is there, and when it is about to register.
    for (round, after) in [0, 5, 20, 60, 150, 300].into_iter().enumerate() {
        let mut first = two.apart(0);
        let name = format!("plant{round}");
        two.add(0, &name, |start| start.delay = Duration::from_millis(200));
        until_added(&two, 1, &name);
        let before = two.started().len();
        let processes: Vec<i32> = std::thread::scope(|scope| {
            let begin = || {
                let client = crate::support::client();
                let repository = client.string_to_object(&two.reference(&[0, 1])).unwrap();
                let found = called(&works(&repository, "", &name)).0;
                client.shutdown(true).unwrap();
                found
            };
            let waiting: Vec<_> = (0..4).map(|_| scope.spawn(begin)).collect();
            std::thread::sleep(Duration::from_millis(after));
            let (two, name) = (&two, &name);
            let other = scope.spawn(move || object(two, &[1], name).process().unwrap());
            first.kill();
            let all = waiting.into_iter().chain([other]);
            all.map(|one| one.join().unwrap()).collect()
        });
        let started = two.started().split_off(before);
        assert_eq!(started.len(), 1, "round {round}: {started:?}");
        assert!(
            processes.iter().all(|one| *one == started[0]),
            "round {round}"
        );
    }
    // One that comes back knows all of them.
    let _first = two.here(0);
    assert_eq!(listed(&two, 0), listed(&two, 1));
    assert_eq!(listed(&two, 0).len(), 6);
}

#[test]
fn a_client_that_asks_about_the_object_first_does_not_notice_the_end_of_the_repository_where_it_waits()
 {
    let Some(two) = Two::start() else { return };
    let mut first = two.apart(0);
    let _second = two.here(1);
    let _activating = two.activating();
    two.add(0, "plant", |start| start.delay = Duration::from_millis(500));
    until_added(&two, 1, "plant");
    let works = object(&two, &[0, 1], "plant");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            assert!(!works.as_object().non_existent().unwrap());
            works.process().unwrap()
        });
        // It waits at the first one, which has the server started.
        until(|| two.started().len() == 1);
        first.kill();
        assert_eq!(waiting.join().unwrap(), two.started()[0]);
    });
    assert_eq!(two.started().len(), 1);
}

#[test]
fn a_client_that_locates_the_object_first_is_answered_when_the_server_runs_or_goes_on_at_the_other_repository()
 {
    let Some(two) = Two::start() else { return };
    let mut first = two.apart(0);
    let second = two.here(1);
    let _activating = two.activating();
    two.add(0, "plant", |start| start.delay = Duration::from_millis(500));
    until_added(&two, 1, "plant");
    let works = object(&two, &[0, 1], "plant");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            assert!(works.as_object().locate().unwrap());
            works.process().unwrap()
        });
        // It waits at the first one, which has the server started for a LocateRequest.
        until(|| two.started().len() == 1);
        first.kill();
        assert_eq!(waiting.join().unwrap(), two.started()[0]);
    });
    assert_eq!(two.started().len(), 1);
    assert_eq!(
        second.service.forwards(),
        1,
        "the request has gone to the server"
    );
}

#[test]
fn a_repository_that_hangs_in_the_middle_of_a_start_finds_that_it_was_replaced() {
    let Some(two) = Two::start() else { return };
    let first = two.apart(0);
    let _second = two.here(1);
    let _activating = two.activating();
    two.add(0, "plant", |start| start.delay = Duration::from_millis(500));
    until_added(&two, 1, "plant");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| object(&two, &[0], "plant").process().unwrap());
        until(|| two.started().len() == 1);
        first.signal(Signal::STOP);
        let process = object(&two, &[1], "plant").process().unwrap();
        first.signal(Signal::CONT);
        assert_eq!(waiting.join().unwrap(), process);
        assert_eq!(two.started(), [process]);
    });
    until(|| listed(&two, 0) == listed(&two, 1));
}

#[test]
fn a_start_that_fails_is_told_to_those_who_wait_at_either_repository() {
    let Some(two) = Two::start() else { return };
    let pauses = |limits: &mut punctual_imr::Limits| {
        // Longer than the test.
        limits.first_pause = Duration::from_secs(600);
        limits.longest_pause = Duration::from_secs(600);
    };
    let (_first, _second) = (two.here_with(0, pauses), two.here_with(1, pauses));
    let _activating = two.activating();
    until(|| activator_is_known(&two));
    two.add(0, "plant", |start| {
        start.fault = "dies";
        start.delay = Duration::from_millis(300);
    });
    until_added(&two, 1, "plant");
    let refused = |which: usize| object(&two, &[which], "plant").count().unwrap_err();
    let codes: Vec<u32> = std::thread::scope(|scope| {
        let refused = &refused;
        let waiting: Vec<_> = (0..6)
            .map(|at| scope.spawn(move || refused(at % 2)))
            .collect();
        let each = waiting.into_iter().map(|one| one.join().unwrap().minor());
        each.collect()
    });
    // One that came late finds the pause.
    let is_known = |code: &u32| [minor::START_FAILED, minor::STARTS_HELD_BACK].contains(code);
    assert!(codes.iter().all(is_known), "{codes:?}");
    assert_eq!(two.started().len(), 1);
    for which in [0, 1] {
        until(|| refused(which).minor() == minor::STARTS_HELD_BACK);
    }
    // An administrator of one has them forgiven at both.
    two.add(1, "plant", |_| {});
    for which in [0, 1] {
        until(|| object(&two, &[which], "plant").count().is_ok());
    }
    assert_eq!(two.started().len(), 2);
}

#[test]
fn a_process_that_ends_before_the_other_repository_knows_of_its_start_fails_it() {
    let Some(two) = Two::start() else { return };
    let (_first, _second) = (two.here(0), two.here(1));
    // It tells the first one.
    let _activating = two.activating();
    until(|| activator_is_known(&two));
    for round in 0..30 {
        let name = format!("plant{round}");
        let options = StartupOptions {
            command_line: "/bin/false".to_owned(),
            activator: "desk".to_owned(),
            ..StartupOptions::default()
        };
        let second = two.locator(1);
        second.add_or_update_server(&name, &options).unwrap();
        let refused = object(&two, &[1], &name).count().unwrap_err();
        assert_eq!(refused.minor(), minor::START_FAILED, "round {round}");
    }
}

#[test]
fn without_etcd_clients_are_led_to_servers_that_run_and_changes_are_refused() {
    let Some(two) = Two::start() else { return };
    let (_first, _second) = (two.here(0), two.here(1));
    let _activating = two.activating();
    for name in ["plant", "pump"] {
        two.add(0, name, |_| {});
        until_added(&two, 1, name);
        until(|| object(&two, &[0], name).count().is_ok());
    }
    let process = object(&two, &[1], "plant").process().unwrap();
    let pump = object(&two, &[1], "pump").process().unwrap();
    two.etcd.signal(Signal::STOP);
    for which in [0, 1] {
        assert_eq!(object(&two, &[which], "plant").process().unwrap(), process);
        let added = two
            .locator(which)
            .add_or_update_server("valve", &StartupOptions::default());
        match added.unwrap_err() {
            AdministrationAddOrUpdateServerError::System(exception) => {
                assert_eq!(exception.kind(), SystemExceptionKind::PersistStore);
            }
            other => panic!("{other}"),
        }
    }
    // What dies meanwhile is not started, as the other one may do so.
    kill(pump);
    let refused = object(&two, &[0], "pump").process().unwrap_err();
    assert_eq!(
        (refused.kind(), refused.minor()),
        (SystemExceptionKind::Transient, minor::START_FAILED)
    );
    two.etcd.signal(Signal::CONT);
    until(|| {
        object(&two, &[1], "pump")
            .process()
            .is_ok_and(|now| now != pump)
    });
    assert_eq!(two.started().len(), 3);
    // A change that etcd had got before it was stopped may have been made later; both know whether it was.
    until(|| listed(&two, 0) == listed(&two, 1));
    two.locator(1)
        .add_or_update_server("valve", &StartupOptions::default())
        .unwrap();
    until_added(&two, 0, "valve");
}

#[test]
fn an_activator_of_shared_repositories_may_be_started_anew() {
    let Some(two) = Two::start() else { return };
    let (_first, _second) = (two.here(0), two.here(1));
    let activating = two.activating();
    two.add(0, "plant", |_| {});
    until_added(&two, 1, "plant");
    until(|| object(&two, &[1], "plant").count().is_ok());
    drop(activating);
    let _activating = two.activating();
    let process = object(&two, &[0], "plant").process().unwrap();
    // It has taken the process over, and tells its death.
    until(|| two.locator(1).kill_server("plant", 0).is_ok());
    two.locator(1).kill_server("plant", 9).unwrap();
    until(|| two.locator(0).find("plant").unwrap().partial_ior.is_empty());
    until(|| {
        object(&two, &[0], "plant")
            .process()
            .is_ok_and(|now| now != process)
    });
    assert!(has(two.folder.path(), "plant.ior"));
}

#[test]
fn shared_repositories_start_no_server_for_each_client() {
    let Some(two) = Two::start() else { return };
    let _first = two.here(0);
    let options = StartupOptions {
        command_line: "plant".to_owned(),
        activation: ActivationMode::PerClient,
        ..StartupOptions::default()
    };
    match two.locator(0).add_or_update_server("plant", &options) {
        Err(AdministrationAddOrUpdateServerError::System(exception)) => {
            assert_eq!(exception.kind(), SystemExceptionKind::BadParam);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn references_of_a_server_have_the_endpoints_of_all_repositories() {
    let Some(two) = Two::start() else { return };
    let (first, _second) = (two.here(0), two.here(1));
    let _activating = two.activating();
    two.add(0, "plant", |_| {});
    until_added(&two, 1, "plant");
    until(|| object(&two, &[0, 1], "plant").count().is_ok());
    // As the server publishes it.
    let text = std::fs::read_to_string(two.folder.path().join("plant.ior")).unwrap();
    drop(first);
    let client = crate::support::client();
    let works = Works::from_object(client.string_to_object(&text).unwrap());
    works.process().unwrap();
    kill(works.process().unwrap());
    until(|| works.process().is_ok());
    assert_eq!(two.started().len(), 2);
    client.shutdown(true).unwrap();
}
