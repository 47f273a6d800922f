//! Tests beyond the suite of all links: addresses, errors, the receive buffer.

use crate::support::absent;
use punctual_exec::Deadline;
use punctual_link::{Acceptor, Address, Cause, Link, Properties};
use punctual_vsock::{NAME, Vsock};
use std::io::{ErrorKind, IoSlice};
use std::time::Duration;

fn at(place: &str) -> Address {
    Address::new(NAME, place)
}

fn listen(place: &str, properties: &Properties) -> Box<dyn Acceptor> {
    Vsock::default().listen(&at(place), properties).unwrap()
}

/// Returns whether the kernel has no loopback, and says why the test does nothing then.
fn is_skipped(test: &str) -> bool {
    let why = absent();
    if let Some(why) = &why {
        eprintln!("{test} skipped: {why}");
    }
    why.is_some()
}

#[test]
fn an_acceptor_says_the_id_and_the_port_by_which_it_is_reached() {
    if is_skipped("an_acceptor_says_the_id_and_the_port_by_which_it_is_reached") {
        return;
    }
    for place in ["local:0", "any:0", ""] {
        let acceptor = listen(place, &Properties::NONE);
        let (cid, port) = acceptor.address().place().split_once(':').unwrap();
        assert_ne!(cid.parse(), Ok(u32::MAX), "{place}");
        assert_ne!(port.parse(), Ok(0), "{place}");
        let link = Vsock::default();
        let limit = Deadline::after(Duration::from_secs(60));
        let client = link
            .connect(acceptor.address(), &Properties::NONE, limit)
            .unwrap();
        let server = acceptor.accept().unwrap();
        assert_eq!(link.host_of(server.peer()), Some("1"), "{place}");
        assert!(link.stays_on_this_host(client.local(), client.peer()));
    }
}

#[test]
fn a_refused_connection_says_that_nothing_listens() {
    if is_skipped("a_refused_connection_says_that_nothing_listens") {
        return;
    }
    let gone = listen("local:0", &Properties::NONE).address().clone();
    let refused = Vsock::default().connect(&gone, &Properties::NONE, Deadline::NEVER);
    let error = refused.unwrap_err();
    assert!(
        matches!(&error.cause, Cause::Os(os) if os.kind() == ErrorKind::ConnectionRefused),
        "{error}"
    );
    assert_eq!(
        error.to_string(),
        "connecting: connection refused: nothing listens at that port"
    );
}

#[test]
fn a_machine_that_is_not_there_is_an_error_within_the_deadline() {
    if is_skipped("a_machine_that_is_not_there_is_an_error_within_the_deadline") {
        return;
    }
    let soon = Deadline::after(Duration::from_millis(50));
    let error = Vsock::default()
        .connect(&at("4000000000:5000"), &Properties::NONE, soon)
        .unwrap_err();
    assert!(
        matches!(error.cause, Cause::Os(_) | Cause::TimedOut),
        "{error}"
    );
}

#[test]
fn a_deadline_that_has_passed_connects_to_nothing() {
    let error = Vsock::default()
        .connect(
            &at("local:5000"),
            &Properties::NONE,
            Deadline::after(Duration::ZERO),
        )
        .unwrap_err();
    assert!(matches!(error.cause, Cause::TimedOut), "{error}");
}

#[test]
fn a_larger_receive_buffer_takes_more_before_it_is_read() {
    if is_skipped("a_larger_receive_buffer_takes_more_before_it_is_read") {
        return;
    }
    let octets = vec![7; 4 << 20];
    let taken = |size: &str| {
        let properties = Properties::from_iter([("receive_buffer", size)]);
        let acceptor = listen("local:0", &properties);
        let limit = Deadline::after(Duration::from_secs(60));
        let client = Vsock::default()
            .connect(acceptor.address(), &properties, limit)
            .unwrap();
        let _server = acceptor.accept().unwrap();
        let mut sent = 0;
        // What does not fit into the buffer is not sent, however often.
        loop {
            match client.send_now(&[IoSlice::new(&octets)]).unwrap() {
                0 => break sent,
                count => sent += count,
            }
        }
    };
    let (small, large) = (taken("8192"), taken("1048576"));
    assert_eq!(small, 8192);
    assert_eq!(large, 1 << 20);
}

#[test]
fn a_machine_without_a_loopback_says_which_modules_have_them() {
    match absent() {
        Some(why) => assert!(why.contains("modprobe vsock_loopback"), "{why}"),
        None => eprintln!("skipped: this kernel has a loopback"),
    }
}
