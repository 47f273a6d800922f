//! Many silent connections, and a few busy ones, on one thread and on a pool. It needs a process of
//! its own, as it uses up descriptors and its memory is measured.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::support;

use punctual::config::{Concurrency, PoolSize};
use punctual::stub::{Block, ByteOrder, Coding, Encoder};
use punctual_giop::{LocateRequestHeader, MessageKind, Target, begin_message, finish_message};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use support::{Pair, watchdog};

const LIMIT: Duration = Duration::from_secs(180);
/// Intended number of connections, if the descriptor limit allows it: each takes two descriptors,
/// as both ends are in this process.
const WANTED: u64 = 10_000;
const BUSY: usize = 100;
/// Upper bound of this process's memory per silent connection, both ends included, in bytes.
const MEMORY: u64 = 4096;

/// Raises the descriptor limit, and returns the number of silent connections that it allows.
fn crowd() -> usize {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let most = maximum.unwrap_or(u64::MAX);
    let limit = Rlimit {
        current: Some(most.min(2 * WANTED + 1000)),
        maximum,
    };
    setrlimit(Resource::Nofile, limit).unwrap();
    let idle = WANTED.min(most.saturating_sub(1000) / 2);
    if idle < WANTED {
        println!("the system gives descriptors for {idle} connections only");
    }
    usize::try_from(idle).unwrap()
}

/// Returns the resident memory of this process, in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    let kilobytes: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kilobytes * 1024
}

/// Returns a complete LocateRequest for the object with this key.
fn locate_request(key: &[u8]) -> Vec<u8> {
    let mut out = Encoder::new(Block::default(), ByteOrder::NATIVE, Coding::default());
    begin_message(&mut out, MessageKind::LocateRequest);
    let header = LocateRequestHeader {
        request_id: 2,
        target: Target::ObjectKey(key),
    };
    header.encode(&mut out).unwrap();
    let mut block = out.into_block();
    finish_message(&mut block).unwrap();
    block.into_vec()
}

fn served_beside_a_crowd(concurrency: Concurrency) {
    let _watchdog = watchdog(LIMIT);
    let idle = crowd();
    let pair = Pair::with(
        |config| {
            config.concurrency = concurrency;
            config.max_connections = idle + BUSY + 10;
        },
        |config| config.connections_per_endpoint = 1,
    );
    assert_eq!(pair.echo.long(0).unwrap(), 0);
    let address = ("127.0.0.1", pair.port);
    let before = resident();
    let mut silent: Vec<TcpStream> = (0..idle)
        .map(|_| TcpStream::connect(address).unwrap())
        .collect();
    while pair.server.client_connections() < idle + 1 {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let each = resident().saturating_sub(before) / u64::try_from(idle).unwrap();
    println!("{concurrency:?}: {idle} idle connections take {each} octets each");
    assert!(each <= MEMORY, "{each} octets for an idle connection");
    // Some of them begin to send, and are answered.
    let request = locate_request(&support::object_key(&pair));
    for stream in silent.iter_mut().step_by(idle / BUSY) {
        stream.write_all(&request).unwrap();
    }
    for stream in silent.iter_mut().step_by(idle / BUSY) {
        let mut header = [0; 12];
        stream.read_exact(&mut header).unwrap();
        assert_eq!(&header[..4], b"GIOP");
    }
    // Other clients call all the while.
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let echo = &pair.echo;
            scope.spawn(move || {
                for number in 0..250 {
                    assert_eq!(echo.long(thread * 1000 + number).unwrap() % 1000, number);
                }
            });
        }
    });
    drop(silent);
    while pair.server.client_connections() > 1 {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    pair.server.shutdown(true).unwrap();
}

#[test]
fn a_crowd_that_says_nothing_costs_little_and_keeps_nobody_waiting() {
    crate::support::alone::alone(|| {
        served_beside_a_crowd(Concurrency::Reactive);
        served_beside_a_crowd(Concurrency::LeaderFollowers(PoolSize::default()));
    });
}
