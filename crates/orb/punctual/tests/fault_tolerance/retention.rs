//! Replies that are kept for repeats.

use crate::contexts::{Contexts, now};
use crate::group::{Server, add, group_of, hold, number, octets, seen_by, until};
use punctual::{CompletionStatus, ListenEndpoint, SystemExceptionKind as Kind};
use std::time::Duration;

#[test]
fn a_repeat_is_answered_with_the_first_reply_whatever_that_was() {
    for (contexts, client) in [Contexts::client(), Contexts::usual_client()] {
        let server = Server::new();
        let object = seen_by(&client, &server.ior());
        for (retention, operation) in [(1, "add"), (2, "refuse"), (3, "panic"), (4, "later")] {
            contexts.set_request("client", retention, now() + Duration::from_secs(60));
            let first = number(&object, operation);
            let repeat = number(&object, operation);
            let shown = |answer: Result<u32, punctual::SystemException>| {
                answer.map_err(|error| (error.kind(), error.minor(), error.completed()))
            };
            assert_eq!(shown(first), shown(repeat), "{operation}");
        }
        assert_eq!(server.servant.upcalls(), 4);
        assert_eq!(server.retained(), 4);
    }
}

#[test]
fn a_long_reply_that_would_be_sent_from_the_servants_memory_is_kept_whole() {
    let server = Server::new();
    let (contexts, client) = Contexts::usual_client();
    let object = seen_by(&client, &server.ior());
    for (retention, length) in [(1, 32 * 1024), (2, 100_001)] {
        contexts.set_request("client", retention, now() + Duration::from_secs(60));
        for _ in 0..3 {
            assert_eq!(octets(&object, length), Ok(vec![7; length as usize]));
        }
    }
    assert_eq!(server.servant.upcalls(), 2);
}

#[test]
fn replies_are_kept_that_the_main_thread_makes_at_once_or_has_made_later() {
    let server = Server::of_main_thread();
    let (contexts, client) = Contexts::usual_client();
    let object = seen_by(&client, &server.ior());
    std::thread::scope(|scope| {
        let main = scope.spawn(|| server.orb.run());
        for (retention, operation) in [(1, "add"), (2, "later"), (3, "panic")] {
            contexts.set_request("client", retention, now() + Duration::from_secs(250));
            let first = number(&object, operation).map_err(|error| error.kind());
            let repeat = number(&object, operation).map_err(|error| error.kind());
            assert_eq!(first, repeat, "{operation}");
        }
        server.orb.shutdown(true).unwrap();
        main.join().unwrap();
    });
    assert_eq!(server.servant.upcalls(), 3);
}

#[test]
fn requests_are_answered_once_whatever_the_order_of_their_numbers() {
    let server = Server::new();
    let (contexts, client) = Contexts::usual_client();
    let object = seen_by(&client, &server.ior());
    let numbers = [5, 4, 9, 7, 8, i32::MAX, i32::MIN, -1, 0, 6, 100, 10];
    let expires = now() + Duration::from_secs(250);
    let call = |number| {
        contexts.set_request("client", number, expires);
        add(&object).unwrap()
    };
    let first: Vec<_> = numbers.into_iter().map(call).collect();
    for (number, answer) in numbers.into_iter().zip(&first).rev() {
        assert_eq!(call(number), *answer, "{number}");
    }
    assert_eq!(server.servant.upcalls() as usize, numbers.len());
    assert_eq!(server.retained(), numbers.len());
}

#[test]
fn clients_on_one_connection_are_told_apart_however_alike_their_ids_are() {
    let server = Server::new();
    let (contexts, client) = Contexts::usual_client();
    let object = seen_by(&client, &server.ior());
    let expires = now() + Duration::from_secs(250);
    // Some have equal begins, and all equal lengths as encoded.
    let ids = ["four", "fours", "fourth", "four th", "five", "fifth"];
    let round = || {
        ids.map(|id| {
            [1, 2].map(|number| {
                contexts.set_request(id, number, expires);
                add(&object).unwrap()
            })
        })
    };
    let first = round();
    assert_eq!(first.as_flattened(), &(1..=12).collect::<Vec<_>>());
    assert_eq!(round(), first);
    assert_eq!(server.servant.upcalls(), 12);
}

#[test]
fn a_client_that_was_forgotten_gets_no_reply_of_the_one_in_its_place() {
    let server = Server::new();
    let (contexts, client) = Contexts::usual_client();
    let object = seen_by(&client, &server.ior());
    // Where this machine is so busy that a request has expired when it comes, another is made.
    let brief = (1..1_000).find_map(|number| {
        contexts.set_request("brief", number, now() + Duration::from_millis(300));
        add(&object).ok().map(|_| number)
    });
    until(|| server.retained() == 0);
    let expires = now() + Duration::from_secs(250);
    contexts.set_request("other", brief.unwrap(), expires);
    let others = add(&object).unwrap();
    contexts.set_request("brief", brief.unwrap(), expires);
    let again = add(&object).unwrap();
    assert_ne!(again, others);
    assert_eq!(add(&object), Ok(again));
    contexts.set_request("other", brief.unwrap(), expires);
    assert_eq!(add(&object), Ok(others));
}

#[test]
fn a_request_that_was_not_begun_is_made_again() {
    let server = Server::new();
    let (contexts, client) = Contexts::client();
    let object = seen_by(&client, &server.ior());
    contexts.set_request("client", 1, now() + Duration::from_secs(60));
    assert_eq!(number(&object, "busy").unwrap_err().kind(), Kind::Transient);
    assert_eq!(server.retained(), 0);
    assert_eq!(add(&object), Ok(2));
}

#[test]
fn a_repeat_of_a_request_in_progress_waits_without_a_thread_and_gets_its_reply() {
    let server = Server::with(|config| config.fault_tolerance.waiting_repeats = 2);
    let (contexts, client) = Contexts::client();
    let object = seen_by(&client, &server.ior());
    contexts.set_request("client", 1, now() + Duration::from_secs(250));
    let call = || {
        let object = object.clone();
        std::thread::spawn(move || hold(&object))
    };
    let first = call();
    server.servant.gate.wait_for_waiters(1);
    let repeats: Vec<_> = (0..3).map(|_| call()).collect();
    // One of three is refused, as two may wait.
    until(|| repeats.iter().any(std::thread::JoinHandle::is_finished));
    server.servant.gate.open();
    assert_eq!(first.join().unwrap(), Ok(1));
    let answers: Vec<_> = repeats.into_iter().map(|one| one.join().unwrap()).collect();
    assert_eq!(answers.iter().filter(|one| **one == Ok(1)).count(), 2);
    let refused = answers.into_iter().find_map(Result::err).unwrap();
    assert_eq!(refused.kind(), Kind::Transient);
    assert_eq!(server.servant.upcalls(), 1);
}

#[test]
fn another_user_with_the_same_client_id_gets_no_ones_else_reply() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let endpoints = [
        ListenEndpoint::iiop("127.0.0.1", 0),
        ListenEndpoint::new("uiop", socket.to_str().unwrap()),
    ];
    let server = Server::at(&endpoints, |_| {});
    let (contexts, client) = Contexts::client();
    contexts.set_request("client", 1, now() + Duration::from_secs(60));
    let only = |protocol: &str| {
        let (contexts, client) = contexts.client_by(protocol);
        drop(contexts);
        seen_by(&client, &server.ior())
    };
    let (by_socket, by_network) = (only("uiop"), only("iiop"));
    assert_eq!((add(&by_socket), add(&by_socket)), (Ok(1), Ok(1)));
    // A client over TCP has not shown to be this user.
    assert_eq!((add(&by_network), add(&by_network)), (Ok(2), Ok(2)));
    assert_eq!(add(&by_socket), Ok(1));
    drop(client);
}

#[test]
fn replies_are_forgotten_when_they_expire() {
    let server = Server::new();
    let (contexts, client) = Contexts::client();
    let object = seen_by(&client, &server.ior());
    contexts.set_request("client", 1, now() + Duration::from_millis(300));
    let first = add(&object);
    if first == Ok(1) {
        until(|| server.retained() == 0);
    }
    // Otherwise this machine was so busy that the request had expired when it came.
    let error = add(&object).unwrap_err();
    assert_eq!(error.kind(), Kind::Timeout);
    assert_eq!(error.completed(), CompletionStatus::No);
}

#[test]
fn requests_for_objects_that_are_no_members_are_kept_only_where_all_are() {
    for retains_all in [false, true] {
        let server = Server::with(|config| config.fault_tolerance.retain_all = retains_all);
        let tolerance = punctual::fault_tolerance::FaultTolerance::of(&server.orb).unwrap();
        tolerance.leave(&server.reference).unwrap();
        let client = crate::group::client();
        let group = seen_by(&client, &group_of(&[server.ior()], 1));
        assert_eq!(add(&group), Ok(1));
        assert_eq!(server.retained(), usize::from(retains_all));
    }
}
