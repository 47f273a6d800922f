//! Limits of the resources that clients can occupy.

use std::io::{ErrorKind, Read, Write};
use std::time::Duration;

use punctual_console::ConsoleLimits;

use crate::console::support::Shown;

/// Limits that are short enough for a test to wait for.
const SOON: Duration = Duration::from_millis(200);

#[test]
fn a_form_or_a_head_that_is_too_long_is_refused_before_it_is_read() {
    let shown = Shown::new();
    let long = "a".repeat(100 << 10);
    let reply = shown.post(
        "/naming/bind",
        &[("in", ""), ("name", "a"), ("reference", &long)],
    );
    assert_eq!(reply.status, 413);
    let host = shown.address();
    let promised = format!(
        "POST /naming/bind HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/x-www-form-urlencoded\r\n\
         Content-Length: 4000000000\r\n"
    );
    assert_eq!(shown.send(&promised, "token=x").status, 413);
    let reply = shown.get(&format!("/naming?in={long}"));
    assert!([400, 414, 431].contains(&reply.status), "{}", reply.status);
    let headers = "A: a\r\n".repeat(100);
    let reply = shown.send(
        &format!("GET /naming HTTP/1.1\r\nHost: {host}\r\n{headers}"),
        "",
    );
    assert!([400, 431].contains(&reply.status), "{}", reply.status);
    assert_eq!(shown.get("/naming").status, 200);
}

#[test]
fn who_says_nothing_or_stops_in_a_head_is_let_go() {
    let shown = Shown::limited(ConsoleLimits {
        head_time: SOON,
        ..ConsoleLimits::default()
    });
    for begin in [
        "",
        "GET /naming HTTP/1.1\r\nHost: ",
        "GET /naming HTTP/1.1\r\nHost: x\r\n\r\n",
    ] {
        let mut peer = shown.connected();
        peer.write_all(begin.as_bytes()).unwrap();
        let mut rest = Vec::new();
        // The server ends it: the connection's own time-out would be an error.
        let ended = peer.read_to_end(&mut rest);
        assert!(
            !matches!(ended, Err(error) if error.kind() == ErrorKind::WouldBlock),
            "{begin}"
        );
    }
}

#[test]
fn a_form_that_stops_coming_is_given_up() {
    let shown = Shown::limited(ConsoleLimits {
        request_time: SOON,
        ..ConsoleLimits::default()
    });
    let head = format!(
        "POST /naming/bind HTTP/1.1\r\nHost: {}\r\nContent-Type: application/x-www-form-urlencoded\r\n\
         Content-Length: 100\r\n",
        shown.address()
    );
    assert_eq!(shown.send(&head, "token=").status, 503);
}

#[test]
fn one_stream_too_many_is_refused_and_there_is_room_when_another_ends() {
    let shown = Shown::limited(ConsoleLimits {
        streams: 2,
        answer_age: SOON,
        ..ConsoleLimits::default()
    });
    let mut streams = [shown.events("/naming/live"), shown.events("/naming/live")];
    for stream in &mut streams {
        assert!(stream.status.contains("200") && stream.next());
    }
    assert!(shown.events("/naming/live").status.contains("503"));
    drop(streams);
    while !shown.events("/naming/live").status.contains("200") {}
}

#[test]
fn a_stream_ends_after_its_time() {
    let shown = Shown::limited(ConsoleLimits {
        stream_time: SOON,
        ..ConsoleLimits::default()
    });
    let mut events = shown.events("/naming/live");
    while events.next() {}
}

#[test]
fn more_connections_than_the_limit_wait_until_one_ends() {
    let shown = Shown::limited(ConsoleLimits {
        connections: 2,
        ..ConsoleLimits::default()
    });
    let held = [shown.connected(), shown.connected()];
    let mut next = shown.connected();
    let head = format!(
        "GET /naming HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
        shown.address()
    );
    next.write_all(head.as_bytes()).unwrap();
    next.set_read_timeout(Some(SOON)).unwrap();
    let mut some = [0; 12];
    assert_eq!(
        next.read(&mut some).unwrap_err().kind(),
        ErrorKind::WouldBlock
    );
    drop(held);
    next.set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    next.read_exact(&mut some).unwrap();
    assert_eq!(&some, b"HTTP/1.1 200");
}

#[test]
fn a_peer_that_takes_nothing_is_let_go_and_delays_nobody() {
    let shown = Shown::limited(ConsoleLimits {
        write_time: SOON,
        connections: 1,
        ..ConsoleLimits::default()
    });
    let mut peer = shown.connected();
    let head = format!(
        "GET /static/console.css HTTP/1.1\r\nHost: {}\r\n\r\n",
        shown.address()
    );
    // Sends requests and reads nothing, until the server closes.
    while peer.write_all(head.as_bytes()).is_ok() {}
    assert_eq!(shown.get("/naming").status, 200);
}
