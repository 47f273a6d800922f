//! Attacks of hostile clients.

use std::io::{ErrorKind, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::client::{Client, Request, request};
use crate::services::Served;

/// Kind of hostile clients.
#[derive(Debug)]
pub(crate) struct Attack {
    pub(crate) name: &'static str,
    /// True if the service refuses all changes.
    pub(crate) refuses: bool,
    pub(crate) run: fn(&Served, Duration),
}

pub(crate) const ATTACKS: &[Attack] = &[
    Attack {
        name: "300 that read no long answers",
        refuses: false,
        run: never_read,
    },
    Attack {
        name: "16 that flood with 40 MiB each",
        refuses: false,
        run: |served, long| flood(served, long, 16),
    },
    Attack {
        name: "200 that flood with 40 MiB each",
        refuses: false,
        run: |served, long| flood(served, long, 200),
    },
    Attack {
        name: "4 that send deep data",
        refuses: false,
        run: deep,
    },
    Attack {
        name: "4 that have it keep 15 KiB each time",
        refuses: false,
        run: keep,
    },
    Attack {
        name: "4 that are refused",
        refuses: true,
        run: keep,
    },
];

/// Octets of a flooding message. A peer that is closed in the middle of one may wait for room to send the rest.
const FLOOD: usize = 40 << 20;

/// Sends so many requests with the same arguments on each of so many connections, and reads nothing.
pub(crate) fn silent(
    served: &Served,
    (count, requests): (usize, usize),
    (operation, arguments): Request,
    connect: impl Fn(SocketAddr) -> std::io::Result<TcpStream>,
) -> Vec<TcpStream> {
    let one = request(&served.place.key, operation, arguments);
    let many = one.repeat(requests);
    let client = |_| {
        let mut stream = connect(served.place.address).ok()?;
        stream.set_nonblocking(true).ok()?;
        match stream.write_all(&many) {
            // A server that does not read on is as it should be.
            Err(error) if error.kind() != ErrorKind::WouldBlock => None,
            _ => Some(stream),
        }
    };
    (0..count).filter_map(client).collect()
}

fn never_read(served: &Served, long: Duration) {
    let until = Instant::now() + long;
    let connect = |place| TcpStream::connect(place);
    let crowd = match served.service.long_answer {
        Some(long_answer) => silent(served, (300, 8), long_answer, connect),
        None => silent(served, (300, 2_000), ("_non_existent", |_| {}), connect),
    };
    std::thread::sleep(until.saturating_duration_since(Instant::now()));
    drop(crowd);
}

fn flood(served: &Served, long: Duration, clients: usize) {
    let octets = vec![7; FLOOD];
    let whole = request(&served.place.key, "_is_a", |out| out.put_bytes(&octets));
    // The last of it never comes.
    let (most, _) = whole.split_at(whole.len() - 1);
    let until = Instant::now() + long;
    at_once(clients, || {
        while Instant::now() < until {
            let Ok(mut stream) = TcpStream::connect(served.place.address) else {
                continue;
            };
            let _ = stream.set_write_timeout(Some(long / 4));
            // Refused as soon as there is no room.
            if stream.write_all(most).is_ok() {
                std::thread::sleep(until.saturating_duration_since(Instant::now()));
            }
        }
    });
}

fn deep(served: &Served, long: Duration) {
    let (operation, arguments) = served.service.deep;
    let path = served.service.path;
    let found = Client::new(&served.place).and_then(|mut client| {
        assert!(client.follow(path)?, "{}", served.service.name);
        Ok(client)
    });
    let Ok(found) = found else {
        return;
    };
    let whole = request(found.key(), operation, arguments);
    let until = Instant::now() + long;
    at_once(4, || {
        while Instant::now() < until {
            // Answered by an exception, or the connection is closed.
            let _ = Client::new(&served.place)
                .and_then(|client| client.impatient(long / 4).send(&whole));
        }
    });
}

fn keep(served: &Served, long: Duration) {
    let (operation, arguments) = served.service.kept;
    let number = AtomicU64::new(0);
    let until = Instant::now() + long;
    at_once(4, || {
        let Ok(mut client) = Client::new(&served.place) else {
            return;
        };
        // One that is refused tries again.
        while !client.follow(served.service.path).unwrap_or(true) && Instant::now() < until {}
        while Instant::now() < until {
            let number = number.fetch_add(1, Ordering::Relaxed);
            let called = client.call(operation, |out| arguments(out, number));
            if called.is_err() {
                return;
            }
        }
    });
}

/// Runs on so many threads.
fn at_once(count: usize, one: impl Fn() + Sync) {
    std::thread::scope(|scope| {
        for _ in 0..count {
            scope.spawn(&one);
        }
    });
}
