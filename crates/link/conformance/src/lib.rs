#![allow(clippy::unwrap_used, clippy::missing_panics_doc)]
//! One suite that every reliable stream link passes.
//!
//! A link's test calls [`conformance!`] with an expression that makes the link and an address to
//! listen at; each case becomes a test of its own. A case panics when the link does not conform.

use punctual_exec::Deadline;
use punctual_link::{Acceptor, Address, Cause, Connection, Link, Pending, Phase, Properties};
use std::io::IoSlice;
use std::sync::Arc;
use std::time::Duration;

/// Makes a test of each case.
#[macro_export]
macro_rules! conformance {
    ($link:expr, $address:expr) => {
        $crate::conformance! { @cases $link, $address;
            what_is_sent_arrives_in_order
            parts_are_sent_as_one
            a_message_far_larger_than_any_buffer_arrives
            memory_grows_with_what_arrives_and_not_with_the_claim
            a_block_keeps_what_it_held_when_receiving_times_out
            receiving_reports_the_peers_end
            closing_wakes_whoever_receives
            a_reader_that_never_reads_times_the_sender_out
            pending_tells_quiet_from_data_from_the_end
            blocks_come_back_and_are_lent_again
            both_ends_know_each_other
            an_acceptor_that_is_closed_wakes_and_accepts_no_more
            nobody_listening_is_refused_with_a_reason
            an_address_of_another_kind_is_refused
        }
    };
    (@cases $link:expr, $address:expr; $($case:ident)+) => {
        $(#[test]
        fn $case() {
            $crate::$case(&$link, &$address);
        })+
    };
}

const SOON: Duration = Duration::from_millis(30);
const LIMIT: Duration = Duration::from_secs(20);

fn pair(
    link: &dyn Link,
    address: &Address,
) -> (Arc<dyn Connection>, Arc<dyn Connection>, Box<dyn Acceptor>) {
    let acceptor = link.listen(address, &Properties::NONE).unwrap();
    let client = link
        .connect(
            acceptor.address(),
            &Properties::NONE,
            Deadline::after(LIMIT),
        )
        .unwrap();
    let server = acceptor.accept().unwrap();
    (client, server, acceptor)
}

fn receive_all(connection: &dyn Connection, length: usize) -> Vec<u8> {
    let mut block = connection.lend(0);
    while block.len() < length {
        connection
            .receive(&mut block, length, Deadline::after(LIMIT))
            .unwrap();
    }
    block.to_vec()
}

fn pattern(length: usize) -> Vec<u8> {
    (0..length)
        .map(|i| u8::try_from(i % 251).unwrap())
        .collect()
}

/// Ten messages, received as they were sent.
pub fn what_is_sent_arrives_in_order(link: &dyn Link, address: &Address) {
    let (client, server, _acceptor) = pair(link, address);
    for number in 0..10u8 {
        client
            .send(&[IoSlice::new(&[number; 100])], Deadline::after(LIMIT))
            .unwrap();
    }
    let expected: Vec<u8> = (0..10u8).flat_map(|number| [number; 100]).collect();
    assert_eq!(receive_all(&*server, 1000), expected);
}

/// Parts of a gather, empty ones among them.
pub fn parts_are_sent_as_one(link: &dyn Link, address: &Address) {
    let (client, server, _acceptor) = pair(link, address);
    let parts: Vec<IoSlice<'_>> = [&b"one"[..], b"", b"two", b"", b"three"]
        .map(IoSlice::new)
        .into();
    client.send(&parts, Deadline::after(LIMIT)).unwrap();
    assert_eq!(receive_all(&*server, 11), b"onetwothree");
}

/// Eight MiB in one send, of one part and of many.
pub fn a_message_far_larger_than_any_buffer_arrives(link: &dyn Link, address: &Address) {
    let (client, server, _acceptor) = pair(link, address);
    let octets = pattern(8 << 20);
    let sent = octets.clone();
    let sender = std::thread::spawn(move || {
        client
            .send(&[IoSlice::new(&sent)], Deadline::after(LIMIT))
            .unwrap();
        let parts: Vec<IoSlice<'_>> = sent.chunks(1 << 19).map(IoSlice::new).collect();
        client.send(&parts, Deadline::after(LIMIT)).unwrap();
        client
    });
    let received = receive_all(&*server, octets.len() * 2);
    assert_eq!(received.len(), octets.len() * 2);
    assert!(received.chunks(octets.len()).all(|half| half == octets));
    drop(sender.join().unwrap());
}

/// A claim of 1 GiB with ten octets behind it.
pub fn memory_grows_with_what_arrives_and_not_with_the_claim(link: &dyn Link, address: &Address) {
    let (client, server, _acceptor) = pair(link, address);
    client
        .send(&[IoSlice::new(b"ten octets")], Deadline::after(LIMIT))
        .unwrap();
    let mut block = server.lend(0);
    server
        .receive(&mut block, 1 << 30, Deadline::after(LIMIT))
        .unwrap();
    assert!(
        block.capacity() < 1 << 20,
        "{} octets for ten",
        block.capacity()
    );
}

/// A time-out in mid-message, after which receiving goes on.
pub fn a_block_keeps_what_it_held_when_receiving_times_out(link: &dyn Link, address: &Address) {
    let (client, server, _acceptor) = pair(link, address);
    client
        .send(&[IoSlice::new(b"half")], Deadline::after(LIMIT))
        .unwrap();
    let mut block = server.lend(0);
    server
        .receive(&mut block, 8, Deadline::after(LIMIT))
        .unwrap();
    let error = server
        .receive(&mut block, 8, Deadline::after(SOON))
        .unwrap_err();
    assert!(matches!(error.cause, Cause::TimedOut), "{error}");
    assert_eq!(error.phase, Phase::Receive);
    assert_eq!(&*block, b"half");
    client
        .send(&[IoSlice::new(b"rest")], Deadline::after(LIMIT))
        .unwrap();
    server.receive(&mut block, 8, Deadline::NEVER).unwrap();
    assert_eq!(&*block, b"halfrest");
}

/// What was sent before the end still arrives.
pub fn receiving_reports_the_peers_end(link: &dyn Link, address: &Address) {
    let (client, server, _acceptor) = pair(link, address);
    client
        .send(&[IoSlice::new(b"last words")], Deadline::after(LIMIT))
        .unwrap();
    client.close();
    assert_eq!(receive_all(&*server, 10), b"last words");
    let error = server
        .receive(&mut server.lend(0), 1, Deadline::after(LIMIT))
        .unwrap_err();
    assert!(matches!(error.cause, Cause::Closed), "{error}");
}

/// From another thread, without a deadline.
pub fn closing_wakes_whoever_receives(link: &dyn Link, address: &Address) {
    let (_client, server, _acceptor) = pair(link, address);
    let receiving = server.clone();
    let thread = std::thread::spawn(move || {
        let mut block = receiving.lend(0);
        receiving.receive(&mut block, 1, Deadline::NEVER)
    });
    server.close();
    assert!(thread.join().unwrap().is_err());
}

/// The deadline ends it, and it tells how much is under way.
pub fn a_reader_that_never_reads_times_the_sender_out(link: &dyn Link, address: &Address) {
    let (client, _server, _acceptor) = pair(link, address);
    let octets = pattern(64 << 20);
    let failed = client
        .send(&[IoSlice::new(&octets)], Deadline::after(SOON))
        .unwrap_err();
    assert!(matches!(failed.error.cause, Cause::TimedOut), "{failed}");
    assert_eq!(failed.error.phase, Phase::Send);
    assert!(failed.sent > 0 && failed.sent < octets.len());
}

/// In all three states.
pub fn pending_tells_quiet_from_data_from_the_end(link: &dyn Link, address: &Address) {
    let (client, server, _acceptor) = pair(link, address);
    assert_eq!(server.pending(), Pending::Nothing);
    client
        .send(&[IoSlice::new(b"x")], Deadline::after(LIMIT))
        .unwrap();
    wait_until(|| server.pending() == Pending::Data);
    assert_eq!(receive_all(&*server, 1), b"x");
    client.close();
    wait_until(|| server.pending() == Pending::End);
}

/// Without a new allocation: the same memory.
pub fn blocks_come_back_and_are_lent_again(link: &dyn Link, address: &Address) {
    let (client, _server, _acceptor) = pair(link, address);
    let block = client.lend(100);
    assert!(block.is_empty() && block.capacity() >= 100);
    let memory = block.as_slice().as_ptr();
    drop(block);
    assert_eq!(client.lend(100).as_slice().as_ptr(), memory);
    assert!(client.lend(1 << 20).capacity() >= 1 << 20);
}

/// Each end's peer is the other's own address.
pub fn both_ends_know_each_other(link: &dyn Link, address: &Address) {
    let (client, server, acceptor) = pair(link, address);
    assert_eq!(client.peer(), acceptor.address());
    assert_eq!(server.peer(), client.local());
    assert_eq!(server.local(), client.peer());
    assert_eq!(acceptor.address().link(), link.name());
}

/// While somebody waits in it.
pub fn an_acceptor_that_is_closed_wakes_and_accepts_no_more(link: &dyn Link, address: &Address) {
    let acceptor: Arc<dyn Acceptor> = link.listen(address, &Properties::NONE).unwrap().into();
    let accepting = acceptor.clone();
    let thread = std::thread::spawn(move || accepting.accept().map(drop));
    acceptor.close();
    assert!(matches!(
        thread.join().unwrap().unwrap_err().cause,
        Cause::Closed
    ));
    assert!(matches!(
        acceptor.accept().unwrap_err().cause,
        Cause::Closed
    ));
    assert!(
        link.connect(
            acceptor.address(),
            &Properties::NONE,
            Deadline::after(LIMIT)
        )
        .is_err()
    );
}

/// With the operating system's reason.
pub fn nobody_listening_is_refused_with_a_reason(link: &dyn Link, address: &Address) {
    let gone = {
        let acceptor = link.listen(address, &Properties::NONE).unwrap();
        acceptor.address().clone()
    };
    let error = link
        .connect(&gone, &Properties::NONE, Deadline::after(LIMIT))
        .unwrap_err();
    assert_eq!(error.phase, Phase::Connect);
    assert!(matches!(error.cause, Cause::Os(_)), "{error}");
}

/// Before anything is done.
pub fn an_address_of_another_kind_is_refused(link: &dyn Link, _address: &Address) {
    let strange = Address::new(link.name(), "\u{1}nonsense");
    assert!(
        link.connect(&strange, &Properties::NONE, Deadline::after(LIMIT))
            .is_err()
    );
    assert!(link.listen(&strange, &Properties::NONE).is_err());
}

fn wait_until(mut done: impl FnMut() -> bool) {
    let deadline = Deadline::after(LIMIT);
    while !done() {
        assert!(
            !deadline.has_passed(),
            "it did not come to pass within {LIMIT:?}"
        );
        std::thread::yield_now();
    }
}
