//! Time-outs: they hold whatever a peer or another thread of this process does meanwhile, and no
//! caller waits for the upcall of another.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::support;

use punctual::stub::{Block, ByteOrder, Coding, Encoder};
use punctual::{
    Interface, ListenEndpoint, ObjectRef, Orb, RootPoa, SystemExceptionKind as Kind, minor,
};
use punctual_giop::{
    AddressingDisposition, MessageHeader, MessageKind, ReplyHeader, ReplyStatus, ServiceContexts,
    align_body, begin_message, finish_message,
};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use support::alone::alone;
use support::{Echo, EchoImpl, Pair, watchdog};

const LIMIT: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(200);

/// Makes a server that runs `serve` with its first connection; returns a reference to an object in
/// it.
fn peer(
    serve: impl FnOnce(TcpStream) + Send + 'static,
) -> (Orb, ObjectRef, std::thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let thread = std::thread::spawn(move || serve(listener.accept().unwrap().0));
    let orb = Orb::builder().build().unwrap();
    let object = orb
        .string_to_object(&format!("corbaloc::1.2@127.0.0.1:{port}/x"))
        .unwrap();
    (orb, object, thread)
}

/// Reads one whole message; returns its request id, or `None` at the end of the stream.
fn read_request(stream: &mut TcpStream) -> Option<u32> {
    let mut header = [0; MessageHeader::LEN];
    stream.read_exact(&mut header).ok()?;
    let header = MessageHeader::parse(&header).unwrap();
    let mut body = vec![0; header.size as usize];
    stream.read_exact(&mut body).ok()?;
    let id: [u8; 4] = body[..4].try_into().unwrap();
    Some(match header.order {
        ByteOrder::Big => u32::from_be_bytes(id),
        ByteOrder::Little => u32::from_le_bytes(id),
    })
}

fn reply(request_id: u32, status: ReplyStatus, body: impl FnOnce(&mut Encoder<'_>)) -> Vec<u8> {
    let mut out = Encoder::new(Block::default(), ByteOrder::Big, Coding::default());
    begin_message(&mut out, MessageKind::Reply);
    ReplyHeader {
        request_id,
        status,
        contexts: ServiceContexts::none(),
    }
    .encode(&mut out)
    .unwrap();
    align_body(&mut out);
    body(&mut out);
    let mut block = out.into_block();
    finish_message(&mut block).unwrap();
    block.into_vec()
}

#[test]
fn a_reply_that_trickles_in_does_not_stretch_the_calls_time() {
    let _watchdog = watchdog(LIMIT);
    let (orb, object, server) = peer(|mut stream| {
        let id = read_request(&mut stream).unwrap();
        let octets = reply(id, ReplyStatus::NoException, |out| {
            out.put_octets(&[1; 100_000]).unwrap();
        });
        // This would take minutes; it ends when the caller's process closes the connection.
        for octet in octets {
            if stream.write_all(&[octet]).is_err() {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("the caller has waited for all of it");
    });
    let exception = object.with_timeout(SHORT).non_existent().unwrap_err();
    assert_eq!(exception.kind(), Kind::Timeout);
    orb.shutdown(true).unwrap();
    server.join().unwrap();
}

#[test]
fn a_caller_that_reads_for_others_still_ends_in_its_own_time() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    let busy = Arc::new(AtomicBool::new(true));
    let others: Vec<_> = (0..3)
        .map(|_| {
            let (echo, busy) = (pair.echo.clone(), busy.clone());
            std::thread::spawn(move || {
                while busy.load(Ordering::Relaxed) {
                    echo.long(1).unwrap();
                }
            })
        })
        .collect();
    // Replies of the others keep coming all the while.
    for _ in 0..5 {
        let exception = pair.echo.with_timeout(SHORT).wait().unwrap_err();
        assert_eq!(exception.kind(), Kind::Timeout);
    }
    busy.store(false, Ordering::Relaxed);
    for other in others {
        other.join().unwrap();
    }
}

#[test]
fn a_server_that_wants_ever_another_addressing_is_given_up() {
    let _watchdog = watchdog(LIMIT);
    let (orb, object, server) = peer(|mut stream| {
        let mut wanted = [
            AddressingDisposition::Profile,
            AddressingDisposition::Reference,
        ]
        .into_iter()
        .cycle();
        while let Some(id) = read_request(&mut stream) {
            let number = wanted.next().unwrap().number();
            let answer = reply(id, ReplyStatus::NeedsAddressingMode, |out| {
                out.put_u16(number)
            });
            stream.write_all(&answer).unwrap();
        }
    });
    let exception = object.non_existent().unwrap_err();
    assert_eq!(
        (exception.kind(), exception.minor()),
        (Kind::CommFailure, minor::PROTOCOL)
    );
    orb.shutdown(true).unwrap();
    server.join().unwrap();
}

#[test]
fn a_call_does_not_wait_longer_than_its_time_for_anothers_sending() {
    let _watchdog = watchdog(LIMIT);
    let (orb, object, server) = peer(|mut stream| {
        // The server reads the beginning of the first request and no more, until the callers are
        // done.
        let mut some = [0; 100];
        stream.read_exact(&mut some).unwrap();
        let _ = stream.peek(&mut [0]);
        std::thread::park();
    });
    let large = Echo::from_object(object.clone());
    let sender = std::thread::spawn(move || large.octets(&vec![0; 32 << 20]).unwrap_err());
    let hurried = object.with_timeout(SHORT);
    // The first may be the one that sends; a later one finds the sending lock taken.
    for _ in 0..3 {
        let exception = hurried.non_existent().unwrap_err();
        assert_eq!(exception.kind(), Kind::Timeout);
    }
    orb.shutdown(true).unwrap();
    assert_eq!(sender.join().unwrap().kind(), Kind::CommFailure);
    server.thread().unpark();
    server.join().unwrap();
}

#[test]
fn a_quiet_connection_on_which_a_message_was_begun_costs_no_more_than_the_calls_time() {
    let _watchdog = watchdog(LIMIT);
    let (orb, object, server) = peer(|mut stream| {
        let id = read_request(&mut stream).unwrap();
        let answer = reply(id, ReplyStatus::NoException, |out| out.put_bool(false));
        stream.write_all(&answer).unwrap();
        // A message that is begun and never ends.
        let begun = reply(0, ReplyStatus::NoException, |out| {
            out.put_octets(&[1; 100_000]).unwrap();
        });
        for octet in begun {
            if stream.write_all(&[octet]).is_err() {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("the caller has waited for all of it");
    });
    assert!(!object.non_existent().unwrap());
    // The connection counts as quiet after a while.
    std::thread::sleep(Duration::from_millis(100));
    let exception = object.with_timeout(SHORT).non_existent().unwrap_err();
    assert_eq!(exception.kind(), Kind::Timeout);
    orb.shutdown(true).unwrap();
    server.join().unwrap();
}

#[test]
fn a_servant_may_wait_for_another_thread_of_the_same_client() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    let waiting: Vec<_> = (0..4)
        .map(|_| {
            let echo = pair.echo.clone();
            std::thread::spawn(move || echo.wait())
        })
        .collect();
    // All four are in their upcalls at once, though they share one connection.
    pair.servant.gate.wait_for_waiters(4);
    assert_eq!(pair.server.client_connections(), 1);
    assert_eq!(pair.echo.long(1).unwrap(), 1);
    pair.servant.gate.open();
    for thread in waiting {
        thread.join().unwrap().unwrap();
    }
}

#[test]
fn connections_to_servers_that_are_gone_are_let_go() {
    alone(|| {
        let _watchdog = watchdog(LIMIT);
        let client = Orb::builder().build().unwrap();
        let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
        let mut references = Vec::new();
        let call_and_leave = |references: &mut Vec<Echo>| {
            let gone = Pair::new();
            let text = gone.server.object_to_string(&gone.echo).unwrap();
            let echo = Echo::narrow(client.string_to_object(&text).unwrap()).unwrap();
            assert_eq!(echo.long(1).unwrap(), 1);
            references.push(echo);
        };
        for _ in 0..50 {
            call_and_leave(&mut references);
        }
        // They are looked for when another is opened, at most once a second.
        std::thread::sleep(Duration::from_millis(1100));
        call_and_leave(&mut references);
        // Other tests of this process have some, too.
        assert!(descriptors() < 50, "{} descriptors", descriptors());
        assert_eq!(references.len(), 51);
    });
}

#[test]
fn after_shutdown_nothing_is_called() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    assert_eq!(pair.echo.long(1).unwrap(), 1);
    pair.client.shutdown(true).unwrap();
    let exception = pair.echo.long(1).unwrap_err();
    assert_eq!(
        (exception.kind(), exception.minor()),
        (Kind::BadInvOrder, minor::ORB_HAS_SHUT_DOWN)
    );
    // A second shutdown does nothing.
    pair.client.shutdown(true).unwrap();
}

#[test]
fn a_reference_is_found_again_for_each_interface_of_a_servant() {
    let pair = Pair::new();
    let servant = Arc::new(EchoImpl::default());
    let first: Echo = pair.poa.servant_to_reference(&servant).unwrap();
    let again: Echo = pair.poa.servant_to_reference(&servant).unwrap();
    assert_eq!(first, again);
    let other: support::Second = pair.poa.servant_to_reference(&servant).unwrap();
    assert_ne!(first.as_object(), other.as_object());
    assert_eq!(other.as_object().type_id(), support::Second::REPOSITORY_ID);
}

/// Relays data from one connection to another, each piece in two halves with a pause between them.
fn pass_in_halves(mut from: TcpStream, mut to: TcpStream) {
    let mut piece = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut piece) {
        let (first, second) = piece[..length].split_at(length / 2);
        to.write_all(first).unwrap();
        std::thread::sleep(SHORT / 10);
        if to.write_all(second).is_err() {
            return;
        }
    }
}

#[test]
fn the_time_for_one_message_in_pieces_is_not_counted_for_the_next() {
    let _watchdog = watchdog(LIMIT);
    let between = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = between.local_addr().unwrap().port();
    let server = Orb::builder()
        .configure(|config| config.timeouts.message = Some(SHORT))
        .listen(ListenEndpoint::iiop("127.0.0.1", 0).option("port_in_ior", port))
        .build()
        .unwrap();
    let poa = server.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let echo: Echo = poa.activate(Arc::new(EchoImpl::default())).unwrap();
    let reference = server.object_to_string(echo.as_object()).unwrap();
    let real = server.endpoints()[0].port().unwrap();
    std::thread::spawn(move || {
        let (client, _) = between.accept().unwrap();
        let to = TcpStream::connect(("127.0.0.1", real)).unwrap();
        let (mut replies, mut back) = (to.try_clone().unwrap(), client.try_clone().unwrap());
        std::thread::spawn(move || std::io::copy(&mut replies, &mut back));
        pass_in_halves(client, to);
    });
    let client = Orb::builder().build().unwrap();
    let echo = Echo::from_object(client.string_to_object(&reference).unwrap());
    // Longer in all than one message may take.
    for value in 0..5 {
        assert_eq!(echo.long(value).unwrap(), value);
        std::thread::sleep(SHORT / 3);
    }
}
