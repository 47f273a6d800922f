//! Speed of stream sockets when both ends spin before they block, compared with raw sockets in the
//! same run.
//!
//! `cargo run --release -p punctual-link --example socket_speed`. Prints; asserts nothing on time.
#![allow(clippy::unwrap_used, clippy::missing_panics_doc)]

use punctual_exec::Deadline;
use punctual_link::iiop::Iiop;
use punctual_link::uiop::Uiop;
use punctual_link::{Address, Connection, Link, Properties};
use punctual_sys::{processor, stream};
use std::io::IoSlice;
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

const ASKED: usize = 64;
const ANSWERED: usize = 32;
const ROUNDS: usize = 20_000;
/// Number of rounds in which the runs alternate, so that other load affects all of them alike.
const TURNS: usize = 7;

/// Endpoint of a connection that sends and receives whole messages.
trait End: Send {
    fn send(&mut self, octets: &[u8]);
    /// Receives a message; returns `false` if the other end has closed.
    fn receive(&mut self, length: usize) -> bool;
}

struct Raw {
    socket: OwnedFd,
    spins: bool,
    buffer: Vec<u8>,
}

impl Raw {
    fn over(socket: impl Into<OwnedFd>, spins: bool) -> Box<dyn End> {
        Box::new(Self {
            socket: socket.into(),
            spins,
            buffer: Vec::with_capacity(4096),
        })
    }
}

impl End for Raw {
    fn send(&mut self, octets: &[u8]) {
        stream::send(&self.socket, &[IoSlice::new(octets)], false).unwrap();
    }

    fn receive(&mut self, length: usize) -> bool {
        self.buffer.clear();
        while self.buffer.len() < length {
            let received = match self.spins {
                true => stream::receive_now(&self.socket, &mut self.buffer).unwrap(),
                false => Some(stream::receive(&self.socket, &mut self.buffer).unwrap()),
            };
            if received == Some(0) {
                return false;
            }
        }
        true
    }
}

struct Linked {
    connection: std::sync::Arc<dyn Connection>,
    block: punctual_cdr::Block,
}

impl Linked {
    fn over(connection: std::sync::Arc<dyn Connection>) -> Box<dyn End> {
        let block = connection.lend(0);
        Box::new(Self { connection, block })
    }
}

impl End for Linked {
    fn send(&mut self, octets: &[u8]) {
        let parts = [IoSlice::new(octets)];
        self.connection.send(&parts, Deadline::NEVER).unwrap();
    }

    fn receive(&mut self, length: usize) -> bool {
        self.block.clear();
        while self.block.len() < length {
            let received = self
                .connection
                .receive(&mut self.block, length, Deadline::NEVER);
            if received.is_err() {
                return false;
            }
        }
        true
    }
}

type Pair = (Box<dyn End>, Box<dyn End>);

fn linked(link: &dyn Link, address: &Address, spin_us: u32) -> Pair {
    let spin = [
        ("spin_us", spin_us.to_string()),
        ("spin_always", "true".to_owned()),
    ];
    let spin = Properties::from_iter(spin);
    let acceptor = link.listen(address, &spin).unwrap();
    let client = link.connect(acceptor.address(), &spin, Deadline::NEVER);
    (
        Linked::over(client.unwrap()),
        Linked::over(acceptor.accept().unwrap()),
    )
}

fn tcp(spins: bool) -> Pair {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (server, _) = listener.accept().unwrap();
    client.set_nodelay(true).unwrap();
    server.set_nodelay(true).unwrap();
    (Raw::over(client, spins), Raw::over(server, spins))
}

fn unix(spins: bool) -> Pair {
    let (client, server) = UnixStream::pair().unwrap();
    (Raw::over(client, spins), Raw::over(server, spins))
}

fn rounds((mut client, mut server): Pair, processors: (usize, usize)) -> Vec<Duration> {
    let echo = std::thread::spawn(move || {
        processor::pin_to(processors.1).unwrap();
        while server.receive(ASKED) {
            server.send(&[1; ANSWERED]);
        }
    });
    processor::pin_to(processors.0).unwrap();
    let mut round = || {
        let begin = Instant::now();
        client.send(&[2; ASKED]);
        client.receive(ANSWERED);
        begin.elapsed()
    };
    let times = (0..ROUNDS).map(|_| round()).skip(ROUNDS / 10).collect();
    drop(client);
    echo.join().unwrap();
    times
}

fn main() {
    let processors = processor::allowed().unwrap();
    let first = processors[0];
    let second = processors.get(1).copied().unwrap_or(first);
    let tcp_address = Address::iiop("127.0.0.1", 0);
    let unix_address = Address::new("uiop", "");
    let makes: [(&str, &dyn Fn() -> Pair); 8] = [
        ("tcp, raw, spinning", &|| tcp(true)),
        ("iiop, spinning", &|| {
            linked(&Iiop::default(), &tcp_address, 1000)
        }),
        ("unix, raw, spinning", &|| unix(true)),
        ("uiop, spinning", &|| {
            linked(&Uiop::default(), &unix_address, 1000)
        }),
        ("tcp, raw", &|| tcp(false)),
        ("iiop", &|| linked(&Iiop::default(), &tcp_address, 0)),
        ("unix, raw", &|| unix(false)),
        ("uiop", &|| linked(&Uiop::default(), &unix_address, 0)),
    ];
    let mut times = makes.map(|_| Vec::new());
    for _ in 0..TURNS {
        for (times, (_, make)) in times.iter_mut().zip(&makes) {
            let processors = (first, second);
            let pair = make();
            let round = std::thread::scope(|scope| {
                let client = scope.spawn(|| rounds(pair, processors));
                client.join().unwrap()
            });
            times.extend(round);
        }
    }
    println!("processors {first} and {second}; {ASKED} octets there, {ANSWERED} back");
    println!("{:<24} {:>10} {:>10} {:>8}", "", "p50", "p99", "ratio");
    let mut floor = 1.0;
    for (times, (name, _)) in times.iter_mut().zip(&makes) {
        times.sort_unstable();
        let (p50, p99) = (times[times.len() / 2], times[times.len() * 99 / 100]);
        if name.contains("raw") {
            floor = p50.as_secs_f64();
        }
        let ratio = p50.as_secs_f64() / floor;
        println!("{name:<24} {p50:>10.2?} {p99:>10.2?} {ratio:>8.2}");
    }
}
