//! Hostile clients: each repeats one kind of attack, and reconnects when it is cut off.

use crate::giop::{HEADER, Target, header};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Kind of attack that a hostile client repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    /// Random bytes that follow no protocol.
    Garbage,
    /// Beginning of a message that is never completed.
    HalfMessage,
    /// Request that is sent byte by byte.
    Trickle,
    /// Requests with long replies that are never read.
    SlowReader,
    /// Requests for objects that do not exist.
    BadKeys,
    /// Header that announces a message longer than any limit.
    Giant,
}

/// Numbers of attacks that hostile clients made, and of reconnections after the server had cut them
/// off, for one kind of attack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Deeds {
    /// Number of attacks of this kind.
    pub(super) acts: u64,
    /// Number of times that the server cut off a client, which then reconnected.
    pub(super) thrown_out: u64,
}

const KINDS: [Kind; 6] = [
    Kind::Garbage,
    Kind::HalfMessage,
    Kind::Trickle,
    Kind::SlowReader,
    Kind::BadKeys,
    Kind::Giant,
];
/// Size of a slow reader's request and reply, in bytes.
const LONG: u32 = 32 << 10;
/// Number of requests for objects that do not exist, sent together.
const FLOOD: u32 = 8;
/// Number of bytes that half a message announces, and of those that are sent.
const PROMISED: u32 = 64 << 10;
const SENT: usize = 1 << 10;

/// Set of hostile clients that attack the server.
pub(super) struct Crowd {
    target: Target,
    villains: Vec<Villain>,
    deeds: BTreeMap<Kind, Deeds>,
    random: u64,
}

struct Villain {
    kind: Kind,
    stream: Option<TcpStream>,
    /// Number of bytes already sent of a message that is sent in pieces.
    sent: usize,
}

impl Crowd {
    /// Connects `number` clients, whose kinds of attack alternate. A client that could not connect
    /// tries again before its next attack.
    pub(super) fn connect(target: &Target, number: usize) -> Self {
        let villain = |kind: &Kind| Villain {
            kind: *kind,
            stream: connect(target),
            sent: 0,
        };
        Self {
            target: target.clone(),
            villains: KINDS.iter().cycle().take(number).map(villain).collect(),
            deeds: BTreeMap::new(),
            random: 0x9e37_79b9_7f4a_7c15,
        }
    }

    /// Returns the counts of attacks and reconnections for each kind of attack.
    pub(super) fn deeds(&self) -> BTreeMap<Kind, Deeds> {
        self.deeds.clone()
    }

    /// Performs the clients' attacks in turn, at a rate of `acts` per second, until `stop` is set.
    /// Attacks that are overdue are skipped, so that a slow machine is not flooded.
    pub(super) fn act_until(&mut self, stop: &AtomicBool, acts: u32) {
        let pause = Duration::from_secs(1) / acts;
        let mut next = Instant::now();
        for turn in (0..self.villains.len()).cycle() {
            if stop.load(Ordering::Relaxed) {
                return;
            }
            self.act(turn);
            next = (next + pause).max(Instant::now());
            std::thread::sleep(next.saturating_duration_since(Instant::now()));
        }
    }

    fn act(&mut self, turn: usize) {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let villain = &mut self.villains[turn];
        let deeds = self.deeds.entry(villain.kind).or_default();
        deeds.acts += 1;
        if villain.act(&self.target, self.random).is_none() {
            deeds.thrown_out += 1;
            villain.sent = 0;
            villain.stream = connect(&self.target);
        }
    }
}

impl Villain {
    /// Performs one attack; returns `None` if the connection has been closed.
    fn act(&mut self, target: &Target, random: u64) -> Option<()> {
        let stream = self.stream.as_mut()?;
        if self.kind != Kind::SlowReader {
            drain(stream)?;
        }
        match self.kind {
            Kind::Garbage => {
                let octets: Vec<u8> = (1..=8_u64)
                    .flat_map(|factor| random.wrapping_mul(factor).to_ne_bytes())
                    .collect();
                write(stream, &octets).map(drop)
            }
            Kind::HalfMessage if self.sent == 0 => {
                let half = [&header(0, PROMISED)[..], &[0; SENT]].concat();
                self.sent = write(stream, &half)?;
                Some(())
            }
            // The client waits for the server to close the connection.
            Kind::HalfMessage => Some(()),
            Kind::Trickle => {
                let request = target.request("cube_void", 1, &[]);
                let at = self.sent % request.len();
                self.sent += write(stream, &request[at..=at])?;
                Some(())
            }
            Kind::SlowReader => {
                let body = [&LONG.to_le_bytes()[..], &[0; LONG as usize]].concat();
                let request = target.request("echo_octets", 1, &body);
                let at = self.sent % request.len();
                self.sent += write(stream, &request[at..])?;
                Some(())
            }
            Kind::BadKeys => {
                let mut flood = Vec::new();
                for id in 0..FLOOD {
                    let key = random.wrapping_add(u64::from(id)).to_ne_bytes().to_vec();
                    let nobody = Target {
                        key,
                        ..target.clone()
                    };
                    flood.extend(nobody.request("cube_void", id, &[]));
                }
                write(stream, &flood).map(drop)
            }
            Kind::Giant => {
                let giant: [u8; HEADER] = header(0, u32::MAX - 7);
                write(stream, &giant).map(drop)
            }
        }
    }
}

fn connect(target: &Target) -> Option<TcpStream> {
    let stream = TcpStream::connect(target.address).ok()?;
    stream.set_nonblocking(true).ok()?;
    Some(stream)
}

/// Reads a bounded part of the available data; returns `None` at the end of the stream.
fn drain(stream: &mut TcpStream) -> Option<()> {
    match stream.read(&mut [0; 16 << 10]) {
        Ok(0) => None,
        Ok(_) => Some(()),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Some(()),
        Err(_) => None,
    }
}

/// Writes as many bytes as the socket accepts, and returns their number; `None` if the connection
/// has been closed.
fn write(stream: &mut TcpStream, octets: &[u8]) -> Option<usize> {
    match stream.write(octets) {
        Ok(written) => Some(written),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Some(0),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn all_kinds_take_part_and_who_is_thrown_out_comes_back() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let target = Target {
            address: listener.local_addr().unwrap(),
            key: vec![1; 20],
        };
        let mut crowd = Crowd::connect(&target, KINDS.len());
        let accepted: Vec<_> = KINDS.iter().map(|_| listener.accept().unwrap()).collect();
        for turn in 0..KINDS.len() {
            crowd.act(turn);
        }
        assert!(crowd.deeds().values().all(|deeds| deeds.thrown_out == 0));
        let (mut first, _) = accepted.into_iter().next().unwrap();
        let mut garbage = [0; 64];
        first.read_exact(&mut garbage).unwrap();
        drop(first);
        while crowd.deeds()[&Kind::Garbage].thrown_out == 0 {
            crowd.act(0);
        }
        listener.accept().unwrap();
        assert_eq!(crowd.deeds().len(), KINDS.len());
    }
}
