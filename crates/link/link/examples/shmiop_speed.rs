//! Speed of shared memory on this machine, compared with blocking TCP in the same run.
//!
//! `cargo run --release -p punctual-link --example shmiop_speed`. Prints; asserts nothing on time.
#![allow(clippy::unwrap_used, clippy::missing_panics_doc)]

use punctual_exec::Deadline;
use punctual_link::shmiop::{NAME, ShmOptions, Shmiop, Trust};
use punctual_link::{Address, Connection, Link, Properties};
use punctual_sys::processor;
use std::io::{IoSlice, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

const SMALL: usize = 64;
const LARGE: usize = 1 << 20;
/// Number of rounds in which the runs alternate, so that other load affects all of them alike.
const TURNS: usize = 5;

fn main() {
    let processors = processor::allowed().unwrap();
    let first = processors[0];
    let second = processors.get(1).copied().unwrap_or(first);
    println!("processors {first} and {second}; {TURNS} turns each\n");

    println!("{SMALL} octets there and back         p50        p99");
    let spinning = Duration::from_secs(1);
    let mut runs: Vec<(&str, Vec<Duration>)> = [
        "tcp, two processors",
        "shmiop spinning, two",
        "shmiop futex, two",
        "tcp, one processor",
        "shmiop default, one",
    ]
    .map(|name| (name, Vec::new()))
    .into();
    for _ in 0..TURNS {
        runs[0].1.extend(tcp(first, second, 10_000));
        runs[1]
            .1
            .extend(shm(first, second, Some(spinning), 200_000));
        runs[2]
            .1
            .extend(shm(first, second, Some(Duration::ZERO), 10_000));
        runs[3].1.extend(tcp(first, first, 10_000));
        runs[4].1.extend(shm(first, first, None, 10_000));
    }
    let mut medians = Vec::new();
    for (name, times) in &mut runs {
        times.sort_unstable();
        let (p50, p99) = (times[times.len() / 2], times[times.len() * 99 / 100]);
        println!("{name:<30} {p50:>10.2?} {p99:>10.2?}");
        medians.push(p50.as_secs_f64());
    }
    println!(
        "shared memory is {:.1} times as fast on two processors, {:.1} on one\n",
        medians[0] / medians[1],
        medians[3] / medians[4]
    );

    println!("1 MiB and an answer             p50    octets copied by sender, receiver");
    for large in [
        Large::Loan,
        Large::Lent,
        Large::Untrusted,
        Large::Ring,
        Large::Tcp,
    ] {
        large.measure(first, second);
    }
    println!(
        "\none run of octets, lent from a buffer of the application's or through the ring, p50"
    );
    for len in [1, 2, 4, 8, 16, 32, 64, 128].map(|kib| kib * 1024) {
        let lent = thresholds(len, 16 * 1024 * 1024, first, second);
        let ring = thresholds(len, 0, first, second);
        println!(
            "{:>4} KiB   lent {lent:>10.2?}   ring {ring:>10.2?}",
            len / 1024
        );
    }
}

/// Starts a thread on a processor of its own.
fn on<T: Send + 'static>(
    processor: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> std::thread::JoinHandle<T> {
    std::thread::spawn(move || {
        processor::pin_to(processor).unwrap();
        work()
    })
}

/// Returns the duration of each of `rounds` executions of `round`, after a warm-up.
fn time(rounds: usize, mut round: impl FnMut()) -> Vec<Duration> {
    for _ in 0..rounds / 10 {
        round();
    }
    (0..rounds)
        .map(|_| {
            let begin = Instant::now();
            round();
            begin.elapsed()
        })
        .collect()
}

fn tcp(client: usize, server: usize, rounds: usize) -> Vec<Duration> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let echo = on(server, move || {
        let (mut socket, _) = listener.accept().unwrap();
        socket.set_nodelay(true).unwrap();
        let mut message = [0; SMALL];
        while socket.read_exact(&mut message).is_ok() {
            socket.write_all(&message).unwrap();
        }
    });
    let times = on(client, move || {
        let mut socket = TcpStream::connect(address).unwrap();
        socket.set_nodelay(true).unwrap();
        let mut message = [7; SMALL];
        time(rounds, || {
            socket.write_all(&message).unwrap();
            socket.read_exact(&mut message).unwrap();
        })
    });
    let times = times.join().unwrap();
    echo.join().unwrap();
    times
}

fn pair(client: &Shmiop, server: &Shmiop) -> (Arc<dyn Connection>, Arc<dyn Connection>) {
    let none = Properties::NONE;
    let acceptor = server.listen(&Address::new(NAME, ""), &none).unwrap();
    let one = client.connect(acceptor.address(), &none, Deadline::NEVER);
    (one.unwrap(), acceptor.accept().unwrap())
}

fn shm(client: usize, server: usize, spin: Option<Duration>, rounds: usize) -> Vec<Duration> {
    let link = Shmiop::new(ShmOptions {
        spin,
        ..ShmOptions::default()
    });
    let (one, other) = pair(&link, &link);
    let echo = on(server, move || {
        let mut block = other.lend(SMALL);
        while receive(&*other, &mut block, SMALL) {
            other
                .send(&[IoSlice::new(&block)], Deadline::NEVER)
                .unwrap();
        }
    });
    let times = on(client, move || {
        let message = [7; SMALL];
        let mut block = one.lend(SMALL);
        time(rounds, || {
            one.send(&[IoSlice::new(&message)], Deadline::NEVER)
                .unwrap();
            receive(&*one, &mut block, SMALL);
        })
    });
    let times = times.join().unwrap();
    echo.join().unwrap();
    times
}

/// Receives a message of `len` bytes; returns whether there was one.
fn receive(connection: &dyn Connection, block: &mut punctual_cdr::Block, len: usize) -> bool {
    block.clear();
    while block.full_len() < len {
        if connection.receive(block, len, Deadline::NEVER).is_err() {
            return false;
        }
    }
    true
}

#[derive(Clone, Copy)]
enum Large {
    /// Bytes are written directly to shared memory and read in place.
    Loan,
    /// Bytes are copied to the shared pool and read in place.
    Lent,
    /// Bytes are copied to the shared pool and copied out of it.
    Untrusted,
    /// Bytes copied through the ring buffer in shared memory.
    Ring,
    Tcp,
}

impl Large {
    fn measure(self, client: usize, server: usize) {
        let (name, pool, trust) = match self {
            Self::Loan => ("shmiop, loan, trusted", 16 << 20, Trust::SameUser),
            Self::Lent => ("shmiop, lent, trusted", 16 << 20, Trust::SameUser),
            Self::Untrusted => ("shmiop, lent, not trusted", 16 << 20, Trust::Never),
            Self::Ring => ("shmiop, through the ring", 0, Trust::Never),
            Self::Tcp => return tcp_large(client, server),
        };
        let link = || {
            Shmiop::new(ShmOptions {
                pool,
                trust,
                ..ShmOptions::default()
            })
        };
        let (sending, receiving) = (link(), link());
        let mut times = lent(&sending, &receiving, LARGE, 2000, self, client, server);
        times.sort_unstable();
        let (sent, received) = (sending.copied(), receiving.copied());
        let messages = 2200;
        println!(
            "{name:<28} {:>8.2?}    {}, {}",
            times[times.len() / 2],
            (sent.into_ring + sent.into_pool) / messages,
            (received.out_of_ring + received.out_of_pool) / messages,
        );
    }
}

/// Times messages of a short head and a long run of bytes, each answered by one byte.
fn lent(
    sending: &Shmiop,
    receiving: &Shmiop,
    len: usize,
    rounds: usize,
    how: Large,
    client: usize,
    server: usize,
) -> Vec<Duration> {
    const HEAD: [u8; 16] = [1; 16];
    let (one, other) = pair(sending, receiving);
    let sink = on(server, move || {
        let mut block = other.lend(0);
        let mut copy = vec![0; len];
        while receive(&*other, &mut block, HEAD.len() + len) {
            match block.lent().first() {
                Some(lent) if matches!(how, Large::Untrusted) => lent.segment.copy_to(&mut copy),
                Some(lent) => copy[0] = look(lent.segment.view()),
                None => copy[0] = look(&block),
            }
            // Returned before the answer, as a server returns its arguments.
            block.clear();
            other
                .send(&[IoSlice::new(&copy[..1])], Deadline::NEVER)
                .unwrap();
        }
    });
    let times = on(client, move || {
        let mut loan = one.loan(len);
        if let Some(loan) = &mut loan {
            loan.fill(3);
        }
        let own = vec![3; len];
        let mut answer = one.lend(1);
        time(rounds, || {
            let octets = match &loan {
                Some(loan) if matches!(how, Large::Loan) => &loan[..],
                _ => &own[..],
            };
            let segment = one.lender().and_then(|lender| lender.lend(octets));
            let octets = segment
                .as_ref()
                .map_or(octets, |segment| segment.as_slice());
            let parts = [IoSlice::new(&HEAD), IoSlice::new(octets)];
            one.send(&parts, Deadline::NEVER).unwrap();
            receive(&*one, &mut answer, 1);
        })
    });
    let times = times.join().unwrap();
    sink.join().unwrap();
    times
}

/// Reads one byte of each cache line, as an application that uses the data would.
fn look(octets: &[u8]) -> u8 {
    octets.iter().step_by(64).fold(0, |sum, octet| sum ^ octet)
}

fn thresholds(len: usize, pool: u32, client: usize, server: usize) -> Duration {
    let link = Shmiop::new(ShmOptions {
        pool,
        lend_threshold: 1,
        trust: Trust::SameUser,
        ..ShmOptions::default()
    });
    let mut times = lent(&link, &link, len, 5000, Large::Lent, client, server);
    times.sort_unstable();
    times[times.len() / 2]
}

fn tcp_large(client: usize, server: usize) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let sink = on(server, move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut message = vec![0; LARGE];
        while socket.read_exact(&mut message).is_ok() {
            socket.write_all(&[look(&message)]).unwrap();
        }
    });
    let times = on(client, move || {
        let mut socket = TcpStream::connect(address).unwrap();
        socket.set_nodelay(true).unwrap();
        let message = vec![3; LARGE];
        time(2000, || {
            socket.write_all(&message).unwrap();
            socket.read_exact(&mut [0]).unwrap();
        })
    });
    let mut times = times.join().unwrap();
    sink.join().unwrap();
    times.sort_unstable();
    println!("{:<28} {:>8.2?}", "tcp", times[times.len() / 2]);
}
