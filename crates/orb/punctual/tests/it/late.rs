//! Requests that arrive together, replies that arrive late, and connections that end early.
#![allow(clippy::unwrap_used)]

use crate::support;

use punctual::config::{Concurrency, PoolSize};
use punctual::stub::{Arc, DispatchError, Dispatched, Marshal, ServerCall, Unmarshal};
use punctual::{Interface, Orb, SystemExceptionKind};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;
use support::{Answering, Echo, Gate, Pair, object_key, watchdog};

const LIMIT: Duration = Duration::from_secs(60);

/// Returns the concurrency strategies that can start additional threads.
fn strategies() -> [Concurrency; 2] {
    let mut size = PoolSize::default();
    (size.threads, size.most) = (2, 4);
    [
        Concurrency::ThreadPerConnection,
        Concurrency::LeaderFollowers(size),
    ]
}

/// Returns a little-endian GIOP 1.2 request.
pub(crate) fn request(id: u32, two_way: bool, key: &[u8], operation: &str, body: &[u8]) -> Vec<u8> {
    let length = |octets: &[u8]| u32::try_from(octets.len()).unwrap().to_le_bytes();
    let mut message = b"GIOP\x01\x02\x01\x00\0\0\0\0".to_vec();
    message.extend(id.to_le_bytes());
    message.extend([if two_way { 3 } else { 0 }, 0, 0, 0, 0, 0, 0, 0]);
    message.extend(length(key));
    message.extend(key);
    message.resize(message.len().next_multiple_of(4), 0);
    let name = [operation.as_bytes(), b"\0"].concat();
    message.extend(length(&name));
    message.extend(name);
    message.resize(message.len().next_multiple_of(4), 0);
    message.extend([0; 4]);
    if !body.is_empty() {
        message.resize(message.len().next_multiple_of(8), 0);
        message.extend(body);
    }
    let size = length(&message[12..]);
    message[8..12].copy_from_slice(&size);
    message
}

/// Returns the id in the next message, which is one of GIOP 1.2.
fn next_id(stream: &mut TcpStream) -> Option<u32> {
    let mut header = [0; 12];
    stream.read_exact(&mut header).ok()?;
    let size = u32::from_le_bytes(header[8..].try_into().unwrap());
    let mut rest = vec![0; size as usize];
    stream.read_exact(&mut rest).ok()?;
    Some(u32::from_le_bytes(rest[..4].try_into().unwrap()))
}

/// Returns a connection on which requests have been served already.
fn warm(pair: &Pair, key: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", pair.port)).unwrap();
    for id in 0..3 {
        let message = request(id, true, key, "long", &5_i32.to_le_bytes());
        stream.write_all(&message).unwrap();
        assert_eq!(next_id(&mut stream), Some(id));
    }
    stream
}

/// Servant that answers `long` at once, and `held` only when its gate opens.
#[derive(Default)]
struct Held {
    gate: Gate,
}

impl Answering for Held {
    fn answer(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        match call.operation() {
            "long" => {
                let value = i32::unmarshal(call.arguments())?;
                call.reply(|out| value.marshal(out))
            }
            "held" => {
                self.gate.pass();
                call.reply(|_| Ok(()))
            }
            _ => Err(call.bad_operation()),
        }
    }
}

fn held(pair: &Pair) -> (Arc<Held>, Vec<u8>) {
    let servant = Arc::new(Held::default());
    let reference: Echo = pair.poa.activate(servant.clone()).unwrap();
    let reference = pair.as_client(&reference);
    let mut profiles = reference.as_object().ior().iiop_profiles();
    let key = profiles.next().unwrap().unwrap().object_key;
    (servant, key)
}

#[test]
fn a_reply_that_is_made_does_not_wait_for_the_next_upcall_to_end() {
    let _watchdog = watchdog(LIMIT);
    for strategy in strategies() {
        let pair = Pair::with(|config| config.concurrency = strategy, |_| {});
        let key = object_key(&pair);
        let mut stream = warm(&pair, &key);
        let quick = request(10, true, &key, "long", &5_i32.to_le_bytes());
        let slow = request(12, true, &key, "wait", &[]);
        stream.write_all(&[quick, slow].concat()).unwrap();
        // The gate is still shut.
        assert_eq!(next_id(&mut stream), Some(10), "{strategy:?}");
        pair.servant.gate.open();
        assert_eq!(next_id(&mut stream), Some(12), "{strategy:?}");
    }
}

#[test]
fn requests_behind_one_that_fills_its_block_are_served_during_its_upcall() {
    let _watchdog = watchdog(LIMIT);
    for strategy in strategies() {
        for length in [4095, 4096, 4097] {
            let pair = Pair::with(|config| config.concurrency = strategy, |_| {});
            let (servant, key) = held(&pair);
            let mut stream = warm(&pair, &key);
            let bare = request(10, true, &key, "held", &[0]).len() - 1;
            let filling = request(10, true, &key, "held", &vec![7; length - bare]);
            assert_eq!(filling.len(), length);
            let behind = request(12, true, &key, "long", &5_i32.to_le_bytes());
            stream.write_all(&[filling, behind].concat()).unwrap();
            assert_eq!(next_id(&mut stream), Some(12), "{strategy:?}, {length}");
            servant.gate.open();
            assert_eq!(next_id(&mut stream), Some(10), "{strategy:?}, {length}");
        }
    }
}

#[test]
fn an_end_that_comes_during_an_upcall_is_not_overlooked() {
    let _watchdog = watchdog(LIMIT);
    for strategy in strategies() {
        let pair = Pair::with(|config| config.concurrency = strategy, |_| {});
        let (servant, key) = held(&pair);
        let mut streams: Vec<_> = (0..2).map(|_| warm(&pair, &key)).collect();
        for stream in &mut streams {
            let message = request(10, false, &key, "held", &[]);
            stream.write_all(&message).unwrap();
        }
        servant.gate.wait_for_waiters(2);
        drop(streams);
        // Longer than the watch takes for two checks.
        std::thread::sleep(Duration::from_millis(200));
        servant.gate.open();
        while pair.server.client_connections() > 0 {
            crate::support::pause();
        }
    }
}

#[test]
fn a_late_reply_reaches_nobody_however_many_calls_come_before_it() {
    const CALLS: u32 = 140_000;
    let _watchdog = watchdog(LIMIT);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let answer = |stream: &mut TcpStream, id: u32, value: i32| {
        let mut reply = b"GIOP\x01\x02\x01\x01\x10\0\0\0".to_vec();
        reply.extend(id.to_le_bytes());
        reply.extend([0; 8]);
        reply.extend(value.to_le_bytes());
        stream.write_all(&reply).unwrap();
    };
    let peer = std::thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        stream.set_nodelay(true).unwrap();
        let first = next_id(&mut stream).unwrap();
        answer(&mut stream, first, 1);
        let late = next_id(&mut stream).unwrap();
        let mut with_its_id = 0;
        while let Some(id) = next_id(&mut stream) {
            if id == late {
                with_its_id += 1;
            } else {
                answer(&mut stream, id, 1);
            }
        }
        with_its_id
    });
    let client = Orb::builder().build().unwrap();
    let object = client
        .string_to_object(&format!("corbaloc::1.2@127.0.0.1:{port}/x"))
        .unwrap();
    let echo = Echo::from_object(object);
    assert_eq!(echo.long(1).unwrap(), 1);
    let timed_out = echo.with_timeout(Duration::from_secs(1)).long(2);
    let timed_out = timed_out.unwrap_err();
    assert_eq!(timed_out.kind(), SystemExceptionKind::Timeout);
    for _ in 0..CALLS {
        assert_eq!(echo.long(1).unwrap(), 1);
    }
    client.shutdown(false).unwrap();
    drop((echo, client));
    // Its CancelRequest, and no other message.
    assert_eq!(peer.join().unwrap(), 1);
}
