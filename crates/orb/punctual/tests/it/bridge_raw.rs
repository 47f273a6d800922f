//! Bridge and peers whose octets are written by hand: the other byte order, older headers,
//! contexts, one-ways that are answered early, and hostile peers.
#![allow(clippy::unwrap_used)]

use crate::support;

use punctual::bridge::{Bridge, BridgeOptions};
use punctual::config::{GiopVersion, Limits};
use punctual::stub::{Arc, Block, ByteOrder, Coding, Decoder, Encoder};
use punctual::{Interface, ListenEndpoint, Orb, RootPoa};
use punctual_giop::{
    MessageHeader, MessageKind, ReplyHeader, ReplyStatus, RequestHeader, ResponseFlags,
    ServiceContexts, SystemExceptionBody, Target, align_body, begin_message, finish_message,
    message_decoder,
};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;
use support::{Echo, EchoImpl, Random, watchdog};

const LIMIT: Duration = Duration::from_secs(60);
const BEYOND_US: u32 = 0x1234_5678;
static LIMITS: Limits = Limits::DEFAULT;

fn listening(protocol: &str, place: &str) -> Orb {
    let orb = Orb::builder().listen(ListenEndpoint::new(protocol, place));
    orb.build().unwrap()
}

/// Bridge from TCP to one object, with a server and a client.
struct Bridged {
    middle: Orb,
    server: Option<Orb>,
    bridge: Bridge,
    servant: Arc<EchoImpl>,
    key: Vec<u8>,
    port: u16,
}

impl Bridged {
    fn to(far: &str) -> Self {
        let server = listening(far, "");
        let poa = server.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let servant = Arc::new(EchoImpl::default());
        let reference: Echo = poa.activate(servant.clone()).unwrap();
        let text = server.object_to_string(reference.as_object()).unwrap();
        Self::to_target(&text, Some(server), servant)
    }

    fn to_target(text: &str, server: Option<Orb>, servant: Arc<EchoImpl>) -> Self {
        let middle = listening("iiop", "127.0.0.1:0");
        let target = middle.string_to_object(text).unwrap();
        let bridge = Bridge::new(&middle, &target, &BridgeOptions::default()).unwrap();
        let through = bridge.reference().unwrap();
        let profile = through.ior().iiop_profiles().next().unwrap().unwrap();
        Self {
            key: profile.object_key,
            port: profile.port,
            middle,
            server,
            bridge,
            servant,
        }
    }

    fn peer(&self) -> Peer {
        Peer::of(TcpStream::connect(("127.0.0.1", self.port)).unwrap())
    }
}

impl Drop for Bridged {
    fn drop(&mut self) {
        for orb in self.server.iter().chain([&self.middle]) {
            let _ = orb.shutdown(false);
        }
    }
}

/// End of a connection without an ORB, on which the test sends and receives bytes itself.
struct Peer(TcpStream);

/// Complete GIOP message received from the bridge.
struct Received {
    header: MessageHeader,
    octets: Vec<u8>,
}

impl Peer {
    fn of(stream: TcpStream) -> Self {
        let patience = Some(Duration::from_secs(20));
        stream.set_read_timeout(patience).unwrap();
        Self(stream)
    }

    fn send(&mut self, octets: &[u8]) -> &mut Self {
        self.0.write_all(octets).unwrap();
        self
    }

    fn receive(&mut self) -> Received {
        let mut octets = vec![0; MessageHeader::LEN];
        self.0.read_exact(&mut octets).unwrap();
        let header = MessageHeader::parse(octets.first_chunk().unwrap()).unwrap();
        octets.resize(header.message_len(), 0);
        self.0
            .read_exact(&mut octets[MessageHeader::LEN..])
            .unwrap();
        Received { header, octets }
    }
}

impl Received {
    fn decoder(&self) -> Decoder<'_> {
        message_decoder(
            &self.header,
            &self.octets,
            Coding::new(self.header.version, &LIMITS),
        )
    }

    fn reply(&self) -> (ReplyHeader<'_>, Decoder<'_>) {
        let mut input = self.decoder();
        (ReplyHeader::decode(&mut input).unwrap(), input)
    }
}

struct Request<'r> {
    version: GiopVersion,
    order: ByteOrder,
    response: ResponseFlags,
    contexts: &'r [(u32, &'r [u8])],
}

impl Default for Request<'_> {
    fn default() -> Self {
        Self {
            version: GiopVersion::V1_2,
            order: ByteOrder::NATIVE,
            response: ResponseFlags::SYNC_WITH_TARGET,
            contexts: &[],
        }
    }
}

impl Request<'_> {
    fn encode(&self, key: &[u8], operation: &str, body: impl FnOnce(&mut Encoder<'_>)) -> Vec<u8> {
        let coding = Coding::new(self.version, &LIMITS);
        let mut out = Encoder::new(Block::default(), self.order, coding);
        begin_message(&mut out, MessageKind::Request);
        let header = RequestHeader {
            request_id: 7,
            response: self.response,
            target: Target::ObjectKey(key),
            operation,
            contexts: ServiceContexts::new(self.contexts),
        };
        header.encode(&mut out).unwrap();
        let unaligned = out.position();
        align_body(&mut out);
        let begin = out.position();
        body(&mut out);
        if out.position() == begin {
            out.block_mut().truncate(unaligned);
        }
        let mut block = out.into_block();
        finish_message(&mut block).unwrap();
        block.into_vec()
    }
}

fn exception(mut body: Decoder<'_>) -> (String, u32) {
    let body = SystemExceptionBody::decode(&mut body).unwrap();
    (body.repository_id.to_owned(), body.completed)
}

fn other_order() -> ByteOrder {
    match ByteOrder::NATIVE {
        ByteOrder::Big => ByteOrder::Little,
        ByteOrder::Little => ByteOrder::Big,
    }
}

#[test]
fn a_body_in_the_other_byte_order_is_passed_on_in_it() {
    let bridged = Bridged::to("uiop");
    for version in [GiopVersion::V1_0, GiopVersion::V1_1, GiopVersion::V1_2] {
        let request = Request {
            version,
            order: other_order(),
            ..Request::default()
        };
        let request = request.encode(&bridged.key, "long", |out| out.put_i32(0x0102_0304));
        let reply = bridged.peer().send(&request).receive();
        let (header, mut body) = reply.reply();
        assert_eq!(
            (header.request_id, header.status),
            (7, ReplyStatus::NoException)
        );
        assert_eq!(body.get_i32(), Ok(0x0102_0304), "GIOP {version}");
    }
}

#[test]
fn the_other_byte_order_is_refused_towards_a_protocol_that_has_only_this_machines() {
    let bridged = Bridged::to("giop_lite+uiop");
    // UTF-8 and UTF-16, as GIOPlite has them.
    let code_sets = punctual_giop::code_sets::CodeSetContext {
        char_data: 0x0501_0001,
        wchar_data: 0x0001_0109,
    };
    let told = code_sets.encode();
    let contexts: [(u32, &[u8]); 1] = [(1, &told)];
    for (order, completed) in [(ByteOrder::NATIVE, None), (other_order(), Some(1))] {
        let request = Request {
            order,
            contexts: &contexts,
            ..Request::default()
        };
        let request = request.encode(&bridged.key, "long", |out| out.put_i32(5));
        let reply = bridged.peer().send(&request).receive();
        let (header, mut body) = reply.reply();
        match completed {
            None => assert_eq!(body.get_i32(), Ok(5)),
            Some(completed) => {
                assert_eq!(header.status, ReplyStatus::SystemException);
                let refused = "IDL:omg.org/CORBA/IMP_LIMIT:1.0".to_owned();
                assert_eq!(exception(body), (refused, completed));
            }
        }
    }
    assert_eq!(bridged.bridge.counts().refused, 1);
}

#[test]
fn a_one_way_that_wants_the_servers_answer_gets_it_from_the_targets_server() {
    let bridged = Bridged::to("uiop");
    let request = Request {
        response: ResponseFlags::SYNC_WITH_SERVER,
        ..Request::default()
    };
    let mut peer = bridged.peer();
    let answer = peer
        .send(&request.encode(&bridged.key, "ping", |_| {}))
        .receive();
    assert_eq!(answer.reply().0.status, ReplyStatus::NoException);
    let gone = peer
        .send(&request.encode(b"no such object", "ping", |_| {}))
        .receive();
    assert_eq!(gone.reply().0.status, ReplyStatus::SystemException);
    let pings = Request::default().encode(&bridged.key, "pings", |_| {});
    let pings = peer.send(&pings).receive();
    assert_eq!(pings.reply().1.get_u32(), Ok(1));
    assert_eq!(bridged.bridge.counts().located, 0);
}

/// Makes a hand-written server, which answers one request with a context and a number.
fn server_by_hand(version: GiopVersion) -> (String, std::thread::JoinHandle<(Received, bool)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = std::thread::spawn(move || {
        let mut peer = Peer::of(listener.accept().unwrap().0);
        let request = peer.receive();
        let coding = Coding::new(version, &LIMITS);
        let mut out = Encoder::new(Block::default(), other_order(), coding);
        begin_message(&mut out, MessageKind::Reply);
        let mut input = request.decoder();
        let header = RequestHeader::decode(&mut input).unwrap();
        let aligned = input.get_u64() == Ok(0x0102_0304_0506_0708);
        let request_id = header.request_id;
        drop(input);
        let reply = ReplyHeader {
            request_id,
            status: ReplyStatus::NoException,
            contexts: ServiceContexts::new(&[(BEYOND_US, b"back")]),
        };
        reply.encode(&mut out).unwrap();
        align_body(&mut out);
        out.put_u64(0x1112_1314_1516_1718);
        let mut block = out.into_block();
        finish_message(&mut block).unwrap();
        peer.send(&block);
        (request, aligned)
    });
    let text = format!("corbaloc:iiop:{version}@127.0.0.1:{port}/by-hand");
    (text, served)
}

#[test]
fn contexts_that_nobody_here_knows_are_passed_on_and_a_connections_own_are_not() {
    let _watchdog = watchdog(LIMIT);
    for version in [GiopVersion::V1_0, GiopVersion::V1_1, GiopVersion::V1_2] {
        let (target, served) = server_by_hand(version);
        let bridged = Bridged::to_target(&target, None, Arc::new(EchoImpl::default()));
        let bidirectional = [0; 8];
        let contexts: [(u32, &[u8]); 2] = [(BEYOND_US, b"there"), (5, &bidirectional)];
        let request = Request {
            version,
            contexts: &contexts,
            ..Request::default()
        };
        let request = request.encode(b"by-hand", "wide", |out| out.put_u64(0x0102_0304_0506_0708));
        let reply = bridged.peer().send(&request).receive();

        let (there, aligned) = served.join().unwrap();
        let mut input = there.decoder();
        let header = RequestHeader::decode(&mut input).unwrap();
        assert_eq!(header.contexts.find(BEYOND_US), Some(&b"there"[..]));
        assert_eq!(
            header.contexts.find(5),
            None,
            "bidirectional GIOP is a connection's"
        );
        assert!(
            aligned,
            "GIOP {version}: a long long stands where it belongs"
        );
        assert_eq!(there.header.version, version);

        let (header, mut body) = reply.reply();
        assert_eq!(header.contexts.find(BEYOND_US), Some(&b"back"[..]));
        assert_eq!(reply.header.order, other_order());
        assert_eq!(body.get_u64(), Ok(0x1112_1314_1516_1718), "GIOP {version}");
    }
}

#[test]
fn octets_at_random_harm_neither_the_bridge_nor_other_clients() {
    let _watchdog = watchdog(LIMIT);
    let bridged = Bridged::to("uiop");
    let good = Request::default().encode(&bridged.key, "long", |out| out.put_i32(1));
    let mut other = bridged.peer();
    let mut random = Random(0x00b1_d6e5);
    for _ in 0..2000 {
        let mut bad = good.clone();
        for _ in 0..=random.below(3) {
            random.mutate(&mut bad);
        }
        let mut peer = bridged.peer();
        // The connection may have been refused and closed meanwhile.
        let _ = peer.0.write_all(&bad);
    }
    let reply = other.send(&good).receive();
    assert_eq!(reply.reply().1.get_i32(), Ok(1));
    drop(bridged.servant.clone());
}
