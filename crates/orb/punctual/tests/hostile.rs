//! Peers that break the protocol: answered as GIOP says or closed, one line logged, everybody else
//! served, and no growth.
#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use punctual::stub::{Block, ByteOrder, Coding, Encoder};
use punctual::{OrbConfig, SystemExceptionKind as Kind};
use punctual_giop::{
    MessageHeader, MessageKind, ReplyHeader, ReplyStatus, RequestHeader, ResponseFlags,
    ServiceContexts, SystemExceptionBody, Target, align_body, begin_message, finish_message,
    message_decoder,
};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Mutex, Once};
use std::time::Duration;
use support::{Pair, Random, object_key, watchdog};
use tracing_subscriber::fmt::MakeWriter;

const LIMIT: Duration = Duration::from_secs(60);

/// All that was logged, by any test of this file; a test looks for its own peer's port.
static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static LOGGING: Once = Once::new();

struct Log;

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        LOG.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        Log
    }
}

fn pair() -> Pair {
    pair_with(|_| {})
}

fn pair_with(server: impl FnOnce(&mut OrbConfig)) -> Pair {
    LOGGING.call_once(|| {
        tracing_subscriber::fmt()
            .with_writer(Log)
            .with_ansi(false)
            .init();
    });
    Pair::with(server, |_| {})
}

/// A peer that writes octets of its own.
struct Peer {
    stream: TcpStream,
}

impl Peer {
    fn of(pair: &Pair) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", pair.port)).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        Self { stream }
    }

    fn send(&mut self, octets: &[u8]) -> &mut Self {
        self.stream.write_all(octets).unwrap();
        self
    }

    /// The kind of the next message, and the whole of it.
    fn receive(&mut self) -> (MessageKind, Vec<u8>) {
        let mut octets = vec![0; MessageHeader::LEN];
        self.stream.read_exact(&mut octets).unwrap();
        let header = MessageHeader::parse(octets.first_chunk().unwrap()).unwrap();
        octets.resize(header.message_len(), 0);
        self.stream
            .read_exact(&mut octets[MessageHeader::LEN..])
            .unwrap();
        (header.kind, octets)
    }

    /// Takes what is left, and asserts that the server then closes.
    fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        match self.stream.read_to_end(&mut rest) {
            Ok(_) => {}
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset),
        }
        rest
    }

    /// Asserts that the server answers with MessageError and closes.
    fn is_refused(&mut self) {
        let (kind, _) = self.receive();
        assert_eq!(kind, MessageKind::MessageError);
        assert!(self.rest().is_empty());
    }

    /// The exception that the next message, a reply, holds.
    fn exception(&mut self) -> Kind {
        let (kind, octets) = self.receive();
        assert_eq!(kind, MessageKind::Reply);
        let header = MessageHeader::parse(octets.first_chunk().unwrap()).unwrap();
        let mut decoder = message_decoder(&header, &octets, Coding::default());
        let reply = ReplyHeader::decode(&mut decoder).unwrap();
        assert_eq!(reply.status, ReplyStatus::SystemException);
        let body = SystemExceptionBody::decode(&mut decoder).unwrap();
        Kind::from_repository_id(body.repository_id).unwrap()
    }

    fn port(&self) -> u16 {
        self.stream.local_addr().unwrap().port()
    }
}

/// Asserts that something with all of `parts` was logged about this peer.
fn is_logged(peer: u16, parts: &[&str]) {
    let marker = format!(":{peer}");
    for _ in 0..200 {
        let log = String::from_utf8_lossy(&LOG.lock().unwrap()).into_owned();
        let mut lines = log.lines().filter(|line| line.contains(&marker));
        if lines.any(|line| parts.iter().all(|part| line.contains(part))) {
            return;
        }
        // The line is written by the server's thread, after its answer.
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("nothing with {parts:?} was logged about {peer}");
}

/// A GIOP 1.2 request with the given arguments.
fn request(key: &[u8], operation: &str, arguments: impl FnOnce(&mut Encoder<'_>)) -> Vec<u8> {
    let mut out = Encoder::new(Block::default(), ByteOrder::Big, Coding::default());
    begin_message(&mut out, MessageKind::Request);
    RequestHeader {
        request_id: 2,
        response: ResponseFlags::SYNC_WITH_TARGET,
        target: Target::ObjectKey(key),
        operation,
        contexts: ServiceContexts::none(),
    }
    .encode(&mut out)
    .unwrap();
    align_body(&mut out);
    arguments(&mut out);
    let mut block = out.into_block();
    finish_message(&mut block).unwrap();
    block.into_vec()
}

#[test]
fn wrong_magic_is_a_message_error() {
    let _watchdog = watchdog(LIMIT);
    let pair = pair();
    let mut peer = Peer::of(&pair);
    peer.send(b"GET / HTTP/1.1\r\n\r\n").is_refused();
    is_logged(peer.port(), &["GIOP", "MessageError"]);
    assert_eq!(pair.echo.long(1).unwrap(), 1);
}

#[test]
fn a_wrong_version_is_a_message_error() {
    let _watchdog = watchdog(LIMIT);
    let pair = pair();
    for version in [[1, 9], [3, 0], [0, 0]] {
        let mut peer = Peer::of(&pair);
        peer.send(b"GIOP")
            .send(&version)
            .send(&[0, 0, 0, 0, 0, 0])
            .is_refused();
        is_logged(peer.port(), &["not supported"]);
    }
    assert_eq!(pair.echo.long(1).unwrap(), 1);
}

#[test]
fn an_unknown_kind_of_message_is_a_message_error() {
    let _watchdog = watchdog(LIMIT);
    let pair = pair();
    let mut peer = Peer::of(&pair);
    peer.send(b"GIOP\x01\x02\x00\x2a\x00\x00\x00\x00")
        .is_refused();
    is_logged(peer.port(), &["MessageError"]);
    assert_eq!(pair.echo.long(1).unwrap(), 1);
}

#[test]
fn a_size_of_4_gib_is_refused_before_anything_is_allocated() {
    let _watchdog = watchdog(LIMIT);
    let pair = pair();
    let mut peer = Peer::of(&pair);
    peer.send(b"GIOP\x01\x02\x00\x00\xff\xff\xff\xff")
        .is_refused();
    is_logged(peer.port(), &["limit"]);
    assert_eq!(pair.echo.long(1).unwrap(), 1);
}

#[test]
fn a_fragment_without_a_start_is_a_message_error() {
    let _watchdog = watchdog(LIMIT);
    let pair = pair();
    for version in [1, 2] {
        let mut peer = Peer::of(&pair);
        let fragment = [
            b"GIOP\x01",
            &[version][..],
            b"\x00\x07\x00\x00\x00\x08\0\0\0\x02abcd",
        ];
        peer.send(&fragment.concat()).is_refused();
        is_logged(peer.port(), &["ragment"]);
    }
    assert_eq!(pair.echo.long(1).unwrap(), 1);
}

#[test]
fn a_servers_own_messages_are_refused_from_a_client() {
    let _watchdog = watchdog(LIMIT);
    let pair = pair();
    for kind in [1, 4] {
        let mut peer = Peer::of(&pair);
        let reply = [
            b"GIOP\x01\x02\x00",
            &[kind][..],
            b"\x00\x00\x00\x0c",
            &[0; 12],
        ]
        .concat();
        peer.send(&reply).is_refused();
        is_logged(peer.port(), &["server's to send"]);
    }
    assert_eq!(pair.echo.long(1).unwrap(), 1);
}

#[test]
fn a_truncated_message_ends_its_own_connection_only() {
    let _watchdog = watchdog(LIMIT);
    let pair = pair();
    let whole = request(&object_key(&pair), "long", |out| out.put_i32(1));
    for length in 1..whole.len() {
        let mut peer = Peer::of(&pair);
        peer.send(&whole[..length]);
        peer.stream.shutdown(Shutdown::Write).unwrap();
        assert!(
            peer.rest().is_empty(),
            "nothing is answered to {length} octets"
        );
        is_logged(peer.port(), &["in the middle of a message"]);
    }
    assert_eq!(pair.echo.long(1).unwrap(), 1);
}

#[test]
fn a_header_that_does_not_decode_is_a_message_error() {
    let _watchdog = watchdog(LIMIT);
    let pair = pair();
    let whole = request(&object_key(&pair), "long", |out| out.put_i32(1));
    // The length of the object key, far beyond the message.
    let mut wild = whole.clone();
    wild[24..28].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff]);
    // A disposition that nobody knows.
    let mut addressed = whole.clone();
    addressed[20..22].copy_from_slice(&[0, 9]);
    // Nothing at all behind the message's header.
    let empty = b"GIOP\x01\x02\x00\x00\x00\x00\x00\x00".to_vec();
    for message in [wild, addressed, empty] {
        let mut peer = Peer::of(&pair);
        peer.send(&message).is_refused();
        is_logged(peer.port(), &["header of a Request"]);
    }
    assert_eq!(pair.echo.long(1).unwrap(), 1);
}

#[test]
fn a_huge_or_negative_sequence_length_is_a_marshal_error() {
    let _watchdog = watchdog(LIMIT);
    let pair = pair();
    for length in [0xffff_ffff, 0x8000_0000, 0x0400_0000, 1000] {
        let mut peer = Peer::of(&pair);
        peer.send(&request(&object_key(&pair), "octets", |out| {
            out.put_u32(length)
        }));
        assert_eq!(peer.exception(), Kind::Marshal);
        // The connection goes on.
        peer.send(&request(&object_key(&pair), "long", |out| out.put_i32(1)));
        assert_eq!(peer.receive().0, MessageKind::Reply);
        is_logged(peer.port(), &["octets", "MARSHAL"]);
    }
    assert_eq!(pair.echo.long(1).unwrap(), 1);
}

#[test]
fn an_unknown_operation_is_a_bad_operation() {
    let _watchdog = watchdog(LIMIT);
    let pair = pair();
    let mut peer = Peer::of(&pair);
    peer.send(&request(&object_key(&pair), "no_such_operation", |_| {}));
    assert_eq!(peer.exception(), Kind::BadOperation);
    is_logged(peer.port(), &["no_such_operation", "BAD_OPERATION"]);
}

#[test]
fn an_unknown_object_key_does_not_exist() {
    let _watchdog = watchdog(LIMIT);
    let pair = pair();
    let mut forged = object_key(&pair);
    *forged.last_mut().unwrap() ^= 1;
    for key in [&b""[..], b"NameService", &[0xff; 300], &forged] {
        let mut peer = Peer::of(&pair);
        peer.send(&request(key, "long", |out| out.put_i32(1)));
        assert_eq!(peer.exception(), Kind::ObjectNotExist);
        is_logged(peer.port(), &["OBJECT_NOT_EXIST"]);
    }
}

#[test]
fn a_peer_that_connects_and_says_nothing_is_closed() {
    let _watchdog = watchdog(LIMIT);
    let pair = pair_with(|config| {
        config.timeouts.first_message = Some(Duration::from_millis(100));
    });
    let mut peer = Peer::of(&pair);
    assert!(peer.rest().is_empty());
    is_logged(peer.port(), &["said nothing"]);
    assert_eq!(pair.echo.long(1).unwrap(), 1);
}

#[test]
fn a_peer_that_stalls_in_mid_message_is_closed() {
    let _watchdog = watchdog(LIMIT);
    let pair = pair_with(|config| config.timeouts.message = Some(Duration::from_millis(100)));
    let mut peer = Peer::of(&pair);
    peer.send(b"GIOP\x01\x02");
    assert!(peer.rest().is_empty());
    is_logged(peer.port(), &["too long"]);
    assert_eq!(pair.echo.long(1).unwrap(), 1);
}

#[test]
fn a_peer_that_trickles_a_message_is_closed_in_time() {
    let _watchdog = watchdog(LIMIT);
    let pair = pair_with(|config| config.timeouts.message = Some(Duration::from_millis(200)));
    let mut peer = Peer::of(&pair);
    // An octet now and then does not earn it another term: this would go on for an hour.
    peer.send(b"GIOP\x01\x02\x00\x00\x00\x01\x00\x00");
    while peer.stream.write_all(&[0]).is_ok() {
        std::thread::sleep(Duration::from_millis(30));
    }
    peer.rest();
    is_logged(peer.port(), &["too long"]);
    assert_eq!(pair.echo.long(1).unwrap(), 1);
}

#[test]
fn one_connection_too_many_is_told_to_go() {
    let _watchdog = watchdog(LIMIT);
    let pair = pair_with(|config| config.max_connections = 2);
    // The client's own is one.
    assert_eq!(pair.echo.long(1).unwrap(), 1);
    let mut second = Peer::of(&pair);
    second.send(&request(&object_key(&pair), "long", |out| out.put_i32(1)));
    assert_eq!(second.receive().0, MessageKind::Reply);
    let mut third = Peer::of(&pair);
    assert_eq!(third.receive().0, MessageKind::CloseConnection);
    is_logged(third.port(), &["max_connections"]);
    assert_eq!(pair.echo.long(1).unwrap(), 1);
}

#[test]
fn a_cancelled_fragmented_request_leaves_nothing_behind() {
    let _watchdog = watchdog(LIMIT);
    let pair = pair();
    let mut peer = Peer::of(&pair);
    let mut start = request(&object_key(&pair), "octets", |out| {
        out.put_u32(100);
        out.put_u32(0);
    });
    // More fragments follow.
    start[6] |= 2;
    let cancel = b"GIOP\x01\x02\x00\x02\x00\x00\x00\x04\x00\x00\x00\x02";
    peer.send(&start).send(cancel);
    peer.send(&request(&object_key(&pair), "long", |out| out.put_i32(1)));
    assert_eq!(peer.receive().0, MessageKind::Reply);
    assert_eq!(pair.echo.long(1).unwrap(), 1);
}

#[test]
fn too_many_unfinished_messages_are_refused() {
    let _watchdog = watchdog(LIMIT);
    let pair = pair_with(|config| config.limits.fragments_pending = 4);
    let mut peer = Peer::of(&pair);
    let mut start = request(&object_key(&pair), "octets", |out| out.put_u32(100));
    start[6] |= 2;
    for id in 0..5u8 {
        start[15] = id * 2;
        // The server may have closed before the last of them.
        let _ = peer.stream.write_all(&start);
    }
    peer.is_refused();
    is_logged(peer.port(), &["MessageError"]);
    assert_eq!(pair.echo.long(1).unwrap(), 1);
}

#[test]
fn octets_at_random_never_reach_a_servant_nor_stop_the_server() {
    let _watchdog = watchdog(LIMIT);
    let pair = pair();
    let mut random = Random(0x5eed);
    for _ in 0..200 {
        let mut peer = Peer::of(&pair);
        let length = random.below(400);
        let octets: Vec<u8> = (0..length).map(|_| random.octet()).collect();
        // It may close before it has read all of it.
        let _ = peer.stream.write_all(&octets);
        let _ = peer.stream.shutdown(Shutdown::Write);
        peer.rest();
    }
    assert_eq!(pair.echo.long(1).unwrap(), 1);
    assert_eq!(pair.echo.pings().unwrap(), 0);
}

#[test]
fn a_peer_that_never_reads_its_replies_is_closed() {
    let _watchdog = watchdog(LIMIT);
    let pair = pair_with(|config| config.timeouts.reply = Some(Duration::from_millis(100)));
    let mut peer = Peer::of(&pair);
    let large = request(&object_key(&pair), "octets", |out| {
        out.put_octets(&vec![7; 1 << 20]).unwrap();
    });
    // The server may close while the last of them is being written.
    for _ in 0..16 {
        if peer.stream.write_all(&large).is_err() {
            break;
        }
    }
    while pair.server.client_connections() > 1 {
        std::thread::yield_now();
    }
    is_logged(peer.port(), &["reply could not be sent", "timed out"]);
    assert_eq!(pair.echo.long(1).unwrap(), 1);
}
