//! Broken connections: closed within a message, reset, or silent; and random bytes.

use crate::random::Random;
use crate::run::Soak;
use crate::speech::Served;
use rustix::net::sockopt::set_socket_linger;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::net::{TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Upper bound of the connections held open at a time.
const MOST_HELD: usize = 24;
/// Time for which a connection is held in silence.
const HELD: Duration = Duration::from_secs(3);

/// Valid message of each protocol; only a part of it is sent.
const MESSAGES: [&[u8]; 4] = [
    b"GIOP\x01\x02\x00\x00\x00\x00\x00\x28\x00\x00\x00\x01\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x05echo\x00\x00\x00\x00\x00\x00\x00\x00",
    b"GIOP\x01\x00\x01\x03\x08\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00",
    b"\x00\x01\x01\x00\x00\x10\x00\x00\x01\x02\x03\x04",
    b"PUNF\x01\x00\x00\x00\x00\x00\x00\x20\x00\x00\x00\x07\x00\x00\x00\x01",
];

/// Raw socket connected to a server's endpoint, without an ORB.
#[derive(Debug)]
enum Stranger {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// Connects to every endpoint of the server, again and again.
pub(crate) fn come(soak: &Soak, all: &[Served]) {
    let mut random = Random::new(soak.seed(), "strangers");
    let endpoints: Vec<&(String, String)> = all.iter().flat_map(|one| &one.endpoints).collect();
    let mut held = VecDeque::new();
    soak.work("connections broken", Duration::from_millis(20), |work| {
        while held.len() >= MOST_HELD || held.front().is_some_and(is_held_long) {
            held.pop_front();
        }
        let (protocol, place) = *random.one_of(&endpoints);
        let said = words(&mut random);
        let come = match protocol.ends_with("diop") {
            true => datagrams(place, &said, &mut random),
            false => stranger(protocol, place).and_then(|mut stranger| {
                // The server may close the connection before everything is sent.
                let _ = stranger.write(&said);
                match random.below(3) {
                    0 => held.push_back((Instant::now(), stranger)),
                    1 => stranger.reset()?,
                    _ => {}
                }
                Ok(())
            }),
        };
        work.record_done();
        come.map_err(|error| format!("{protocol} at {place} takes no connection: {error}"))
    });
}

fn is_held_long((since, _): &(Instant, Stranger)) -> bool {
    since.elapsed() > HELD
}

fn stranger(protocol: &str, place: &str) -> io::Result<Stranger> {
    match protocol.ends_with("uiop") || protocol.ends_with("shmiop") {
        true => UnixStream::connect(place).map(Stranger::Unix),
        false => TcpStream::connect(place).map(Stranger::Tcp),
    }
}

/// Returns the bytes to send: none, a part of a message, or random ones.
fn words(random: &mut Random) -> Vec<u8> {
    let message = *random.one_of(&MESSAGES);
    let length = random.below(message.len());
    match random.below(4) {
        0 => Vec::new(),
        1 => {
            let length = random.below(200);
            random.octets(length)
        }
        _ => message[..length].to_vec(),
    }
}

fn datagrams(place: &str, said: &[u8], random: &mut Random) -> io::Result<()> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    socket.connect(place)?;
    for _ in 0..random.below(8) {
        // The kernel may report that an earlier datagram was refused.
        let _ = socket.send(said);
    }
    Ok(())
}

impl Stranger {
    fn write(&mut self, octets: &[u8]) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.write_all(octets),
            Self::Unix(stream) => stream.write_all(octets),
        }
    }

    /// Closes with a reset, by a linger time of zero.
    fn reset(self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => Ok(set_socket_linger(&stream, Some(Duration::ZERO))?),
            Self::Unix(_) => Ok(()),
        }
    }
}
