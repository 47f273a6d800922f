//! Servers that start when clients call them.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use punctual::{Interface, SystemExceptionKind, minor};
use punctual_host::Service;
use punctual_host::metrics::Exposition;
use punctual_imr::implementation_repository::{
    ActivationMode, AdministrationActivateServerError, ServerActiveStatus,
};

use crate::idl::Works;
use crate::server::FAULT;
use crate::support::{Served, Start, client, kill, until, works};

#[test]
fn a_server_that_does_not_run_is_started_for_its_client_whose_later_calls_go_to_it_directly() {
    let served = Served::new();
    served.add("plant", |_| {});
    assert_eq!(
        served.locator.find("plant").unwrap().active_status,
        ServerActiveStatus::ActiveNo
    );
    let works = served.works("plant");
    for expected in 1..=100 {
        assert_eq!(works.count().unwrap(), expected);
    }
    assert_eq!(served.service.forwards(), 1);
    assert_eq!(served.started(), [works.process().unwrap()]);
    let found = served.locator.find("plant").unwrap();
    assert_eq!(found.active_status, ServerActiveStatus::ActiveYes);
    assert!(
        found
            .partial_ior
            .starts_with("corbaloc:iiop:1.2@127.0.0.1:"),
        "{found:?}"
    );
}

#[test]
fn the_reference_that_a_server_makes_leads_to_the_repository_and_is_the_same_after_a_restart() {
    let served = Served::new();
    served.add("plant", |_| {});
    served.locator.activate_server("plant").unwrap();
    let file = served.folder.path().join("plant.ior");
    let text = std::fs::read_to_string(&file).unwrap();
    let object = served.client.string_to_object(&text).unwrap();
    assert_eq!(object, *served.works("plant").as_object());
    let first = Works::from_object(object);
    let process = first.process().unwrap();
    served.locator.shutdown_server("plant").unwrap();
    served.until_running("plant", false);
    until(|| first.process().is_ok_and(|now| now != process));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    assert_eq!(served.started().len(), 2);
}

#[test]
fn a_hundred_clients_of_a_server_that_does_not_run_cause_one_start_and_are_all_answered() {
    let served = Served::new();
    served.add("plant", |start| start.delay = Duration::from_millis(300));
    let text = served.reference();
    let begin = Barrier::new(100);
    std::thread::scope(|scope| {
        for _ in 0..100 {
            scope.spawn(|| {
                // An ORB of its own, and so a connection of its own.
                let client = client();
                let repository = client.string_to_object(&text).unwrap();
                let works = works(&repository, "", "plant");
                begin.wait();
                works.count().unwrap();
                client.shutdown(true).unwrap();
            });
        }
    });
    assert_eq!(served.works("plant").count().unwrap(), 101);
    assert_eq!((served.started().len(), served.service.starts()), (1, 1));
}

#[test]
fn clients_that_wait_occupy_no_thread_of_the_repository() {
    let served = Served::reactive();
    served.add("plant", |start| start.fault = "hangs");
    let works = served.works("plant");
    let waiting = || {
        let mut out = Exposition::of("imr");
        served.service.metrics(&mut out);
        out.into_text().contains("\npunctual_imr_waiting 50\n")
    };
    std::thread::scope(|scope| {
        for _ in 0..50 {
            scope.spawn(|| assert_eq!(works.count().unwrap_err().minor(), minor::DISCARDED));
        }
        until(waiting);
        // The one thread that the repository has answers others.
        assert_eq!(served.locator.find("plant").unwrap().server, "plant");
        served.service.end_waiting();
    });
    assert_eq!(served.service.starts(), 1);
    // So that it is ended with the test.
    until(|| served.started().len() == 1);
}

#[test]
fn a_server_with_an_id_is_found_by_its_keys_and_by_its_name_alone() {
    let served = Served::new();
    for id in ["north", "south"] {
        let mut start = Start::of("plant");
        start.id = Some(id.to_owned());
        let options = start.options(&served.reference(), served.folder.path());
        served
            .locator
            .add_or_update_server(&format!("{id}:plant"), &options)
            .unwrap();
    }
    let repository = served.locator.as_object();
    let north = works(repository, "north", "plant");
    let south = works(repository, "south", "plant");
    assert_ne!(north.process().unwrap(), south.process().unwrap());
    // Which of the two a name without an id means cannot be said.
    let refused = works(repository, "", "plant").count().unwrap_err();
    assert_eq!(
        (refused.kind(), refused.minor()),
        (SystemExceptionKind::Transient, minor::UNKNOWN_SERVER)
    );
    served.locator.remove_server("south:plant").unwrap();
    assert_eq!(
        works(repository, "", "plant").process().unwrap(),
        north.process().unwrap()
    );
}

#[test]
fn a_server_of_two_poas_serves_both_when_it_is_started_for_one() {
    let served = Served::new();
    served.add("first", |start| start.names = "first,second".to_owned());
    let first = served.works("first").process().unwrap();
    served.until_running("second", true);
    assert_eq!(served.works("second").process().unwrap(), first);
    assert_eq!(served.started().len(), 1);
}

#[test]
fn a_poa_that_was_not_added_comes_back_with_the_server_that_has_registered_it() {
    // Processes that are killed at once do not count as failed.
    let served = Served::with(|limits| limits.settle = Duration::ZERO);
    served.add("first", |start| start.names = "first,second".to_owned());
    served.works("first").count().unwrap();
    served.until_running("second", true);
    for round in 1..=2 {
        kill(*served.started().last().unwrap());
        let client = client();
        let repository = client.string_to_object(&served.reference()).unwrap();
        assert_eq!(works(&repository, "", "second").count().unwrap(), 1);
        assert_eq!(works(&repository, "", "first").count().unwrap(), 1);
        assert_eq!(served.started().len(), round + 1);
    }
}

#[test]
fn a_launcher_may_end_before_the_server_registers_that_it_has_started() {
    let served = Served::new();
    let mut options = Start::of("plant").options(&served.reference(), served.folder.path());
    let server = options.command_line.replace('\'', "\"");
    // The shell goes at once, and leaves the server behind.
    options.command_line = format!("launch:/bin/sh -c '{server} &'");
    served
        .locator
        .add_or_update_server("plant", &options)
        .unwrap();
    let works = served.works("plant");
    assert_eq!(works.count().unwrap(), 1);
    let process = works.process().unwrap();
    crate::support::kill(process);
    // No activator knows of it: the next client's ping does.
    until(|| works.process().is_ok_and(|now| now != process));
    // A launcher that fails has started nothing.
    options.command_line = "launch:/bin/false".to_owned();
    served
        .locator
        .add_or_update_server("other", &options)
        .unwrap();
    assert_eq!(
        served.works("other").count().unwrap_err().minor(),
        minor::START_FAILED
    );
}

#[test]
fn in_mode_per_client_each_client_has_a_process_of_its_own() {
    let served = Served::new();
    served.add("plant", |start| start.mode = ActivationMode::PerClient);
    let text = served.reference();
    let processes: Vec<i32> = std::thread::scope(|scope| {
        let each = (0..3).map(|_| {
            scope.spawn(|| {
                let client = client();
                let repository = client.string_to_object(&text).unwrap();
                let works = works(&repository, "", "plant");
                assert_eq!((works.count().unwrap(), works.count().unwrap()), (1, 2));
                works.process().unwrap()
            })
        });
        let each: Vec<_> = each.collect();
        each.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let mut different = processes.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), 3, "{processes:?}");
}

#[test]
fn in_mode_manual_clients_are_refused_until_an_administrator_starts_the_server() {
    let served = Served::new();
    served.add("plant", |start| start.mode = ActivationMode::Manual);
    let works = served.works("plant");
    let refused = works.count().unwrap_err();
    assert_eq!(refused.kind(), SystemExceptionKind::Transient);
    assert_eq!(refused.minor(), minor::NOT_STARTED_FOR_CLIENTS);
    assert_eq!(served.started(), [0; 0]);
    served.locator.activate_server("plant").unwrap();
    assert_eq!(works.count().unwrap(), 1);
}

#[test]
fn a_command_that_dies_at_once_is_not_started_again_and_again() {
    let served = Served::with(|limits| limits.first_pause = Duration::from_secs(3600));
    served.add("plant", |start| start.fault = "dies");
    let works = served.works("plant");
    let refused = works.count().unwrap_err();
    assert_eq!(
        (refused.kind(), refused.minor()),
        (SystemExceptionKind::Transient, minor::START_FAILED)
    );
    for _ in 0..10 {
        assert_eq!(works.count().unwrap_err().minor(), minor::STARTS_HELD_BACK);
    }
    assert_eq!(served.started().len(), 1);
    // An administrator need not wait, and learns why.
    match served.locator.activate_server("plant") {
        Err(AdministrationActivateServerError::CannotActivate(why)) => {
            assert!(
                why.reason.contains("ended before it registered"),
                "{}",
                why.reason
            );
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(served.started().len(), 2);
}

#[test]
fn a_server_that_leaves_right_after_it_has_registered_counts_as_failed() {
    for fault in ["leaves", "returns"] {
        counts_as_failed(fault);
    }
}

fn counts_as_failed(fault: &'static str) {
    let served = Served::with(|limits| {
        limits.settle = Duration::from_secs(3600);
        limits.first_pause = Duration::from_secs(3600);
    });
    served.add("plant", |start| start.fault = fault);
    let works = served.works("plant");
    // A call may come through before it leaves.
    until(|| {
        works
            .count()
            .is_err_and(|refused| refused.minor() == minor::STARTS_HELD_BACK)
    });
    // The first time it may have been killed by somebody, and is started again at once.
    assert_eq!(served.started().len(), 2);
}

#[test]
fn after_so_many_failed_starts_in_a_row_as_its_limit_says_only_an_administrator_starts_a_server() {
    let served = Served::with(|limits| {
        limits.first_pause = Duration::from_millis(1);
        limits.longest_pause = Duration::from_millis(1);
    });
    served.add("plant", |start| {
        start.fault = "dies";
        start.limit = 2;
    });
    let works = served.works("plant");
    until(|| {
        works.count().unwrap_err().minor() == minor::START_FAILED && served.started().len() == 2
    });
    // The pauses are over long since.
    for _ in 0..5 {
        std::thread::sleep(Duration::from_millis(10));
        assert_eq!(works.count().unwrap_err().minor(), minor::STARTS_HELD_BACK);
    }
    assert_eq!(served.started().len(), 2);
    // A server that is updated begins anew.
    served.add("plant", |_| {});
    assert_eq!(works.count().unwrap(), 1);
}

#[test]
fn a_program_that_does_not_exist_is_the_reason_that_an_administrator_reads() {
    let served = Served::new();
    let mut options = Start::of("plant").options(&served.reference(), served.folder.path());
    options.command_line = "/no/such/program".to_owned();
    served
        .locator
        .add_or_update_server("plant", &options)
        .unwrap();
    let refused = served.works("plant").count().unwrap_err();
    assert_eq!(
        (refused.kind(), refused.minor()),
        (SystemExceptionKind::Transient, minor::START_FAILED)
    );
    match served.locator.activate_server("plant") {
        Err(AdministrationActivateServerError::CannotActivate(why)) => {
            assert!(why.reason.contains("/no/such/program"), "{}", why.reason);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_server_that_never_registers_is_ended_when_its_time_is_up() {
    let served = Served::with(|limits| {
        limits.start = Duration::from_millis(1500);
        limits.first_pause = Duration::ZERO;
    });
    served.add("plant", |start| start.fault = "hangs");
    let works = served.works("plant");
    // A process that was ended before it has written its number is not known here.
    let process = loop {
        let begin = Instant::now();
        let refused = works.count().unwrap_err();
        assert_eq!(
            (refused.kind(), refused.minor()),
            (SystemExceptionKind::Transient, minor::START_TIMED_OUT)
        );
        assert!(begin.elapsed() >= Duration::from_millis(1500));
        if let Some(process) = served.started().first() {
            break *process;
        }
    };
    until(|| std::fs::metadata(format!("/proc/{process}")).is_err());
    let options = served.locator.find("plant").unwrap().startup;
    assert!(options.environment.iter().any(|one| one.name == FAULT));
}
