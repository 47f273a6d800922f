//! Multicast on the loopback interface. Where it has none, the tests are skipped.

use punctual_exec::Deadline;
use punctual_link::miop::{Miop, MiopOptions, NAME};
use punctual_link::{Acceptor, Address, Cause, Connection, Framing, Link, Properties};
use std::io::IoSlice;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

fn limit() -> Deadline {
    Deadline::after(Duration::from_secs(60))
}

/// Returns the address of a group that no other test uses, of this program or another.
fn group() -> Address {
    static NEXT: AtomicU8 = AtomicU8::new(1);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    let process = std::process::id().to_le_bytes();
    let place = format!("239.{}.{}.{next}:0", process[0], process[1]);
    Address::new(NAME, &place)
}

fn here() -> Properties {
    with(&[])
}

fn with(more: &[(&str, &str)]) -> Properties {
    let all = [("interface", "127.0.0.1")].iter().chain(more);
    all.copied().collect()
}

/// Joins a group of its own; `None`, said on standard error, where the machine has no multicast.
fn member(link: &Miop, properties: &Properties) -> Option<Box<dyn Acceptor>> {
    let acceptor = link.listen(&group(), properties).unwrap();
    let probe = link.connect(acceptor.address(), &here(), limit()).unwrap();
    match probe.send(&[IoSlice::new(b"probe")], limit()) {
        Ok(()) => Some(acceptor),
        Err(error) => {
            eprintln!("skipped: there is no multicast on the loopback interface: {error:?}");
            None
        }
    }
}

fn received(connection: &dyn Connection) -> Vec<u8> {
    let mut block = connection.lend(0);
    connection.receive(&mut block, 1, limit()).unwrap();
    block.to_vec()
}

/// Returns the message of the next source but the probe.
fn next(acceptor: &dyn Acceptor) -> (Arc<dyn Connection>, Vec<u8>) {
    loop {
        let source = acceptor.accept().unwrap();
        let message = received(&*source);
        if message != b"probe" {
            return (source, message);
        }
    }
}

#[test]
fn a_message_of_many_packets_arrives_at_each_member() {
    let link = Miop::new(MiopOptions::default());
    let Some(first) = member(&link, &here()) else {
        return;
    };
    let second = link.listen(first.address(), &here()).unwrap();
    let properties = with(&[("packet_size", "256"), ("pace_us", "50")]);
    let sender = link.connect(first.address(), &properties, limit()).unwrap();
    let message: Vec<u8> = (0..50_000u32).map(|at| (at % 251) as u8).collect();
    let (head, tail) = message.split_at(12);
    let parts = [IoSlice::new(head), IoSlice::new(tail)];
    sender.send(&parts, limit()).unwrap();
    for acceptor in [&first, &second] {
        let (source, arrived) = next(&**acceptor);
        assert_eq!(arrived, message);
        assert_eq!(source.peer(), sender.local());
    }
    let counts = link.counts();
    assert_eq!((counts.malformed, counts.incomplete), (0, 0));
    assert_eq!(counts.messages, 3);
}

#[test]
fn what_a_member_sends_goes_nowhere() {
    let link = Miop::new(MiopOptions::default());
    let Some(acceptor) = member(&link, &here()) else {
        return;
    };
    let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
    let to = acceptor.address().host_and_port().unwrap();
    let packet = b"MIOP\x10\x02\x00\x03\0\0\0\0\0\0\0\x01\0\0\0\x04abcdask";
    sender.send_to(packet, to).unwrap();
    let (source, message) = next(&*acceptor);
    assert_eq!(message, b"ask");
    source.send(&[IoSlice::new(b"answer")], limit()).unwrap();
    // What comes to the sender's port first was sent after the answer.
    let other = UdpSocket::bind("127.0.0.1:0").unwrap();
    other
        .send_to(b"marker", sender.local_addr().unwrap())
        .unwrap();
    let mut buffer = [0; 32];
    let length = sender.recv(&mut buffer).unwrap();
    assert_eq!(&buffer[..length], b"marker");
}

#[test]
fn datagrams_that_are_no_packets_and_those_to_other_addresses_make_no_source() {
    let link = Miop::new(MiopOptions::default());
    let Some(acceptor) = member(&link, &here()) else {
        return;
    };
    let (group, port) = acceptor.address().host_and_port().unwrap();
    let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
    for datagram in [
        &b""[..],
        b"MIOP",
        b"GIOP\x01\x02\0\0\0\0\0\0",
        &[0xff; 1000],
    ] {
        sender.send_to(datagram, (group, port)).unwrap();
    }
    // Unicast to the port does not arrive, also with a packet that would fit.
    let packet = b"MIOP\x10\x02\x00\x03\0\0\0\0\0\0\0\x01\0\0\0\x04abcdask";
    let unicast = UdpSocket::bind("127.0.0.1:0").unwrap();
    let _ = unicast.send_to(packet, ("127.0.0.1", port));
    sender.send_to(packet, (group, port)).unwrap();
    let (source, message) = next(&*acceptor);
    assert_eq!(message, b"ask");
    assert_eq!(
        source.peer().host_and_port().unwrap().1,
        sender.local_addr().unwrap().port()
    );
    let counts = link.counts();
    assert_eq!((counts.malformed, counts.messages), (4, 2));
}

#[test]
fn a_filter_keeps_senders_from_having_connections() {
    let link = Miop::new(MiopOptions::default());
    let link = link.accepting(Arc::new(|message| message.starts_with(b"y")));
    let Some(acceptor) = member(&link, &here()) else {
        return;
    };
    let connect = || link.connect(acceptor.address(), &here(), limit()).unwrap();
    connect().send(&[IoSlice::new(b"no")], limit()).unwrap();
    let wanted = connect();
    wanted.send(&[IoSlice::new(b"yes")], limit()).unwrap();
    let source = acceptor.accept().unwrap();
    assert_eq!(source.peer(), wanted.local());
    let counts = link.counts();
    // The probe is one of them.
    assert_eq!((counts.refused, counts.messages), (2, 1));
}

#[test]
fn limits_and_properties_hold_for_senders_too() {
    let link = Miop::new(MiopOptions {
        largest: 1000,
        ..MiopOptions::default()
    });
    assert_eq!(link.guarantees().largest, Some(1000));
    assert_eq!(link.guarantees().framing, Framing::Datagram);
    let Some(acceptor) = member(&link, &here()) else {
        return;
    };
    let sender = link.connect(acceptor.address(), &here(), limit()).unwrap();
    let error = sender.send(&[IoSlice::new(&[0; 1001])], limit());
    assert!(matches!(
        error.unwrap_err().error.cause,
        Cause::TooLarge(1000)
    ));
    sender.send(&[IoSlice::new(b"here")], limit()).unwrap();
    assert_eq!(next(&*acceptor).1, b"here");
}

#[test]
fn what_is_no_group_is_refused() {
    let link = Miop::default();
    for place in ["127.0.0.1:5555", "host:5555", "239.255.0.1", "[::1]:5"] {
        let address = Address::new(NAME, place);
        let listening = link.listen(&address, &here()).unwrap_err();
        let connecting = link.connect(&address, &here(), limit()).unwrap_err();
        for error in [listening, connecting] {
            assert!(matches!(error.cause, Cause::BadAddress(_)), "{error}");
        }
    }
    let none = with(&[("interface", "no-such-interface")]);
    assert!(link.listen(&group(), &none).is_err());
    assert!(
        link.connect(&group(), &with(&[("ttl", "x")]), limit())
            .is_err()
    );
}

#[test]
fn an_ipv6_group_of_a_link_is_joined_at_the_interface_that_is_named() {
    if let Err(error) = UdpSocket::bind("[::1]:0") {
        eprintln!("skipped: there is no IPv6: {error}");
        return;
    }
    let link = Miop::default();
    let group = Address::new(NAME, "[ff02::4d49:4f50]:0");
    // Packets of other hosts are dropped here, as IPv6 groups are joined for all.
    let lo = Properties::from_iter([("interface", "lo"), ("source", "::1")]);
    let acceptor = link.listen(&group, &lo).unwrap();
    let (host, _) = acceptor.address().host_and_port().unwrap();
    assert_eq!(host, "ff02::4d49:4f50");
    let connecting = link.connect(acceptor.address(), &Properties::NONE, limit());
    let listening = link.listen(&group, &Properties::NONE);
    for error in [connecting.unwrap_err(), listening.unwrap_err()] {
        let error = error.to_string();
        assert!(error.contains("the interface's name"), "{error}");
    }
    let none = Properties::from_iter([("interface", "no-such")]);
    let error = link.listen(&group, &none).unwrap_err().to_string();
    assert!(error.contains("network interface no-such"), "{error}");
}
