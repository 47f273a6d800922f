//! Datagrams of anyone: forged, truncated, repeated, and packets of messages that announce far too much.

use super::support::{LIMIT, Server, ask, group_address, group_at, is_absent, orb, seen_by, tell};
use crate::support::{pause, watchdog};
use punctual::SystemExceptionKind;
use punctual_giop::{MessageKind, RequestHeader, ResponseFlags, ServiceContexts, Target};
use punctual_ior::{IiopProfile, Ior, tags};
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

/// Sender of raw packets.
struct Sender {
    socket: UdpSocket,
    group: SocketAddr,
    next: u32,
}

impl Sender {
    fn new(group: SocketAddr) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        Self {
            socket,
            group,
            next: 0,
        }
    }

    fn raw(&self, datagram: &[u8]) {
        self.socket.send_to(datagram, self.group).unwrap();
    }

    /// Sends a packet of message `id`, in big-endian byte order.
    fn packet(&self, id: u32, (number, count): (u32, u32), octets: &[u8]) {
        let mut packet = b"MIOP\x10".to_vec();
        packet.push(if number + 1 == count { 2 } else { 0 });
        packet.extend((octets.len() as u16).to_be_bytes());
        for number in [number, count, 4, id] {
            packet.extend(number.to_be_bytes());
        }
        packet.extend(octets);
        self.raw(&packet);
    }

    /// Sends a message of one packet.
    fn message(&mut self, octets: &[u8]) {
        self.next += 1;
        self.packet(self.next, (0, 1), octets);
    }
}

/// Returns a request, or another message with its header, for a group.
fn message(
    kind: MessageKind,
    operation: &str,
    response: ResponseFlags,
    target: Target<'_>,
) -> Vec<u8> {
    use punctual_cdr::{Block, ByteOrder, Coding, Encoder, GiopVersion, Limits, Marshal};
    let limits = Limits::default();
    let coding = Coding::new(GiopVersion::V1_2, &limits);
    let mut out = Encoder::new(Block::default(), ByteOrder::Big, coding);
    punctual_giop::begin_message(&mut out, kind);
    let header = RequestHeader {
        request_id: 7,
        response,
        target,
        operation,
        contexts: ServiceContexts::new(&[]),
    };
    header.encode(&mut out).unwrap();
    punctual_giop::align_body(&mut out);
    "forged".marshal(&mut out).unwrap();
    let mut block = out.into_block();
    punctual_giop::finish_message(&mut block).unwrap();
    block.to_vec()
}

#[test]
fn nothing_answers_a_packet_whatever_is_in_it() {
    let _watchdog = watchdog(LIMIT);
    if is_absent() {
        return;
    }
    let server = Server::new();
    let group = group_at(&server.orb, group_address(), 1);
    server.member("a", &group);
    let profile = group.ior().profiles[0].clone();
    let at = group.ior().profiles[0].decode().unwrap();
    let punctual_ior::Profile::Uipmc(at) = at else {
        panic!("{at:?}")
    };
    let mut sender = Sender::new(format!("{}:{}", at.address, at.port).parse().unwrap());
    let target = || Target::Profile {
        tag: profile.tag,
        data: &profile.data,
    };
    let asking = ResponseFlags::SYNC_WITH_TARGET;
    // Those that are served, though they ask for an answer: with results, exceptions, and too few arguments.
    let request = MessageKind::Request;
    for operation in ["tell", "ask", "unknown", "refuse", "_non_existent"] {
        sender.message(&message(request, operation, asking, target()));
    }
    sender.message(&message(
        request,
        "tell",
        ResponseFlags::SYNC_WITH_SERVER,
        target(),
    ));
    // Those that are not.
    for kind in [
        MessageKind::LocateRequest,
        MessageKind::CancelRequest,
        MessageKind::CloseConnection,
        MessageKind::MessageError,
        MessageKind::Reply,
        MessageKind::Fragment,
    ] {
        sender.message(&message(kind, "tell", asking, target()));
    }
    sender.message(&message(request, "tell", asking, Target::ObjectKey(b"key")));
    sender.message(b"GIOP\x07\x07\0\0\0\0\0\0");
    sender.message(&[]);
    sender.message(&[0xff; 1000]);
    for datagram in [&b""[..], b"MIOP", b"GIOP", &[0; 400]] {
        sender.raw(datagram);
    }
    let counts = || server.multicast().counts();
    let all = server.heard.wait_for(3);
    assert_eq!(all, ["a forged", "a refuses", "a forged"]);
    while counts().datagrams < 6 + 6 + 4 + 4 {
        pause();
    }
    let counts = counts();
    assert_eq!((counts.messages, counts.refused), (6, 10));
    assert_eq!(counts.malformed, 4);
    assert_eq!(server.orb.client_connections(), 1);
    let time = Some(Duration::from_millis(300));
    sender.socket.set_read_timeout(time).unwrap();
    let mut answer = [0; 64];
    assert!(sender.socket.recv(&mut answer).is_err(), "{answer:?}");
    server.orb.shutdown(true).unwrap();
    // Neither does the end of the ORB say goodbye.
    assert!(sender.socket.recv(&mut answer).is_err(), "{answer:?}");
}

#[test]
fn repeated_forged_and_endless_packets_change_nothing_for_others() {
    let _watchdog = watchdog(LIMIT);
    if is_absent() {
        return;
    }
    let (server, client) = (Server::new(), orb());
    let address = group_address();
    let group = group_at(&server.orb, address, 1);
    server.member("a", &group);
    let mut sender = Sender::new(address);
    let profile = group.ior().profiles[0].clone();
    let target = Target::Profile {
        tag: profile.tag,
        data: &profile.data,
    };
    let told = message(MessageKind::Request, "tell", ResponseFlags::NONE, target);
    // One message, each packet several times, the last one also after the end.
    let (head, tail) = told.split_at(50);
    for (number, octets) in [(1, tail), (1, tail), (0, head), (0, head), (1, tail)] {
        sender.packet(1000, (number, 2), octets);
    }
    assert_eq!(server.heard.wait_for(1), ["a forged"]);
    let counts = || server.multicast().counts();
    // Messages that announce a thousand million packets, or never end, of more senders than have room.
    for _ in 0..20 {
        let other = Sender::new(address);
        let before = counts().datagrams;
        other.packet(1, (0, 1_000_000_000), head);
        for id in 2..30 {
            other.packet(id, (0, 3), head);
            other.packet(id, (1, 4), head);
        }
        // Not so many at once that the kernel drops some.
        while counts().datagrams < before + 1 + 2 * 28 {
            pause();
        }
    }
    for length in [13, 40, told.len() - 1] {
        sender.message(&told[..length]);
    }
    // Each value of a packet's first octets, with a message that would be served.
    for at in 0..20 {
        let mut packet = b"MIOP\x10\x02".to_vec();
        packet.extend((told.len() as u16).to_be_bytes());
        for number in [0, 1, 4, 77] {
            packet.extend(u32::to_be_bytes(number));
        }
        packet.extend(&told);
        packet[at] ^= 0x80;
        sender.raw(&packet);
    }
    tell(&seen_by(&client, &group), "in between").unwrap();
    let heard = || server.heard.all();
    while !heard().contains(&"a in between".to_owned()) {
        pause();
    }
    // Flags but the two known ones are ignored: that message is one more.
    assert!(heard().len() <= 3, "{:?}", heard());
    assert!(counts().repeated >= 3, "{:?}", counts());
    assert!(counts().too_large >= 20, "{:?}", counts());
    assert!(counts().malformed >= 20 * 28, "{:?}", counts());
    // What is never complete is given up, and its packets are counted.
    while counts().incomplete + counts().displaced < 20 * 28 {
        pause();
    }
    let counts = counts();
    assert!(counts.displaced > 0, "{counts:?}");
    assert!(counts.lost_packets >= counts.incomplete + counts.displaced);
    client.shutdown(true).unwrap();
    server.orb.shutdown(true).unwrap();
}

#[test]
fn the_key_of_a_group_gives_no_reply_over_connections() {
    let _watchdog = watchdog(LIMIT);
    if is_absent() {
        return;
    }
    let (server, client) = (Server::new(), orb());
    let group = group_at(&server.orb, group_address(), 1);
    server.member("a", &group);
    let (object, _) = server.object("b");
    let own = object.ior().iiop_profiles().next().unwrap().unwrap();
    // As a group's profile would be inside of the process that receives it.
    let forged = IiopProfile {
        object_key: [b"\0\0MIOP\0\0", &group.ior().profiles[0].data[..]].concat(),
        ..own
    };
    let profile = forged.to_tagged(punctual_cdr::ByteOrder::Big).unwrap();
    assert_eq!(profile.tag, tags::profile::INTERNET_IOP);
    let ior = Ior {
        type_id: String::new(),
        profiles: vec![profile],
    };
    let forged = client.string_to_object(&ior.to_string()).unwrap();
    let error = ask(&forged).unwrap_err();
    assert_eq!(error.kind(), SystemExceptionKind::ObjectNotExist);
    assert_eq!(ask(&seen_by(&client, &object)).unwrap(), "b");
    client.shutdown(true).unwrap();
    server.orb.shutdown(true).unwrap();
}
