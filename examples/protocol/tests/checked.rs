#![allow(clippy::unwrap_used)]
//! Checked link, linked statically: it passes the tests of every link, and delivers no wrong data.

use punctual_example_protocol::{Checked, frame};
use punctual_exec::Deadline;
use punctual_link::{Address, Cause, Connection, Link, Pending, Properties};
use std::io::{IoSlice, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

punctual_link_conformance::conformance!(stream: Checked::new(), anywhere());

fn anywhere() -> Address {
    Address::new("checked", "127.0.0.1:0")
}

/// Makes a connection with a peer that can write any bytes.
fn with_raw_peer() -> (Arc<dyn Connection>, TcpStream) {
    let acceptor = Checked.listen(&anywhere(), &Properties::NONE).unwrap();
    let peer = TcpStream::connect(acceptor.address().place()).unwrap();
    (acceptor.accept().unwrap(), peer)
}

fn framed(payload: &[u8]) -> Vec<u8> {
    [&frame::header([payload]), payload].concat()
}

/// Receives until the end; returns the data and the cause of the end.
fn receive_to_the_end(connection: &dyn Connection) -> (Vec<u8>, Cause) {
    let limit = Deadline::after(Duration::from_secs(20));
    let mut block = connection.lend(0);
    loop {
        if let Err(error) = connection.receive(&mut block, usize::MAX, limit) {
            return (block.to_vec(), error.cause);
        }
    }
}

#[test]
fn a_corrupted_frame_ends_the_connection_and_what_was_right_before_it_arrives() {
    let (connection, mut peer) = with_raw_peer();
    let mut wrong = framed(b"wrong");
    *wrong.last_mut().unwrap() ^= 1;
    let octets = [framed(b"right"), wrong, framed(b"never seen")].concat();
    peer.write_all(&octets).unwrap();
    let (received, cause) = receive_to_the_end(&*connection);
    assert_eq!(received, b"right");
    assert!(
        matches!(cause, Cause::BadPeer("a frame whose checksum is wrong")),
        "{cause}"
    );
    // The peer is cut off: by an end, or by a reset if it had data unread.
    assert!(matches!(peer.read(&mut [0]), Ok(0) | Err(_)));
    let (_, again) = receive_to_the_end(&*connection);
    assert!(matches!(again, Cause::BadPeer(_)), "{again}");
}

#[test]
fn a_length_that_cannot_be_ends_the_connection_before_anything_is_kept() {
    for (length, said) in [
        (0, "an empty frame"),
        (u32::MAX, "a frame longer than 65,536 octets"),
        (65_537, "a frame longer than 65,536 octets"),
    ] {
        let (connection, mut peer) = with_raw_peer();
        peer.write_all(&length.to_be_bytes()).unwrap();
        peer.write_all(&[0; 4]).unwrap();
        let (received, cause) = receive_to_the_end(&*connection);
        assert!(received.is_empty());
        assert!(
            matches!(cause, Cause::BadPeer(text) if text == said),
            "{cause}"
        );
    }
}

#[test]
fn nothing_of_a_frame_is_delivered_before_all_of_it_is_there() {
    let (connection, mut peer) = with_raw_peer();
    let octets = framed(b"whole");
    let (half, rest) = octets.split_at(octets.len() - 1);
    peer.write_all(half).unwrap();
    let mut block = connection.lend(0);
    let soon = Deadline::after(Duration::from_millis(30));
    let error = connection.receive(&mut block, 5, soon).unwrap_err();
    assert!(matches!(error.cause, Cause::TimedOut), "{error}");
    assert!(block.is_empty());
    peer.write_all(rest).unwrap();
    connection.receive(&mut block, 5, Deadline::NEVER).unwrap();
    assert_eq!(&*block, b"whole");
}

#[test]
fn a_peer_that_trickles_does_not_hold_a_receiver_beyond_its_deadline() {
    let (connection, mut peer) = with_raw_peer();
    let octets = framed(&vec![7; frame::LONGEST]);
    let trickle = std::thread::spawn(move || {
        // Writing ends with the frame, or when the peer is cut off.
        octets.iter().take(octets.len() - 1).all(|octet| {
            std::thread::yield_now();
            peer.write_all(&[*octet]).is_ok()
        })
    });
    let soon = Deadline::after(Duration::from_millis(30));
    let mut block = connection.lend(0);
    let error = connection.receive(&mut block, 1, soon).unwrap_err();
    assert!(matches!(error.cause, Cause::TimedOut), "{error}");
    connection.close();
    drop(connection);
    trickle.join().unwrap();
}

#[test]
fn an_end_in_the_middle_of_a_frame_is_an_end() {
    let (connection, mut peer) = with_raw_peer();
    peer.write_all(&framed(b"cut short")[..12]).unwrap();
    drop(peer);
    let (received, cause) = receive_to_the_end(&*connection);
    assert!(received.is_empty());
    assert!(matches!(cause, Cause::Closed), "{cause}");
    assert_eq!(connection.pending(), Pending::End);
}

#[test]
fn what_goes_out_is_framed() {
    let (connection, mut peer) = with_raw_peer();
    let parts = [&b"two "[..], b"parts"].map(IoSlice::new);
    connection.send(&parts, Deadline::NEVER).unwrap();
    connection.close();
    let mut octets = Vec::new();
    peer.read_to_end(&mut octets).unwrap();
    assert_eq!(octets, framed(b"two parts"));
}

#[test]
fn properties_are_read_and_unknown_ones_refused() {
    let listen = |key, value| Checked.listen(&anywhere(), &Properties::from_iter([(key, value)]));
    assert!(listen("no_delay", "false").is_ok());
    let error = listen("no_delay", "maybe").unwrap_err().to_string();
    assert_eq!(
        error,
        "listening: invalid property `no_delay=maybe`: expected true or false"
    );
    let error = listen("keep_alive", "true").unwrap_err().to_string();
    assert_eq!(
        error,
        "listening: invalid property `keep_alive=true`: expected no_delay"
    );
}
