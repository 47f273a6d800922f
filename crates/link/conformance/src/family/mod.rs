//! Families of cases, and their common parts.

pub mod both;
pub mod datagram;
mod now;
pub mod stream;

use punctual_exec::Deadline;
use punctual_link::{Acceptor, Address, Connection, Link, Properties};
use std::io::IoSlice;
use std::sync::Arc;
use std::time::Duration;

pub(crate) const SOON: Duration = Duration::from_millis(30);
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

pub(crate) type Pair = (Arc<dyn Connection>, Arc<dyn Connection>, Box<dyn Acceptor>);

pub(crate) fn limit() -> Deadline {
    Deadline::after(LIMIT)
}

pub(crate) fn listen(link: &dyn Link, address: &Address) -> Box<dyn Acceptor> {
    link.listen(address, &Properties::NONE).unwrap()
}

pub(crate) fn connect(link: &dyn Link, acceptor: &dyn Acceptor) -> Arc<dyn Connection> {
    link.connect(acceptor.address(), &Properties::NONE, limit())
        .unwrap()
}

/// Makes two ends that know each other. Over datagrams the listening end learns of a peer by its
/// datagrams, so one is sent and received.
pub(crate) fn pair(link: &dyn Link, address: &Address) -> Pair {
    let acceptor = listen(link, address);
    let client = connect(link, &*acceptor);
    if link.guarantees().framing == punctual_link::Framing::Stream {
        let server = acceptor.accept().unwrap();
        return (client, server, acceptor);
    }
    let server = greet(&*client, &*acceptor);
    (client, server, acceptor)
}

/// Sends a first datagram from the client, and returns the acceptor's connection to the client.
pub(crate) fn greet(client: &dyn Connection, acceptor: &dyn Acceptor) -> Arc<dyn Connection> {
    send(client, b"greeting");
    let server = acceptor.accept().unwrap();
    assert_eq!(receive_exactly(&*server, 8), b"greeting");
    server
}

pub(crate) fn send(connection: &dyn Connection, octets: &[u8]) {
    connection.send(&[IoSlice::new(octets)], limit()).unwrap();
}

/// Receives exactly `length` bytes: of a stream, in however many pieces, or one datagram.
pub(crate) fn receive_exactly(connection: &dyn Connection, length: usize) -> Vec<u8> {
    let mut block = connection.lend(0);
    while block.len() < length {
        connection.receive(&mut block, length, limit()).unwrap();
    }
    block.to_vec()
}

/// Makes bytes that depend on their position. Copied, as counting up to 64 MiB without optimisation
/// would take most of the suite's time.
pub(crate) fn pattern(length: usize) -> Vec<u8> {
    let period: Vec<u8> = (0..251).collect();
    let mut octets = period.repeat(length.div_ceil(period.len()));
    octets.truncate(length);
    octets
}

pub(crate) fn wait_until(mut done: impl FnMut() -> bool) {
    let deadline = limit();
    while !done() {
        assert!(
            !deadline.has_passed(),
            "it did not come to pass within {LIMIT:?}"
        );
        std::thread::yield_now();
    }
}
