//! Operations of administrators.

use punctual::{Interface, SystemExceptionKind};
use punctual_host::access::Rules;
use punctual_imr::implementation_repository::{
    ActivationMode, AdministrationActivateServerError, AdministrationAddOrUpdateServerError,
    AdministrationExtKillServerError, AdministrationExtLinkServersError,
    AdministrationRemoveServerError, AdministrationShutdownServerError, Locator,
    ServerActiveStatus, StartupOptions,
};
use punctual_imr::{Access, LocatorService, check_server};
use std::sync::mpsc::channel;

use crate::support::{Served, Start, client, until};

#[test]
fn an_added_server_is_found_updated_and_removed() {
    let served = Served::new();
    let locator = &served.locator;
    let mut options = StartupOptions {
        command_line: "server 'a b'".to_owned(),
        working_directory: "/tmp".to_owned(),
        activation: ActivationMode::Manual,
        activator: "here".to_owned(),
        start_limit: 3,
        ..StartupOptions::default()
    };
    locator.add_or_update_server("plant", &options).unwrap();
    let found = locator.find("plant").unwrap();
    assert_eq!((found.server.as_str(), &found.startup), ("plant", &options));
    options.activation = ActivationMode::Normal;
    locator.add_or_update_server("plant", &options).unwrap();
    assert_eq!(locator.find("plant").unwrap().startup, options);
    locator.remove_server("plant").unwrap();
    assert_eq!(locator.find("plant").unwrap().server, "");
    assert!(matches!(
        locator.remove_server("plant"),
        Err(AdministrationRemoveServerError::NotFound(_))
    ));
    assert!(matches!(
        locator.activate_server("plant"),
        Err(AdministrationActivateServerError::NotFound(_))
    ));
    assert!(matches!(
        locator.shutdown_server("plant"),
        Err(AdministrationShutdownServerError::NotFound(_))
    ));
}

#[test]
fn a_list_comes_in_parts_and_says_who_lives() {
    let served = Served::new();
    let locator = &served.locator;
    for name in ["a", "b", "c", "d", "e"] {
        served.add(name, |_| {});
    }
    served.works("b").count().unwrap();
    let (first, rest) = locator.list(2, true).unwrap();
    let names = |list: &[punctual_imr::implementation_repository::ServerInformation]| {
        list.iter()
            .map(|one| one.server.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&first), ["a", "b"]);
    assert_eq!(first[0].active_status, ServerActiveStatus::ActiveNo);
    assert_eq!(first[1].active_status, ServerActiveStatus::ActiveYes);
    let rest = rest.unwrap();
    let (is_more, next) = rest.next_n(2).unwrap();
    assert_eq!(
        (is_more, names(&next)),
        (true, vec!["c".to_owned(), "d".to_owned()])
    );
    let (is_more, last) = rest.next_n(0).unwrap();
    assert_eq!((is_more, names(&last)), (false, vec!["e".to_owned()]));
    rest.destroy().unwrap();
    assert!(rest.as_object().non_existent().unwrap());
    let (all, rest) = locator.list(0, false).unwrap();
    assert_eq!((all.len(), rest.is_none()), (5, true));
}

#[test]
fn a_server_ends_when_it_is_asked_to_and_by_a_signal_and_starts_again() {
    let served = Served::new();
    served.add("plant", |_| {});
    let works = served.works("plant");
    let first = works.process().unwrap();
    served.locator.shutdown_server("plant").unwrap();
    // It may still answer for a moment.
    until(|| works.process().is_ok_and(|now| now != first));
    let second = works.process().unwrap();
    served.locator.kill_server("plant", 9).unwrap();
    until(|| works.process().is_ok_and(|now| now != second));
    assert_eq!(served.started().len(), 3);
    served.locator.force_remove_server("plant", 9).unwrap();
    assert_eq!(served.locator.find("plant").unwrap().server, "");
    assert!(matches!(
        served.locator.kill_server("plant", 9),
        Err(AdministrationExtKillServerError::NotFound(_))
    ));
}

#[test]
fn linked_servers_are_started_together_by_one_command() {
    let served = Served::new();
    served.add("first", |start| {
        start.names = "first,second,third".to_owned()
    });
    let link = |leader: &str, peers: &[&str]| {
        let peers: Vec<String> = peers.iter().map(|peer| (*peer).to_owned()).collect();
        served.locator.link_servers(leader, &peers)
    };
    link("first", &["second", "third"]).unwrap();
    // Clients of all of them at once cause one start.
    std::thread::scope(|scope| {
        for name in ["third", "first", "second", "third"] {
            let works = || served.works(name).process().unwrap();
            scope.spawn(works);
        }
    });
    assert_eq!(served.started().len(), 1);
    // The process is known, whichever name is used.
    served.locator.kill_server("third", 9).unwrap();
    served.until_running("second", false);
    assert_eq!(served.works("second").count().unwrap(), 1);
    assert_eq!(served.started().len(), 2);
    for (leader, peers) in [("first", ["first"]), ("second", ["first"])] {
        let refused = link(leader, &peers).unwrap_err();
        let AdministrationExtLinkServersError::CannotComplete(why) = refused else {
            panic!("{refused}");
        };
        assert!(why.reason.contains("`first`"), "{}", why.reason);
    }
    let unknown = link("nothing", &["second"]).unwrap_err();
    assert!(matches!(
        unknown,
        AdministrationExtLinkServersError::NotFound(_)
    ));
}

#[test]
fn mistakes_in_what_is_added_are_refused() {
    let served = Served::new();
    let good = Start::of("plant").options(&served.reference(), served.folder.path());
    let mut unquoted = good.clone();
    unquoted.command_line = "server 'x".to_owned();
    let mut variable = good.clone();
    variable.environment[0].name = "A=B".to_owned();
    let mut limit = good.clone();
    limit.start_limit = -1;
    for (name, options) in [
        ("plant", &limit),
        ("plant", &unquoted),
        ("plant", &variable),
        ("", &good),
        ("a\nb", &good),
    ] {
        match served.locator.add_or_update_server(name, options) {
            Err(AdministrationAddOrUpdateServerError::System(exception)) => {
                assert_eq!(exception.kind(), SystemExceptionKind::BadParam);
                // A program that adds servers says which mistake it is.
                assert!(check_server(name, options).is_err());
            }
            other => panic!("{name:?}: {other:?}"),
        }
    }
    assert_eq!(served.service.servers(), 0);
}

#[test]
fn an_auto_start_server_starts_with_its_activator() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("imr.redb");
    {
        // The first repository has no activator.
        let served = Served::serve(
            tempfile::tempdir().unwrap(),
            LocatorService::open(&store).unwrap(),
        );
        // Its reference is the one of the second, which is served at the same place.
        let mut start = Start::of("plant");
        start.mode = ActivationMode::AutoStart;
        let place = folder.path().join("imr.orb");
        let reference = format!("corbaloc:uiop:{}|/ImplRepoService", place.display());
        let options = start.options(&reference, folder.path());
        served
            .locator
            .add_or_update_server("plant", &options)
            .unwrap();
        assert!(matches!(
            served.locator.activate_server("plant"),
            Err(AdministrationActivateServerError::CannotActivate(_))
        ));
    }
    let service = LocatorService::open(&store).unwrap();
    service.set_activator("here", false).unwrap();
    let served = Served::serve(folder, service);
    until(|| served.started().len() == 1);
}

#[test]
fn the_end_of_the_repository_is_asked_for_by_its_administrator() {
    let service = LocatorService::in_memory();
    let (say, heard) = channel();
    service.set_end(move || say.send(()).unwrap());
    let served = Served::serve(tempfile::tempdir().unwrap(), service);
    served.locator.shutdown(false, false).unwrap();
    heard.recv().unwrap();
}

#[test]
fn values_of_environments_are_shown_to_administrators_alone() {
    let served = Served::also_over_tcp(LocatorService::in_memory());
    served.add("plant", |_| {});
    let shown = |locator: &Locator| {
        let found = locator.find("plant").unwrap();
        let (listed, _) = locator.list(0, false).unwrap();
        assert_eq!(found, listed[0]);
        found.startup.environment
    };
    let all = shown(&served.locator);
    assert!(all.iter().any(|variable| !variable.value.is_empty()));
    let others = shown(&tcp(&served));
    assert_eq!(others.len(), all.len());
    assert!(others.iter().all(|variable| variable.value.is_empty()));
}

#[test]
fn who_comes_over_tcp_administers_nothing_and_registers_as_a_server() {
    let served = Served::also_over_tcp(LocatorService::in_memory());
    let over_tcp = tcp(&served);
    let refused = |kind| assert_eq!(kind, SystemExceptionKind::NoPermission);
    let options = StartupOptions::default();
    match over_tcp.add_or_update_server("plant", &options) {
        Err(AdministrationAddOrUpdateServerError::System(exception)) => refused(exception.kind()),
        other => panic!("{other:?}"),
    }
    match over_tcp.activate_server("plant") {
        Err(AdministrationActivateServerError::System(exception)) => refused(exception.kind()),
        other => panic!("{other:?}"),
    }
    match over_tcp.kill_server("plant", 9) {
        Err(AdministrationExtKillServerError::System(exception)) => refused(exception.kind()),
        other => panic!("{other:?}"),
    }
    refused(
        over_tcp
            .register_activator("evil", None)
            .unwrap_err()
            .kind(),
    );
    refused(over_tcp.child_death_pid("plant", 1).unwrap_err().kind());
    refused(over_tcp.spawn_pid("plant", 1).unwrap_err().kind());
    refused(over_tcp.unregister_activator("here", 0).unwrap_err().kind());
    over_tcp
        .server_is_running("plant", "corbaloc::127.0.0.1:1/", None)
        .unwrap();
    assert_eq!(served.locator.find("plant").unwrap().server, "plant");
}

#[test]
fn who_is_granted_it_administers_over_tcp_and_who_is_not_registers_nothing() {
    let service = LocatorService::in_memory();
    let any = Rules::of(&["any".to_owned()]).unwrap();
    let nobody = Rules::of(&["cert:nobody".to_owned()]).unwrap();
    let mut access = Access::default();
    (access.administrators, access.servers) = (any, nobody);
    service.set_access(access);
    let served = Served::also_over_tcp(service);
    let over_tcp = tcp(&served);
    over_tcp
        .add_or_update_server("plant", &StartupOptions::default())
        .unwrap();
    assert!(
        over_tcp
            .server_is_running("plant", "corbaloc::127.0.0.1:1/", None)
            .is_err()
    );
}

/// Returns the repository as one calls it who comes over TCP.
fn tcp(served: &Served) -> Locator {
    let endpoints =
        punctual::protocol::endpoints_of(&served.client, served.locator.as_object().ior());
    let place = endpoints
        .iter()
        .find(|one| &*one.protocol == "iiop")
        .unwrap();
    let (host, port) = place.address.host_and_port().unwrap();
    let text = format!("corbaloc:iiop:1.2@{host}:{port}/");
    let key = served.locator.as_object().object_key().unwrap();
    let object = client().string_to_object(&format!("{text}x")).unwrap();
    Locator::from_object(object.with_object_key(&key, "").unwrap())
}
