//! Long fuzz test by mutation of valid messages, in a process of its own, so that the size of the
//! process can be measured.
#![allow(clippy::unwrap_used)]

use crate::support;

use punctual::config::GiopVersion;
use punctual::protocol::iiop::{Iiop, IiopOptions};
use punctual::protocol::shmiop::{ShmOptions, Shmiop};
use punctual::protocol::uiop::{Uiop, UiopOptions};
use punctual::protocol::{Address, Connection, Deadline, Link, Pending, Properties};
use punctual::stub::{Block, ByteOrder, Coding, Encoder};
use punctual::{Interface, ListenEndpoint, Orb, RootPoa};
use punctual_giop::lite::{self, Kind};
use punctual_giop::sequenced::{self, FrameHeader};
use punctual_giop::{
    LocateRequestHeader, MessageKind, RequestHeader, ResponseFlags, ServiceContexts, Target,
    align_body, begin_message, finish_message,
};
use std::io::IoSlice;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use support::{Echo, EchoImpl, Random, watchdog};

/// Function that returns valid messages for the object with this key.
type Messages = fn(&[u8]) -> Vec<Vec<u8>>;

/// Settings of a fuzz test: a protocol, a link, and the number of messages unless
/// `PUNCTUAL_FUZZ_MESSAGES` sets another.
struct Fuzz {
    messaging: &'static str,
    link: Arc<dyn Link>,
    place: &'static str,
    messages: Messages,
    count: u32,
}

/// Server of one object, which well-behaved clients call over TCP.
struct Served {
    server: Orb,
    client: Orb,
    echo: Echo,
    address: Address,
    key: Vec<u8>,
}

/// Returns valid GIOP messages, in every version and byte order, as the input that is mutated.
fn giop(key: &[u8]) -> Vec<Vec<u8>> {
    let mut messages = Vec::new();
    for version in [GiopVersion::V1_0, GiopVersion::V1_1, GiopVersion::V1_2] {
        for order in [ByteOrder::Big, ByteOrder::Little] {
            let limits = Box::leak(Box::new(punctual::config::Limits::default()));
            let coding = Coding::new(version, limits);
            for operation in OPERATIONS {
                let mut out = Encoder::new(Block::default(), order, coding);
                begin_message(&mut out, MessageKind::Request);
                RequestHeader {
                    request_id: 2,
                    response: ResponseFlags::SYNC_WITH_TARGET,
                    target: Target::ObjectKey(key),
                    operation,
                    contexts: ServiceContexts::new(&[(1, &[0; 12]), (77, b"unknown")]),
                }
                .encode(&mut out)
                .unwrap();
                put_body(&mut out);
                let mut block = out.into_block();
                finish_message(&mut block).unwrap();
                messages.push(block.into_vec());
            }
            let mut locate = Encoder::new(Block::default(), order, coding);
            begin_message(&mut locate, MessageKind::LocateRequest);
            LocateRequestHeader {
                request_id: 4,
                target: Target::ObjectKey(key),
            }
            .encode(&mut locate)
            .unwrap();
            let mut block = locate.into_block();
            finish_message(&mut block).unwrap();
            messages.push(block.into_vec());
        }
    }
    messages
}

/// Returns valid GIOPlite messages, and a batch of requests.
fn giop_lite(key: &[u8]) -> Vec<Vec<u8>> {
    let coding = Coding::default();
    let mut messages = Vec::new();
    for operation in OPERATIONS {
        let mut out = lite::begin_message(Block::default(), Kind::Request, coding);
        let header = RequestHeader {
            request_id: 2,
            response: ResponseFlags::SYNC_WITH_TARGET,
            target: Target::ObjectKey(key),
            operation,
            contexts: ServiceContexts::none(),
        };
        lite::encode_request(&header, &mut out).unwrap();
        put_body(&mut out);
        let mut block = out.into_block();
        lite::finish_message(&mut block).unwrap();
        messages.push(block.into_vec());
    }
    let mut batch = lite::BatchWriter::begin(Block::default(), key, "ping", coding).unwrap();
    for length in [0, 4, 13] {
        batch.push_body(&vec![7; length]).unwrap();
    }
    messages.push(batch.finish().unwrap().into_vec());
    messages
}

/// Returns valid frames in either byte order, and a batch of them.
fn frames(key: &[u8]) -> Vec<Vec<u8>> {
    let coding = Coding::default();
    let header = |operation| FrameHeader {
        stream: 1,
        sequence: 1000,
        sent_at: 1,
        object_key: key,
        operation,
    };
    let mut messages = Vec::new();
    for order in [ByteOrder::Big, ByteOrder::Little] {
        for operation in OPERATIONS {
            let mut out = sequenced::begin_message(Block::default(), order, coding);
            header(operation).encode(&mut out).unwrap();
            put_body(&mut out);
            let mut block = out.into_block();
            sequenced::finish_message(&mut block).unwrap();
            messages.push(block.into_vec());
        }
        let header = header("ping");
        let batch = sequenced::BatchWriter::begin(Block::default(), order, &header, coding);
        let mut batch = batch.unwrap();
        for octets in [&b""[..], b"four", b"some more"] {
            let body = |out: &mut Encoder<'_>| {
                out.put_bytes(octets);
                Ok(())
            };
            batch.push(2, body).unwrap();
        }
        messages.push(batch.finish().unwrap().into_vec());
    }
    messages
}

const OPERATIONS: [&str; 6] = ["long", "text", "octets", "same", "_is_a", "ping"];

/// Writes arguments that every operation of the object can decode.
fn put_body(out: &mut Encoder<'_>) {
    align_body(out);
    out.put_u32(24);
    out.put_bytes(b"some text, or some octet");
    out.put_u32(0);
}

/// Allowed growth of the process during a fuzz test, in KiB: memory that the allocator keeps, not
/// leaks.
const MAX_GROWTH: u64 = 1024;
/// Number of rounds of a fuzz test; the process's size is measured after each.
const ROUNDS: u32 = 5;
/// Number of rounds at the end in which the process may not grow by more than [`MAX_GROWTH`].
const STEADY: usize = 3;
/// Most rounds. A leak grows in each; the allocator's arenas grow while threads meet in them, which a busy machine
/// spreads over more rounds.
const MOST_ROUNDS: u32 = 20;
/// Lock for one fuzz test at a time, as each measures the size of the process.
static TURN: Mutex<()> = Mutex::new(());

fn iiop() -> Arc<dyn Link> {
    Arc::new(Iiop::new(IiopOptions::default()))
}

fn uiop() -> Arc<dyn Link> {
    Arc::new(Uiop::new(UiopOptions::default()))
}

fn shmiop() -> Arc<dyn Link> {
    Arc::new(Shmiop::new(ShmOptions::default()))
}

#[test]
fn a_hundred_thousand_mutated_messages_leave_the_server_alive_serving_and_no_bigger() {
    crate::support::alone::alone(|| {
        leaves_the_server_as_it_was(Fuzz {
            messaging: "giop",
            link: iiop(),
            place: "127.0.0.1:0",
            messages: giop,
            count: 100_000,
        });
    });
}

#[test]
fn mutated_messages_of_every_protocol_over_every_local_link_do_so_too() {
    crate::support::alone::alone(|| {
        let protocols: [(_, Messages); 3] =
            [("giop", giop), ("giop_lite", giop_lite), ("frames", frames)];
        let links = [(iiop(), "127.0.0.1:0"), (uiop(), ""), (shmiop(), "")];
        for (messaging, messages) in protocols {
            for (link, place) in &links {
                leaves_the_server_as_it_was(Fuzz {
                    messaging,
                    link: link.clone(),
                    place,
                    messages,
                    count: 20_000,
                });
            }
        }
    });
}

fn leaves_the_server_as_it_was(fuzz: Fuzz) {
    let _watchdog = watchdog(Duration::from_secs(600));
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let what = format!("{} over {}", fuzz.messaging, fuzz.link.name());
    let served = Served::of(&fuzz);
    let messages = (fuzz.messages)(&served.key);
    let mut sizes = Vec::new();
    for seed in 1..=MOST_ROUNDS {
        mutate(&fuzz, &served, &messages, seed.into());
        assert_eq!(served.echo.long(1).unwrap(), 1, "{what}, seed {seed}");
        while served.server.client_connections() > 1 {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        sizes.push(resident_kib());
        if seed >= ROUNDS && is_steady(&sizes) {
            break;
        }
    }
    eprintln!("{what}: resident size in KiB after each round: {sizes:?}");
    assert!(
        is_steady(&sizes),
        "{what}: resident size in KiB after each round: {sizes:?}"
    );
}

/// Returns whether the process has not grown in the last rounds.
fn is_steady(sizes: &[u64]) -> bool {
    let before = sizes.iter().rev().nth(STEADY);
    let last = sizes.last();
    before
        .zip(last)
        .is_some_and(|(before, last)| *last < before + MAX_GROWTH)
}

impl Served {
    fn of(fuzz: &Fuzz) -> Self {
        let protocol = format!("{}+{}", fuzz.messaging, fuzz.link.name());
        let server = Orb::builder()
            .configure(|config| config.timeouts.message = Some(Duration::from_millis(500)))
            .listen(ListenEndpoint::new(&protocol, fuzz.place))
            .listen(ListenEndpoint::iiop("127.0.0.1", 0))
            .build()
            .unwrap();
        let poa = server.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let reference: Echo = poa.activate(Arc::new(EchoImpl::default())).unwrap();
        let text = server.object_to_string(&reference).unwrap();
        let client = Orb::builder()
            .configure(|config| config.client_protocols = vec!["iiop".into()])
            .build()
            .unwrap();
        let echo = Echo::from_object(client.string_to_object(&text).unwrap());
        let mut profiles = echo.as_object().ior().iiop_profiles();
        let key = profiles.next().unwrap().unwrap().object_key;
        Self {
            address: Address::new(fuzz.link.name(), &server.endpoints()[0].place),
            server,
            client,
            key,
            echo: echo.clone(),
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.client.shutdown(false);
        let _ = self.server.shutdown(false);
    }
}

/// Returns the number of messages that are sent in one round.
fn messages_a_round(fuzz: &Fuzz) -> u32 {
    let asked = std::env::var("PUNCTUAL_FUZZ_MESSAGES").ok();
    asked.map_or(fuzz.count, |number| number.parse().unwrap()) / ROUNDS
}

/// Sends mutated messages, as many on each connection as the server accepts before it closes it.
fn mutate(fuzz: &Fuzz, served: &Served, messages: &[Vec<u8>], seed: u64) {
    let mut random = Random(seed);
    let mut peer = Peer::connect(fuzz, served);
    let mut on_this_one = 0;
    for _ in 0..messages_a_round(fuzz) {
        let mut message = messages[random.below(messages.len())].clone();
        for _ in 0..=random.below(4) {
            random.mutate(&mut message);
        }
        on_this_one += 1;
        // Answers are read so that the server's do not fill the link.
        if on_this_one > 50 || !peer.send(&message) || !peer.takes_answers() {
            peer = Peer::connect(fuzz, served);
            on_this_one = 0;
        }
    }
}

/// Connection of a test peer that sends invalid messages to the ORB.
struct Peer(Arc<dyn Connection>);

impl Peer {
    fn connect(fuzz: &Fuzz, served: &Served) -> Self {
        let connected = fuzz
            .link
            .connect(&served.address, &Properties::NONE, patience());
        Self(connected.unwrap())
    }

    fn send(&self, message: &[u8]) -> bool {
        self.0.send(&[IoSlice::new(message)], patience()).is_ok()
    }

    /// Reads the server's answers, and returns whether the connection is still open.
    fn takes_answers(&self) -> bool {
        while self.0.pending() == Pending::Data {
            if self.0.receive(&mut self.0.lend(0), 1, patience()).is_err() {
                return false;
            }
        }
        self.0.pending() != Pending::End
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.0.close();
    }
}

fn patience() -> Deadline {
    Deadline::after(Duration::from_secs(60))
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
