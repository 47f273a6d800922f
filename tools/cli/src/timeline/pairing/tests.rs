//! Pairs of made-up files.

use super::super::file::{Call, Connection, Event, Reading, Request, Served, Side, Stage};
use super::*;

/// Makes a file of connections without ports, whose requests all have one id: each begins at the time for the numbers of its
/// connection and itself, has an upcall of so many nanoseconds, and is answered after 1,000.
fn file(
    side: Side,
    (connections, of_each): (u32, u32),
    upcall: i64,
    at: impl Fn(u32, u32) -> i64,
) -> File {
    let reading = Reading {
        monotonic: 0,
        time_of_day: 0,
        within: 0,
        synchronised: false,
        estimated_error: 0,
        tai_offset: 0,
    };
    let connection = |number| Connection {
        side,
        lane: 0,
        connection: number,
        local: "uiop:///tmp/one".to_owned(),
        peer: "uiop:///tmp/other".to_owned(),
    };
    let numbers = (0..connections).flat_map(|number| (0..of_each).map(move |one| (number, one)));
    let requests: Vec<(Request, i64)> = numbers
        .map(|(connection, one)| {
            let request = Request {
                lane: 0,
                connection,
                request: 7,
            };
            (request, at(connection, one))
        })
        .collect();
    let events = requests.iter().map(|(request, at)| Event {
        at: *at,
        thread: 1,
        stage: Stage::Read,
        request: *request,
        priority: None,
        processor: 0,
    });
    let calls = requests.iter().map(|(request, at)| Call {
        request: *request,
        sending: *at,
        received: Some(at + 1_000),
    });
    let served = requests.iter().map(|(request, at)| Served {
        request: *request,
        read: *at,
        upcall: None,
        upcall_end: Some(at + upcall),
        operation: None,
    });
    File {
        connections: (0..connections).map(connection).collect(),
        events: events.collect(),
        calls: calls.collect(),
        served: served.collect(),
        ..File::with_clock(reading, reading)
    }
}

/// Gives all connections of a client's and a server's file one pair of addresses.
fn give_addresses(client: &mut File, server: &mut File) {
    let (near, far) = ("iiop://127.0.0.1:1", "iiop://127.0.0.1:2");
    for (file, local, peer) in [(client, near, far), (server, far, near)] {
        for one in &mut file.connections {
            (one.local, one.peer) = (local.to_owned(), peer.to_owned());
        }
    }
}

/// Returns the pairs, and the largest memory that was held, in bytes.
fn measured(client: &File, server: &File, known: Known) -> (Pairs, usize) {
    let mut found = Pairs::default();
    let bytes = punctual_heap::bytes_of(|| found = pairs(client, server, known));
    (found, bytes.peak)
}

/// Begins of requests of connections that are used in turn, 300 microseconds after one another.
fn in_turn(connection: u32, one: u32) -> i64 {
    i64::from(connection) * 300_000 + i64::from(one) * 1_000_000
}

#[test]
fn connections_without_addresses_are_paired_by_their_times_and_not_by_their_numbers() {
    let client = file(Side::Client, (2, 200), 500, in_turn);
    let server = file(Side::Server, (2, 200), 500, |connection, one| {
        in_turn(1 - connection, one)
    });
    for known in [Known::Same, Known::Guess(0)] {
        let found = pairs(&client, &server, known);
        assert_eq!((found.all.len(), found.connections), (400, 2), "{known:?}");
        for pair in &found.all {
            let sending = client.calls.get(pair.call).map(|call| call.sending);
            let read = server.served.get(pair.served).map(|served| served.read);
            assert_eq!(sending, read, "{known:?}");
        }
    }
}

#[test]
fn by_one_clock_only_a_connection_that_the_addresses_tell_may_contradict_causality() {
    let mut client = file(Side::Client, (1, 200), 500, in_turn);
    let early = |connection, one| in_turn(connection, one) - 300_000;
    let mut server = file(Side::Server, (1, 200), 500, early);
    assert!(pairs(&client, &server, Known::Same).all.is_empty());
    assert_eq!(pairs(&client, &server, Known::Guess(0)).all.len(), 200);
    give_addresses(&mut client, &mut server);
    assert_eq!(pairs(&client, &server, Known::Same).all.len(), 200);
}

#[test]
fn calls_before_the_server_has_recorded_take_no_later_calls_place() {
    let begin = |_, one| i64::from(one) * 100_000;
    let mut client = file(Side::Client, (1, 200), 500, begin);
    let mut server = file(Side::Server, (1, 150), 500, |of, one| begin(of, one + 50));
    give_addresses(&mut client, &mut server);
    let found = pairs(&client, &server, Known::Same);
    assert_eq!(found.all.len(), 150);
    assert!(found.all.iter().all(|pair| pair.call == pair.served + 50));
}

#[test]
fn requests_with_one_id_and_times_that_nothing_fits_are_not_all_compared_with_each_other() {
    // No upcall ends before the reply has come, and all begin at one moment.
    let (client, server) = (
        file(Side::Client, (1, 20_000), 1_000_000, |_, _| 0),
        file(Side::Server, (1, 20_000), 1_000_000, |_, _| 0),
    );
    for known in [Known::Same, Known::Guess(0)] {
        let found = pairs(&client, &server, known);
        assert_eq!((found.all.len(), found.connections), (0, 0));
        assert_eq!(found.is_cut, known == Known::Same, "{known:?}");
    }
}

#[test]
fn connections_that_may_all_be_each_other_are_not_all_compared() {
    let files = |connections| {
        let of = |side| file(side, (connections, 1), 1_000_000, |_, _| 0);
        (of(Side::Client), of(Side::Server))
    };
    let (mut client, mut server) = files(1_000);
    assert!(pairs(&client, &server, Known::Same).is_cut);
    give_addresses(&mut client, &mut server);
    let (found, peak) = measured(&client, &server, Known::Same);
    assert!(found.is_cut);
    assert!(peak < 5 << 20, "{peak} bytes");
    let (client, server) = files(30);
    assert!(!pairs(&client, &server, Known::Same).is_cut);
}

#[test]
fn connections_that_all_fit_each_other_take_no_memory_for_each_pair_of_their_requests() {
    // 40,000 pairs of connections, with 1,200,000 pairs of requests that fit.
    let (client, server) = (
        file(Side::Client, (200, 30), 500, |_, _| 0),
        file(Side::Server, (200, 30), 500, |_, _| 0),
    );
    let (found, peak) = measured(&client, &server, Known::Same);
    assert_eq!((found.all.len(), found.connections), (6_000, 200));
    assert!(!found.is_cut);
    assert!(peak < 16 << 20, "{peak} bytes");
}

#[test]
fn of_equal_fits_none_takes_the_only_connection_that_another_has() {
    // The first of the client's connections fits both of the server's, and the second the first one only.
    let begin = |one: u32| i64::from(one) * 1_000_000;
    let client = file(Side::Client, (2, 50), 500, |connection, one| {
        begin(one) - i64::from(connection) * 500
    });
    let server = file(Side::Server, (2, 50), 500, |connection, one| {
        begin(one) + i64::from(connection) * 500
    });
    let found = pairs(&client, &server, Known::Same);
    assert_eq!((found.all.len(), found.connections), (100, 2));
}

#[test]
fn seeking_an_offset_among_many_connections_leaves_the_steps_of_matching_them() {
    let begin = |connection, one| i64::from(connection) * 30_000 + i64::from(one) * 1_000_000;
    let client = file(Side::Client, (30, 100), 500, begin);
    let server = file(Side::Server, (30, 100), 500, begin);
    let found = pairs(&client, &server, Known::Guess(0));
    assert!(found.is_cut);
    assert_eq!((found.all.len(), found.connections), (3_000, 30));
}
