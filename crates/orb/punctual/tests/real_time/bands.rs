//! Priority-banded connections that are set up as the standard specifies, by `_bind_priority_band`.

use crate::lanes::{propagated, with};
use crate::setting::{LIMIT, Server, at, client, echo, fifo, on_a_thread, ordinary};
use crate::support::{Echo, watchdog};
use punctual::interceptor::RequestContext;
use punctual::policy::{Otherwise, Validation};
use punctual::rt::{AboveHighest, PriorityBandedConnectionPolicy, Propagated, RtOrb};
use punctual::stub::{Arc, Block, ByteOrder, Coding, Encoder, Operation, SystemException};
use punctual::{
    CompletionStatus, Interface, Orb, Policy, SetOverride, SystemExceptionKind as Kind,
};
use punctual_giop::{
    MessageHeader, MessageKind, ReplyHeader, ReplyStatus, RequestHeader, ServiceContexts,
    align_body, begin_message, finish_message, message_decoder,
};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

pub(crate) const BIND: Operation = Operation::two_way("_bind_priority_band");
/// Id of Real-time CORBA's service context RTCorbaPriorityRange.
const RANGE: u32 = 11;

fn bands() -> PriorityBandedConnectionPolicy {
    PriorityBandedConnectionPolicy::new([at(0)..=at(19), at(20)..=at(99)])
}

/// Returns an encapsulation of two shorts, in this machine's byte order.
pub(crate) fn range(low: i16, high: i16) -> Vec<u8> {
    let order = [u8::from(cfg!(target_endian = "little")), 0];
    [order, low.to_ne_bytes(), high.to_ne_bytes()].concat()
}

/// Request of a client: its operation, and the data of its RTCorbaPriorityRange context.
type Asked = (String, Option<Vec<u8>>);

/// Hand-written server that answers `_bind_priority_band` as configured, and every other operation
/// with a `long` of 1. It reports each request, with the number of its connection.
struct Peer {
    reference: String,
    asked: Receiver<(usize, Asked)>,
    _thread: JoinHandle<()>,
}

impl Peer {
    fn new(answer: Option<Kind>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (noted, asked) = channel();
        let thread = std::thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let (stream, noted) = (stream.unwrap(), noted.clone());
                std::thread::spawn(move || serve(stream, answer, &noted, number));
            }
        });
        Self {
            reference: format!("corbaloc:iiop:1.2@127.0.0.1:{port}/key"),
            asked,
            _thread: thread,
        }
    }

    fn requests_so_far(&self) -> Vec<(usize, Asked)> {
        self.asked.try_iter().collect()
    }
}

fn serve(
    mut stream: TcpStream,
    answer: Option<Kind>,
    noted: &Sender<(usize, Asked)>,
    number: usize,
) {
    let mut octets = vec![0; MessageHeader::LEN];
    while stream.read_exact(&mut octets[..MessageHeader::LEN]).is_ok() {
        let header = MessageHeader::parse(octets.first_chunk().unwrap()).unwrap();
        octets.resize(header.message_len(), 0);
        stream
            .read_exact(&mut octets[MessageHeader::LEN..])
            .unwrap();
        let mut input = message_decoder(&header, &octets, Coding::default());
        let request = RequestHeader::decode(&mut input).unwrap();
        let range = request.contexts.find(RANGE).map(<[u8]>::to_vec);
        // Recorded before it is answered, so that a client with the answer finds it.
        let _ = noted.send((number, (request.operation.to_owned(), range)));
        let exception = answer.filter(|_| request.operation == BIND.name());
        stream
            .write_all(&reply(request.request_id, exception))
            .unwrap();
    }
}

fn reply(request_id: u32, exception: Option<Kind>) -> Vec<u8> {
    let mut out = Encoder::new(Block::default(), ByteOrder::NATIVE, Coding::default());
    begin_message(&mut out, MessageKind::Reply);
    let status = match exception {
        Some(_) => ReplyStatus::SystemException,
        None => ReplyStatus::NoException,
    };
    let contexts = ServiceContexts::none();
    let header = ReplyHeader {
        request_id,
        status,
        contexts,
    };
    header.encode(&mut out).unwrap();
    align_body(&mut out);
    match exception {
        Some(kind) => {
            out.put_string(kind.repository_id()).unwrap();
            out.put_u32(0);
            out.put_u32(1);
        }
        None => out.put_i32(1),
    }
    let mut block = out.into_block();
    finish_message(&mut block).unwrap();
    block.into_vec()
}

#[test]
fn the_first_request_on_a_connection_tells_its_band_and_each_band_has_one_of_its_own() {
    let _watchdog = watchdog(LIMIT);
    let peer = Peer::new(None);
    // One lane: threads without a priority count as of 0, and the references tell the bands apart.
    let client = client(&ordinary(Propagated::default()));
    let object = echo(&client, &peer.reference);
    let low = PriorityBandedConnectionPolicy::new([at(0)..=at(19)]);
    let wide = PriorityBandedConnectionPolicy::new([at(0)..=at(99)]);
    let asks = |echo: &Echo| {
        echo.long(1).unwrap();
        peer.requests_so_far()
    };
    let asked = |number: usize, range: Option<Vec<u8>>| {
        let name = if range.is_some() { BIND.name() } else { "long" };
        (number, (name.to_owned(), range))
    };
    let banded = with(&object, low.clone());
    assert_eq!(
        asks(&banded),
        [asked(0, Some(range(0, 19))), asked(0, None)]
    );
    assert_eq!(asks(&banded), [asked(0, None)]);
    // Another reference, the same band.
    assert_eq!(asks(&with(&object, low)), [asked(0, None)]);
    assert_eq!(
        asks(&with(&object, wide)),
        [asked(1, Some(range(0, 99))), asked(1, None)]
    );
    assert_eq!(asks(&object), [asked(2, None)]);
}

#[test]
fn a_server_that_knows_no_bands_is_called_by_connections_of_the_bands_own() {
    let _watchdog = watchdog(LIMIT);
    let rt = ordinary(Propagated::default());
    for unknown in [Kind::BadOperation, Kind::NoImplement, Kind::ObjectNotExist] {
        let peer = Peer::new(Some(unknown));
        let client = client(&rt);
        let object = echo(&client, &peer.reference);
        let banded = with(&object, bands());
        for _ in 0..2 {
            banded.long(1).unwrap();
            object.long(1).unwrap();
        }
        let asked: Vec<(usize, String)> = peer
            .requests_so_far()
            .into_iter()
            .map(|(number, (name, _))| (number, name))
            .collect();
        let expected = [
            (0, BIND.name()),
            (0, "long"),
            (1, "long"),
            (0, "long"),
            (1, "long"),
        ];
        assert_eq!(
            asked,
            expected.map(|(number, name)| (number, name.to_owned()))
        );
    }
    // An ORB of ours without Real-time CORBA is one of them.
    let server = crate::support::Pair::new();
    let reference = server
        .server
        .object_to_string(server.echo.as_object())
        .unwrap();
    let client = client(&rt);
    assert_eq!(
        with(&echo(&client, &reference), bands()).long(7).unwrap(),
        7
    );
}

#[test]
fn a_band_that_the_server_refuses_is_inv_policy_and_what_else_it_raises_is_raised() {
    let _watchdog = watchdog(LIMIT);
    let rt = ordinary(Propagated::default());
    for (raised, told) in [
        (Kind::InvPolicy, Kind::InvPolicy),
        (Kind::NoPermission, Kind::InvPolicy),
        (Kind::DataConversion, Kind::InvPolicy),
        (Kind::NoResources, Kind::NoResources),
    ] {
        let peer = Peer::new(Some(raised));
        let client = client(&rt);
        let banded = with(&echo(&client, &peer.reference), bands());
        let error = banded.long(1).unwrap_err();
        assert_eq!(error.kind(), told, "{error}");
        assert!(
            error.to_string().contains("band of priorities 0 to 19"),
            "{error}"
        );
        assert_eq!(error.completed(), CompletionStatus::No);
        // A connection that was refused its band is not kept: each call asks by one of its own.
        banded.long(1).unwrap_err();
        let asked = peer.requests_so_far();
        let numbers: Vec<usize> = asked.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, [0, 1]);
        assert!(
            asked.iter().all(|(_, (name, _))| name == BIND.name()),
            "{asked:?}"
        );
    }
}

#[test]
fn the_server_takes_the_bands_that_it_can_serve_and_no_servant_hears_of_it() {
    let _watchdog = watchdog(LIMIT);
    let refusing = Propagated {
        highest: at(99),
        above: AboveHighest::Refuse,
    };
    let server = Server::new(&ordinary(refusing));
    let reference = server.object(propagated());
    let rt = ordinary(Propagated::default());
    let client = client(&rt);
    let object = echo(&client, &reference);
    let connections = || server.orb.client_connections();
    on_a_thread(|| {
        rt.current().set_the_priority(at(30)).unwrap();
        let banded = with(&object, bands());
        assert!(
            banded
                .as_object()
                .validate_connection()
                .unwrap()
                .is_connected()
        );
        assert_eq!(connections(), 1);
        banded.long(1).unwrap();
        assert_eq!(connections(), 1);
        // Calls without bands go by another, of the same lane.
        object.long(1).unwrap();
        assert_eq!(connections(), 2);
        let above = PriorityBandedConnectionPolicy::new([at(30)..=at(100)]);
        let refused = with(&object, above);
        let error = refused.long(1).unwrap_err();
        assert_eq!(error.kind(), Kind::InvPolicy, "{error}");
        let validated = refused.as_object().validate_connection().unwrap();
        assert!(
            matches!(validated, Validation::Inconsistent { .. }),
            "{validated:?}"
        );
    });
    // The two calls, and nothing else.
    assert_eq!(server.noting.seen.lock().unwrap().len(), 2);
}

/// Service context RTCorbaPriorityRange whose data the test chooses.
#[derive(Debug)]
pub(crate) struct Range(pub(crate) Mutex<Vec<u8>>, pub(crate) usize);

impl RequestContext for Range {
    fn id(&self) -> u32 {
        RANGE
    }

    fn length(&self) -> usize {
        self.1
    }

    fn fill(&self, data: &mut [u8]) {
        data.copy_from_slice(&self.0.lock().unwrap());
    }
}

#[test]
fn a_server_tells_what_is_wrong_with_a_band_whenever_it_is_asked() {
    let _watchdog = watchdog(LIMIT);
    let server = Server::new(&ordinary(Propagated::default()));
    let reference = server.plain();
    let asked = |client: &Orb| -> Result<(), SystemException> {
        let object = client.string_to_object(&reference).unwrap();
        let echo = echo(client, &reference);
        // Also on a warm connection, whose requests take the fast path.
        for _ in 0..3 {
            echo.long(1).unwrap();
        }
        object.invoke(&BIND, |_| Ok(()), |_| Ok(()))
    };
    let plain = Orb::builder().build().unwrap();
    assert_eq!(asked(&plain).unwrap_err().kind(), Kind::BadParam);
    for (data, answer) in [
        (range(1, 2), None),
        (range(7, 7), None),
        (range(2, 1), Some(Kind::InvPolicy)),
        (range(-1, 1), Some(Kind::InvPolicy)),
        (range(1, 2)[..5].to_vec(), Some(Kind::Marshal)),
        (Vec::new(), Some(Kind::Marshal)),
    ] {
        let length = data.len();
        let context = Arc::new(Range(Mutex::new(data.clone()), length));
        let client = Orb::builder().request_context(context).build().unwrap();
        let answered = asked(&client).map_err(|error| error.kind());
        assert_eq!(answered.err(), answer, "{data:?}");
    }
    // Each `long`, and no request for a band.
    assert_eq!(server.noting.seen.lock().unwrap().len(), 7 * 3);
}

#[test]
fn a_connections_own_thread_reads_at_the_lowest_priority_of_its_band() {
    let _watchdog = watchdog(LIMIT);
    let Some(rt) = fifo(Propagated::default()) else {
        return;
    };
    let of_server: Arc<RtOrb> = fifo(Propagated::default()).unwrap();
    for (concurrency, priority) in [("thread_per_connection", (1, 20)), ("reactive", (0, 0))] {
        let endpoint = format!("iiop://127.0.0.1:0/concurrency={concurrency}");
        let server = Server::at(&of_server, &[&endpoint]);
        // A servant without a priority model runs at the priority of the reading thread.
        let reference = server.plain();
        let client = client(&rt);
        on_a_thread(|| {
            rt.current().set_the_priority(at(30)).unwrap();
            let object = echo(&client, &reference);
            object.long(1).unwrap();
            assert_eq!(server.noting.last().scheduled, (0, 0));
            let banded = with(&object, bands());
            banded.long(1).unwrap();
            let seen = server.noting.last();
            assert_eq!(
                (seen.scheduled, seen.corba),
                (priority, None),
                "{concurrency}"
            );
        });
    }
}

#[test]
fn other_protocols_have_banded_connections_and_what_cannot_tell_the_band_has_them_all_the_same() {
    let _watchdog = watchdog(LIMIT);
    let rt = ordinary(Propagated::default());
    let endpoints = [
        "iiop",
        "uiop",
        "shmiop",
        "giop_lite+uiop",
        "giop_oneway+diop",
    ];
    let places = [
        "iiop://127.0.0.1:0",
        "uiop://",
        "shmiop://",
        "giop_lite+uiop://",
        "giop_oneway+diop://127.0.0.1:0",
    ];
    let server = Server::at(&rt, &places);
    let reference = server.plain();
    let client = client(&rt);
    for protocol in endpoints {
        let only = Policy::protocols(&[protocol], Otherwise::Raise);
        let policies = [only, Policy::of(bands())];
        let object = client.string_to_object(&reference).unwrap();
        let object = object
            .set_policy_overrides(&policies, SetOverride::Add)
            .unwrap();
        let before = server.noting.seen.lock().unwrap().len();
        match protocol {
            "giop_oneway+diop" => Echo::from_object(object).ping().unwrap(),
            _ => assert_eq!(Echo::from_object(object).long(3).unwrap(), 3, "{protocol}"),
        }
        while server.noting.seen.lock().unwrap().len() == before {
            std::thread::yield_now();
        }
    }
}

#[test]
fn a_band_above_what_clients_may_have_is_read_at_that() {
    let _watchdog = watchdog(LIMIT);
    let Some(rt) = fifo(Propagated::default()) else {
        return;
    };
    let capping = Propagated {
        highest: at(1),
        above: AboveHighest::Cap,
    };
    let Some(of_server) = fifo(capping) else {
        return;
    };
    let place = "iiop://127.0.0.1:0/concurrency=thread_per_connection";
    let server = Server::at(&of_server, &[place]);
    let reference = server.plain();
    let client = client(&rt);
    on_a_thread(|| {
        rt.current().set_the_priority(at(30)).unwrap();
        let banded = with(&echo(&client, &reference), bands());
        banded.long(1).unwrap();
        assert_eq!(server.noting.last().scheduled, (1, 1));
    });
}
