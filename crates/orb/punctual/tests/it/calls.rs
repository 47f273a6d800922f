//! Two ORBs in one process, over TCP: calls, their failures, and the ends of connections.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::support;

use punctual::config::GiopVersion;
use punctual::stub::{Encoder, Marshal, Operation};
use punctual::{
    CompletionStatus, Interface, ListenEndpoint, Orb, RootPoa, SystemExceptionKind as Kind, minor,
};
use punctual_cdr::CdrError;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;
use support::{Echo, EchoImpl, Pair, watchdog};

const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn a_call_returns_what_the_servant_returned() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    assert_eq!(pair.echo.long(-7).unwrap(), -7);
    assert_eq!(pair.echo.text("Grüße, 世界").unwrap(), "Grüße, 世界");
    let octets: Vec<u8> = (0..100_000u32).map(|i| i.to_le_bytes()[0]).collect();
    assert_eq!(pair.echo.octets(&octets).unwrap(), octets);
}

#[test]
fn every_giop_version_carries_calls() {
    let _watchdog = watchdog(LIMIT);
    for version in [GiopVersion::V1_0, GiopVersion::V1_1, GiopVersion::V1_2] {
        let pair = Pair::with(|config| config.giop_version = version, |_| {});
        assert_eq!(pair.echo.long(5).unwrap(), 5, "{version:?}");
        assert_eq!(pair.echo.fail().unwrap_err().kind(), Kind::NoPermission);
        assert!(pair.echo.as_object().locate().unwrap());
    }
}

#[test]
fn long_messages_travel_in_fragments_both_ways() {
    let _watchdog = watchdog(LIMIT);
    for version in [GiopVersion::V1_1, GiopVersion::V1_2] {
        let small = |config: &mut punctual::OrbConfig| {
            config.fragment_size = 1024;
            config.fragment_giop_1_1 = true;
            config.giop_version = version;
        };
        let pair = Pair::with(small, small);
        for length in [0, 1, 900, 1000, 1024, 5000, 100_001] {
            let octets = vec![0xa5; length];
            assert_eq!(
                pair.echo.octets(&octets).unwrap(),
                octets,
                "{version:?} {length}"
            );
        }
    }
}

#[test]
fn a_one_way_arrives_without_an_answer() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    for _ in 0..10 {
        pair.echo.ping().unwrap();
    }
    // The two-way call follows them on the same connection.
    assert_eq!(pair.echo.pings().unwrap(), 10);
}

#[test]
fn a_system_exception_keeps_its_minor_code_and_completion() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    let exception = pair.echo.fail().unwrap_err();
    assert_eq!(exception.kind(), Kind::NoPermission);
    assert_eq!(exception.minor(), 42);
    assert_eq!(exception.completed(), CompletionStatus::Yes);
}

#[test]
fn an_unknown_operation_is_a_bad_operation() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    assert_eq!(pair.echo.unknown().unwrap_err().kind(), Kind::BadOperation);
}

#[test]
fn a_panicking_servant_hurts_its_own_caller_only() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    assert_eq!(pair.echo.panic().unwrap_err().kind(), Kind::Unknown);
    assert_eq!(pair.echo.long(1).unwrap(), 1);
}

#[test]
fn a_deactivated_object_exists_no_more() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    assert!(!pair.echo.as_object().non_existent().unwrap());
    pair.poa.deactivate(&pair.echo).unwrap();
    assert_eq!(pair.echo.long(1).unwrap_err().kind(), Kind::ObjectNotExist);
    assert!(pair.echo.as_object().non_existent().unwrap());
    assert!(!pair.echo.as_object().locate().unwrap());
    assert!(pair.poa.deactivate(&pair.echo).is_err());
}

#[test]
fn references_travel_and_nil_does_too() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    let object = pair.echo.as_object();
    let back = pair.echo.same(Some(object)).unwrap().unwrap();
    assert!(back.is_equivalent(object));
    assert_eq!(back.hash_below(1000), object.hash_below(1000));
    assert_eq!(Echo::narrow(back).unwrap().long(3).unwrap(), 3);
    assert!(pair.echo.same(None).unwrap().is_none());
}

#[test]
fn narrowing_to_another_type_is_refused_by_asking_the_server() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    assert!(pair.echo.as_object().is_a("IDL:test/Echo:1.0").unwrap());
    assert!(!pair.echo.as_object().is_a("IDL:test/Other:1.0").unwrap());
    assert!(
        pair.echo
            .as_object()
            .is_a("IDL:omg.org/CORBA/Object:1.0")
            .unwrap()
    );
    let nil = Echo::narrow(None).unwrap_err();
    assert_eq!((nil.kind(), nil.minor()), (Kind::InvObjref, minor::NIL));
}

#[test]
fn client_and_server_in_one_orb_call_each_other() {
    let _watchdog = watchdog(LIMIT);
    let orb = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .build()
        .unwrap();
    let poa = orb.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let echo: Echo = poa.activate(Arc::new(EchoImpl::default())).unwrap();
    assert_eq!(echo.long(9).unwrap(), 9);
    orb.shutdown(true).unwrap();
}

#[test]
fn calls_nested_back_and_forth_over_shared_connections_do_not_lock_up() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    assert_eq!(pair.echo.bounce(&pair.echo, 12).unwrap(), 12);
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let echo = pair.echo.clone();
            std::thread::spawn(move || echo.bounce(&echo, 5).unwrap())
        })
        .collect();
    assert!(
        threads
            .into_iter()
            .all(|thread| thread.join().unwrap() == 5)
    );
}

#[test]
fn many_threads_share_one_connection() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::with(|_| {}, |config| config.connections_per_endpoint = 1);
    let threads: Vec<_> = (0..8)
        .map(|thread| {
            let echo = pair.echo.clone();
            std::thread::spawn(move || {
                for i in 0..500 {
                    let value = thread * 1000 + i;
                    assert_eq!(echo.long(value).unwrap(), value);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(pair.server.client_connections(), 1);
}

#[test]
fn a_call_that_takes_too_long_times_out_and_the_connection_serves_on() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    // The request must be in flight when the time-out passes, on a busy machine, too.
    assert_eq!(pair.echo.long(3).unwrap(), 3);
    let hurried = pair.echo.with_timeout(Duration::from_millis(500));
    let exception = hurried.wait().unwrap_err();
    assert_eq!(exception.kind(), Kind::Timeout);
    assert_eq!(exception.completed(), CompletionStatus::Maybe);
    let message = exception.to_string();
    assert!(
        message.contains("wait") && message.contains("127.0.0.1"),
        "{message}"
    );
    pair.servant.gate.open();
    // The late reply has no caller; this one has.
    assert_eq!(pair.echo.long(4).unwrap(), 4);
}

#[test]
fn a_dead_port_is_transient_and_names_endpoint_phase_and_reason() {
    let _watchdog = watchdog(LIMIT);
    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let orb = Orb::builder().build().unwrap();
    let object = orb
        .string_to_object(&format!("corbaloc::127.0.0.1:{free}/x"))
        .unwrap();
    let exception = object.non_existent().unwrap_err();
    assert_eq!(exception.kind(), Kind::Transient);
    assert_eq!(exception.completed(), CompletionStatus::No);
    let message = exception.to_string();
    for part in [&format!("iiop://127.0.0.1:{free}"), "connecting", "refused"] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn an_unresolvable_host_is_transient_and_says_so() {
    let _watchdog = watchdog(LIMIT);
    let orb = Orb::builder().build().unwrap();
    let object = orb
        .string_to_object("corbaloc::no-such-host.invalid:1/x")
        .unwrap();
    let exception = object.non_existent().unwrap_err();
    assert_eq!(exception.kind(), Kind::Transient);
    let message = exception.to_string();
    assert!(
        message.contains("no-such-host.invalid") && message.contains("resolving"),
        "{message}"
    );
}

#[test]
fn text_that_is_no_reference_is_refused_with_the_standard_minor_codes() {
    let orb = Orb::builder().build().unwrap();
    let refused = |text: &str| {
        let exception = orb.string_to_object(text).unwrap_err();
        (exception.kind(), exception.minor())
    };
    assert_eq!(refused("IOR:zz").0, Kind::InvObjref);
    assert_eq!(refused("IOR:00").0, Kind::InvObjref);
    assert_eq!(refused("IOR:010000000100000000000000").0, Kind::InvObjref);
    assert_eq!(
        refused("http://example.org/"),
        (Kind::BadParam, minor::BAD_SCHEME)
    );
    assert_eq!(
        refused("corbaloc:xyz:h/x"),
        (Kind::BadParam, minor::BAD_ADDRESS)
    );
    assert_eq!(
        refused("corbaloc::h:99999/x"),
        (Kind::BadParam, minor::BAD_ADDRESS)
    );
    assert_eq!(
        refused("corbaloc::h/%zz"),
        (Kind::BadParam, minor::BAD_SCHEME_SPECIFIC_PART)
    );
    assert_eq!(refused("file:///no/such/file").0, Kind::BadParam);
    assert_eq!(refused("corbaloc:rir:/Nowhere").0, Kind::InvObjref);
}

/// Makes a server that reads one request and then runs `answer`.
fn one_shot_server(
    answer: impl FnOnce(std::net::TcpStream, Vec<u8>) + Send + 'static,
) -> (u16, std::thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = vec![0; 1024];
        let read = stream.read(&mut request).unwrap();
        request.truncate(read);
        answer(stream, request);
    });
    (port, thread)
}

#[test]
fn a_server_that_dies_in_mid_call_is_a_comm_failure_that_may_have_completed() {
    let _watchdog = watchdog(LIMIT);
    let (port, server) = one_shot_server(|stream, _| drop(stream));
    let orb = Orb::builder().build().unwrap();
    let object = orb
        .string_to_object(&format!("corbaloc::127.0.0.1:{port}/x"))
        .unwrap();
    let exception = object.non_existent().unwrap_err();
    assert_eq!(exception.kind(), Kind::CommFailure);
    assert_eq!(exception.completed(), CompletionStatus::Maybe);
    let message = exception.to_string();
    assert!(
        message.contains(&port.to_string()) && message.contains("receiving"),
        "{message}"
    );
    server.join().unwrap();
}

#[test]
fn a_server_that_answers_nonsense_is_told_and_left() {
    let _watchdog = watchdog(LIMIT);
    let (port, server) = one_shot_server(|mut stream, _| {
        stream
            .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            .unwrap();
        let mut told = Vec::new();
        stream.read_to_end(&mut told).unwrap();
        assert_eq!(&told[..4], b"GIOP");
        assert_eq!(told[7], 6, "MessageError");
    });
    let orb = Orb::builder().build().unwrap();
    let object = orb
        .string_to_object(&format!("corbaloc::127.0.0.1:{port}/x"))
        .unwrap();
    let exception = object.non_existent().unwrap_err();
    assert_eq!(exception.kind(), Kind::CommFailure);
    server.join().unwrap();
}

#[test]
fn a_request_that_a_closing_server_did_not_begin_is_repeated() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    // The server shuts down in order, and another takes its port and its objects' keys.
    assert_eq!(pair.echo.long(1).unwrap(), 1);
    let port = pair.port;
    pair.server.shutdown(true).unwrap();
    let second = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", port))
        .build()
        .unwrap();
    let poa = second.root_poa().unwrap();
    poa.manager().activate().unwrap();
    // Only the new server can answer that the old object is gone: the call reached it.
    assert_eq!(pair.echo.long(1).unwrap_err().kind(), Kind::ObjectNotExist);
    second.shutdown(true).unwrap();
}

#[test]
fn shutdown_waits_for_the_call_in_progress_and_turns_the_next_away() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    let echo = pair.echo.clone();
    let call = std::thread::spawn(move || echo.wait());
    pair.servant.gate.wait_for_waiters(1);
    let server = pair.server.clone();
    let shutdown = std::thread::spawn(move || server.shutdown(true));
    while !pair.server.is_shut_down() {
        crate::support::pause();
    }
    pair.servant.gate.open();
    call.join().unwrap().unwrap();
    shutdown.join().unwrap().unwrap();
    pair.server.run();
    assert_eq!(pair.echo.long(1).unwrap_err().kind(), Kind::Transient);
}

#[test]
fn a_shutdown_that_does_not_wait_lets_calls_in_progress_finish_and_none_begin() {
    let _watchdog = watchdog(LIMIT);
    let (pair, elsewhere) = (Pair::new(), Pair::new());
    // The server's ORB is a client, too, by a connection that is in use.
    let from_server = elsewhere.server.object_to_string(&elsewhere.echo).unwrap();
    let from_server = pair.server.string_to_object(&from_server).unwrap();
    let from_server = Echo::from_object(from_server);
    assert_eq!(from_server.long(1).unwrap(), 1);
    let echo = pair.echo.clone();
    let call = std::thread::spawn(move || echo.wait());
    pair.servant.gate.wait_for_waiters(1);
    pair.server.shutdown(false).unwrap();
    for _ in 0..3 {
        let refused = from_server.long(1).unwrap_err();
        assert_eq!(refused.kind(), Kind::BadInvOrder);
    }
    let server = pair.server.clone();
    let (over, ended) = std::sync::mpsc::channel();
    let run = std::thread::spawn(move || {
        server.run();
        over.send(()).unwrap();
    });
    // Not while the call is in progress.
    let early = ended.recv_timeout(Duration::from_millis(100));
    assert!(early.is_err());
    pair.servant.gate.open();
    call.join().unwrap().unwrap();
    run.join().unwrap();
}

#[test]
fn a_forwarded_call_follows_and_a_loop_of_forwards_ends() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    let elsewhere = Pair::new();
    let here: Echo = pair.poa.activate(Arc::new(EchoImpl::default())).unwrap();
    let mine = pair.as_client(&here);
    pair.poa.forward(&here, &elsewhere.echo).unwrap();
    assert_eq!(mine.long(6).unwrap(), 6);
    mine.ping().unwrap();
    assert_eq!(mine.pings().unwrap(), 1);
    assert_eq!(elsewhere.echo.pings().unwrap(), 1);

    let looping: Echo = pair.poa.activate(Arc::new(EchoImpl::default())).unwrap();
    pair.poa.forward(&looping, &looping).unwrap();
    let text = pair.server.object_to_string(&looping).unwrap();
    let looping = pair.client.string_to_object(&text).unwrap();
    let exception = looping.non_existent().unwrap_err();
    assert_eq!(
        (exception.kind(), exception.minor()),
        (Kind::Transient, minor::TOO_MANY_FORWARDS)
    );
}

#[test]
fn a_forward_whose_goal_dies_falls_back_to_the_original() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    let elsewhere = Pair::new();
    let servant = Arc::new(EchoImpl::default());
    let here: Echo = pair.poa.activate(servant).unwrap();
    let mine = pair.as_client(&here);
    pair.poa.forward(&here, &elsewhere.echo).unwrap();
    assert_eq!(mine.long(6).unwrap(), 6);
    elsewhere.server.shutdown(true).unwrap();
    pair.poa.forward(&here, &pair.echo).unwrap();
    assert_eq!(mine.long(7).unwrap(), 7);
}

#[test]
fn a_poa_manager_holds_requests_until_it_is_activated_and_discards_them_when_told() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    pair.poa.manager().hold_requests(false).unwrap();
    let held = pair.echo.with_timeout(Duration::from_millis(50));
    assert_eq!(held.long(1).unwrap_err().kind(), Kind::Timeout);
    pair.poa.manager().activate().unwrap();
    assert_eq!(pair.echo.long(2).unwrap(), 2);
    pair.poa.manager().discard_requests(false).unwrap();
    assert_eq!(pair.echo.long(3).unwrap_err().kind(), Kind::Transient);
}

#[test]
fn one_servant_has_one_reference() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    let servant = Arc::new(EchoImpl::default());
    let first: Echo = pair.poa.servant_to_reference(&servant).unwrap();
    let second: Echo = pair.poa.servant_to_reference(&servant).unwrap();
    assert_eq!(first, second);
    assert_ne!(first, pair.echo);
}

#[test]
fn initial_references_are_found_by_name() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    let text = pair.server.object_to_string(&pair.echo).unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), format!("{text}\n")).unwrap();
    let (orb, rest) = Orb::init([
        "program".to_owned(),
        "-ORBInitRef".to_owned(),
        format!("Echo=file://{}", file.path().display()),
    ])
    .unwrap();
    assert_eq!(rest, ["program"]);
    assert_eq!(orb.list_initial_services(), ["Echo"]);
    let echo = Echo::narrow(orb.resolve_initial_references("Echo").unwrap()).unwrap();
    assert_eq!(echo.long(2).unwrap(), 2);
    let again = orb.string_to_object("corbaloc:rir:/Echo").unwrap();
    assert!(again.is_equivalent(echo.as_object()));
    orb.register_initial_reference("Mine", &echo).unwrap();
    assert!(orb.resolve_initial_references("Mine").is_ok());
    assert!(orb.register_initial_reference("Nil", &None).is_err());
}

#[test]
fn several_endpoints_are_published_and_ipv6_is_one_of_them() {
    let _watchdog = watchdog(LIMIT);
    let orb = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .listen(ListenEndpoint::iiop("::1", 0))
        .build()
        .unwrap();
    let poa = match orb.root_poa() {
        Ok(poa) => poa,
        Err(exception) => {
            eprintln!("skipped: this machine has no IPv6 loopback: {exception}");
            return;
        }
    };
    poa.manager().activate().unwrap();
    let echo: Echo = poa.activate(Arc::new(EchoImpl::default())).unwrap();
    let endpoints = orb.endpoints();
    assert_eq!(endpoints.len(), 2);
    let key = echo
        .as_object()
        .ior()
        .iiop_profiles()
        .next()
        .unwrap()
        .unwrap()
        .object_key;
    let escaped: String = key.iter().map(|octet| format!("%{octet:02x}")).collect();
    let client = Orb::builder().build().unwrap();
    // The first address is dead: the second serves.
    let url = format!(
        "corbaloc::127.0.0.1:1,:[::1]:{}/{escaped}",
        endpoints[1].port().unwrap()
    );
    let echo = Echo::from_object(client.string_to_object(&url).unwrap());
    assert_eq!(echo.long(8).unwrap(), 8);
    orb.shutdown(true).unwrap();
}

#[test]
fn an_endpoint_in_use_stops_the_start_with_its_reason() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    let orb = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", pair.port))
        .build()
        .unwrap();
    let exception = orb.root_poa().err().unwrap();
    assert_eq!(exception.kind(), Kind::Initialize);
    let message = exception.to_string();
    assert!(
        message.contains(&pair.port.to_string()) && message.contains("in use"),
        "{message}"
    );
}

#[test]
fn a_connection_whose_receiving_was_handed_on_is_still_told_goodbye() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    // Another thread receives from the nested call on, and the first one ends.
    assert_eq!(pair.echo.bounce(&pair.echo, 3).unwrap(), 3);
    assert_eq!(pair.echo.long(1).unwrap(), 1);
    // The client's, and the server's own to itself.
    assert_eq!(pair.server.client_connections(), 2);
    pair.server.shutdown(true).unwrap();
    assert_eq!(pair.server.client_connections(), 0);
}

#[test]
fn a_result_beyond_its_bound_is_the_servers_fault_and_an_argument_the_callers() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    const OPERATION: Operation = Operation::two_way("octets");
    const BEYOND: CdrError = CdrError::BoundExceeded {
        length: 3,
        bound: 2,
    };
    let send = |out: &mut Encoder<'_>| vec![1_u8, 2, 3].marshal(out);
    let object = pair.echo.as_object();
    let read: Result<(), _> = object.invoke(&OPERATION, send, |_| Err(BEYOND));
    let error = read.unwrap_err();
    assert_eq!(error.kind(), Kind::Marshal, "{error}");
    assert_eq!(error.completed(), CompletionStatus::Yes);
    let sent: Result<(), _> = object.invoke(&OPERATION, |_| Err(BEYOND), |_| Ok(()));
    let error = sent.unwrap_err();
    assert_eq!(error.kind(), Kind::BadParam, "{error}");
    assert_eq!(error.completed(), CompletionStatus::No);
}
