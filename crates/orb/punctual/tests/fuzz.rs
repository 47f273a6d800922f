//! A long fuzz by mutation of good messages, in a process of its own, so that its size can be watched.
#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use punctual::GiopVersion;
use punctual::stub::{Block, ByteOrder, Coding, Encoder};
use punctual_giop::{
    LocateRequestHeader, MessageKind, RequestHeader, ResponseFlags, ServiceContexts, Target,
    align_body, begin_message, finish_message,
};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;
use support::{Pair, Random, object_key, watchdog};

/// Good messages, each in every version and byte order that the fuzz changes bits of.
fn good_messages(pair: &Pair) -> Vec<Vec<u8>> {
    let key = object_key(pair);
    let mut messages = Vec::new();
    for version in [GiopVersion::V1_0, GiopVersion::V1_1, GiopVersion::V1_2] {
        for order in [ByteOrder::Big, ByteOrder::Little] {
            let limits = Box::leak(Box::new(punctual::Limits::default()));
            let coding = Coding::new(version, limits);
            for operation in ["long", "text", "octets", "same", "_is_a", "ping"] {
                let mut out = Encoder::new(Block::default(), order, coding);
                begin_message(&mut out, MessageKind::Request);
                RequestHeader {
                    request_id: 2,
                    response: ResponseFlags::SYNC_WITH_TARGET,
                    target: Target::ObjectKey(&key),
                    operation,
                    contexts: ServiceContexts::new(&[(1, &[0; 12]), (77, b"unknown")]),
                }
                .encode(&mut out)
                .unwrap();
                align_body(&mut out);
                out.put_u32(24);
                out.put_bytes(b"some text, or some octet");
                out.put_u32(0);
                let mut block = out.into_block();
                finish_message(&mut block).unwrap();
                messages.push(block.into_vec());
            }
            let mut locate = Encoder::new(Block::default(), order, coding);
            begin_message(&mut locate, MessageKind::LocateRequest);
            LocateRequestHeader {
                request_id: 4,
                target: Target::ObjectKey(&key),
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

/// By how much the fuzz may grow the process, in KiB: what an allocator keeps, not what leaks.
const MAX_GROWTH: u64 = 1024;

#[test]
fn a_hundred_thousand_mutated_messages_leave_the_server_alive_serving_and_no_bigger() {
    let _watchdog = watchdog(Duration::from_secs(600));
    let pair = Pair::with(
        |config| config.timeouts.message = Some(Duration::from_millis(500)),
        |_| {},
    );
    let messages = good_messages(&pair);
    let mut sizes = Vec::new();
    for seed in [1, 2, 3, 4] {
        mutate(&pair, &messages, seed, messages_a_round());
        assert_eq!(pair.echo.long(1).unwrap(), 1, "seed {seed}");
        sizes.push(resident_kib());
    }
    eprintln!("resident size in KiB after each round: {sizes:?}");
    // What the first rounds warm up does not count.
    let (first, last) = (sizes[0], sizes[sizes.len() - 1]);
    assert!(
        last < first + MAX_GROWTH,
        "resident size in KiB after each round: {sizes:?}"
    );
    while pair.server.client_connections() > 1 {
        std::thread::yield_now();
    }
}

/// A quarter of the messages; `PUNCTUAL_FUZZ_MESSAGES` asks for a longer run.
fn messages_a_round() -> u32 {
    let asked = std::env::var("PUNCTUAL_FUZZ_MESSAGES").ok();
    asked.map_or(100_000, |number| number.parse().unwrap()) / 4
}

/// Sends `count` messages, each changed in some places, many to a connection while it lasts.
fn mutate(pair: &Pair, messages: &[Vec<u8>], seed: u64, count: u32) {
    let mut random = Random(seed);
    let mut peer = connect(pair);
    let mut on_this_one = 0;
    for _ in 0..count {
        let mut message = messages[random.below(messages.len())].clone();
        for _ in 0..=random.below(4) {
            random.mutate(&mut message);
        }
        on_this_one += 1;
        if on_this_one > 50 || peer.write_all(&message).is_err() {
            let _ = peer.shutdown(Shutdown::Both);
            peer = connect(pair);
            on_this_one = 0;
        } else {
            // Answers are taken so that the server's do not fill the socket.
            peer.set_nonblocking(true).unwrap();
            let mut sink = [0; 4096];
            if matches!(peer.read(&mut sink), Ok(0)) {
                peer = connect(pair);
                on_this_one = 0;
            }
            peer.set_nonblocking(false).unwrap();
        }
    }
}

fn connect(pair: &Pair) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", pair.port)).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    stream
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
