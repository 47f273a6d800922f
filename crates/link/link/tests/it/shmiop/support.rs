//! Common helpers of the tests of shared memory.

use punctual_cdr::{Lender, Segment};
use punctual_exec::Deadline;
use punctual_link::shmiop::{NAME, ShmOptions, Shmiop, Trust};
use punctual_link::{Acceptor, Address, Connection, Link, Properties};
use std::io::IoSlice;
use std::sync::Arc;
use std::time::Duration;

pub(crate) const LIMIT: Duration = Duration::from_secs(20);
pub(crate) const SOON: Duration = Duration::from_millis(30);
pub(crate) const MIB: usize = 1 << 20;

pub(crate) fn limit() -> Deadline {
    Deadline::after(LIMIT)
}

pub(crate) fn link(options: ShmOptions) -> Shmiop {
    Shmiop::new(options)
}

pub(crate) fn trusting(trust: Trust) -> Shmiop {
    link(ShmOptions {
        trust,
        ..ShmOptions::default()
    })
}

pub(crate) fn listen(link: &Shmiop) -> Box<dyn Acceptor> {
    link.listen(&Address::new(NAME, ""), &Properties::NONE)
        .unwrap()
}

pub(crate) fn pair(client: &Shmiop, server: &Shmiop) -> (Arc<dyn Connection>, Arc<dyn Connection>) {
    let acceptor = listen(server);
    let one = client.connect(acceptor.address(), &Properties::NONE, limit());
    (one.unwrap(), acceptor.accept().unwrap())
}

/// Sends `head` and then `octets`, by reference where they are lent.
pub(crate) fn send(connection: &dyn Connection, head: &[u8], octets: &[u8]) {
    let segment = lend(connection, octets);
    let octets = segment
        .as_ref()
        .map_or(octets, |segment| segment.as_slice());
    let parts = [IoSlice::new(head), IoSlice::new(octets)];
    connection.send(&parts, limit()).unwrap();
}

pub(crate) fn lend(connection: &dyn Connection, octets: &[u8]) -> Option<Arc<dyn Segment>> {
    let lender: &dyn Lender = connection.lender()?;
    if octets.len() < lender.threshold() {
        return None;
    }
    lender.lend(octets)
}

/// Copies bytes to memory from which all connections of the link lend.
pub(crate) fn share(connection: &dyn Connection, octets: &[u8]) -> Option<Arc<dyn Segment>> {
    connection.lender()?.share(octets)
}

pub(crate) fn receive(connection: &dyn Connection, len: usize) -> punctual_cdr::Block {
    let mut block = connection.lend(0);
    while block.full_len() < len {
        connection.receive(&mut block, len, limit()).unwrap();
    }
    assert_eq!(block.full_len(), len);
    block
}

pub(crate) fn contents(block: &punctual_cdr::Block) -> Vec<u8> {
    let mut octets = Vec::new();
    block.for_each_stretch(|stretch| octets.extend_from_slice(stretch));
    octets
}

/// Makes bytes that depend on position and seed. They repeat with a fixed period.
pub(crate) fn pattern(len: usize, seed: usize) -> Vec<u8> {
    const PERIOD: usize = 251 * 256;
    let period: Vec<u8> = (0..PERIOD.min(len))
        .map(|at| u8::try_from((at * 7 + seed * 13 + at / 251) % 256).unwrap())
        .collect();
    let mut octets = period.repeat(len.div_ceil(PERIOD));
    octets.truncate(len);
    octets
}
