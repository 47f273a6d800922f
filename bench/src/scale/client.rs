//! Client process of `scale`: threads with a connection each, which call a void operation as fast as they
//! can.
//!
//! All servers have the same client: it writes one prepared message and reads one reply, without an ORB, so
//! that what differs is the server.

use crate::Result;
use crate::case::{Case, Operation};
use crate::giop::{self, VOID};
use crate::peer::nanoseconds;
use crate::peer::socket::{Kind, Link, Socket};
use crate::protocol::obey;
use punctual_ior::{Component, Ior, Profile};
use punctual_sys::processor::Processors;
use serde::{Deserialize, Serialize};
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// Request identifier of all requests: a connection has one request at a time.
const REQUEST: u32 = 1;
/// Time limit for a reply, after which the server counts as failed.
const LIMIT: Duration = Duration::from_secs(20);

/// Setup of the client process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Setup {
    /// Processors of the client.
    pub(super) processors: Vec<usize>,
    /// Set if the server is the floor, whose address is that of a raw socket.
    pub(super) raw: bool,
    /// Set for Unix sockets, otherwise TCP.
    pub(super) unix: bool,
}

/// Calls of one turn, by all clients at once.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Calls {
    /// Number of clients.
    pub(super) clients: usize,
    /// Time for which each client calls, in milliseconds.
    pub(super) millis: u64,
}

/// Address of a server, and the message that calls its object.
struct Target {
    kind: Kind,
    address: String,
    request: Vec<u8>,
}

/// Connection of one client.
struct Connection {
    socket: Socket,
    /// First reply; all others have to be equal to it.
    expected: Vec<u8>,
    reply: Vec<u8>,
}

/// Carries out the harness's orders: the first sample of an answer is the time that all calls together took,
/// the others are the times of each call.
///
/// # Errors
/// The harness is gone, or the server cannot be reached.
pub(crate) fn call(setup: &Setup, at: &str) -> Result<()> {
    Processors::of(&setup.processors)?.pin_own()?;
    let target = Target::of(setup, at)?;
    let mut connections = Vec::new();
    obey("", |calls: Calls| {
        if connections.len() != calls.clients {
            connections.clear();
            giop::allow(calls.clients)?;
            for _ in 0..calls.clients {
                connections.push(target.connect()?);
            }
        }
        flood(
            &target,
            &mut connections,
            Duration::from_millis(calls.millis),
        )
    })
}

/// Calls by all connections at once for this long.
fn flood(target: &Target, connections: &mut [Connection], length: Duration) -> Result<Vec<u64>> {
    let start = Barrier::new(connections.len());
    std::thread::scope(|scope| {
        let mut running = Vec::new();
        for (number, connection) in connections.iter_mut().enumerate() {
            let start = &start;
            let thread = std::thread::Builder::new().name(format!("client-{number}"));
            running.push(thread.spawn_scoped(scope, move || {
                start.wait();
                connection.call_for(&target.request, length)
            })?);
        }
        let (mut began, mut ended, mut samples) = (Vec::new(), Vec::new(), vec![0]);
        for thread in running {
            let done: Result<Done> = thread.join().map_err(|_| "a client panicked")?;
            let done = done?;
            began.push(done.began);
            ended.push(done.ended);
            samples.extend(done.samples);
        }
        let whole = ended.into_iter().max().zip(began.into_iter().min());
        samples[0] = whole.map_or(0, |(end, start)| nanoseconds(end.duration_since(start)));
        Ok(samples)
    })
}

/// Calls of one client in a turn.
struct Done {
    began: Instant,
    ended: Instant,
    samples: Vec<u64>,
}

impl Target {
    /// Reads the address of a server as it told it.
    fn of(setup: &Setup, at: &str) -> Result<Self> {
        let link = match setup.unix {
            true => Link::Unix,
            false => Link::Tcp,
        };
        let kind = Kind { link, spins: false };
        if setup.raw {
            let mut request = Vec::new();
            crate::peer::request_of(Case::plain(Operation::CubeVoid), &mut request)?;
            return Ok(Self {
                kind,
                address: at.to_owned(),
                request,
            });
        }
        let (address, key) = match setup.unix {
            true => unix(&at.parse()?)?,
            false => {
                let target = giop::Target::of(at)?;
                (target.address.to_string(), target.key)
            }
        };
        Ok(Self {
            kind,
            address,
            request: giop::request(&key, VOID, REQUEST, &[]),
        })
    }

    fn connect(&self) -> Result<Connection> {
        let socket = Socket::connect(self.kind, &self.address)?;
        socket.limit_receiving(LIMIT)?;
        socket.send_all(&self.request)?;
        let mut expected = vec![0; Case::plain(Operation::CubeVoid).lengths().reply];
        socket.read_exact(&mut expected)?;
        if self.request.starts_with(b"GIOP") {
            giop::check_whole_reply(&expected, REQUEST)?;
        }
        Ok(Connection {
            socket,
            reply: vec![0; expected.len()],
            expected,
        })
    }
}

/// Returns the path of the Unix socket at which an object is reached, and its key: of a UIOP profile, or of
/// omniORB's component.
fn unix(ior: &Ior) -> Result<(String, Vec<u8>)> {
    for profile in &ior.profiles {
        match profile.decode()? {
            Profile::Uiop(uiop) => return Ok((uiop.path, uiop.object_key)),
            Profile::Iiop(iiop) => {
                for component in &iiop.components {
                    if let Component::UnixTrans(at) = component.decode()? {
                        return Ok((at.path, iiop.object_key));
                    }
                }
            }
            _ => {}
        }
    }
    Err("the server is not reached by a Unix socket".into())
}

impl Connection {
    /// Calls again and again until the time is over.
    fn call_for(&mut self, request: &[u8], length: Duration) -> Result<Done> {
        let began = Instant::now();
        let (mut ended, mut samples) = (began, Vec::new());
        while ended.duration_since(began) < length {
            self.socket.send_all(request)?;
            self.socket.read_exact(&mut self.reply)?;
            let now = Instant::now();
            samples.push(nanoseconds(now.duration_since(ended)));
            ended = now;
            if self.reply != self.expected {
                return Err("a reply differs from the first one".into());
            }
        }
        Ok(Done {
            began,
            ended,
            samples,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Order;

    #[test]
    fn the_floor_is_called_at_its_address_and_an_orb_by_its_reference() {
        let raw = Setup {
            processors: Vec::new(),
            raw: true,
            unix: true,
        };
        let target = Target::of(&raw, "/tmp/floor").unwrap();
        assert_eq!(target.address, "/tmp/floor");
        let giop = Setup {
            processors: Vec::new(),
            raw: false,
            unix: false,
        };
        assert!(Target::of(&giop, "/tmp/floor").is_err());
    }

    #[test]
    fn a_reference_without_a_unix_socket_is_refused() {
        let ior = Ior {
            type_id: String::new(),
            profiles: Vec::new(),
        };
        assert!(unix(&ior).unwrap_err().to_string().contains("Unix socket"));
    }

    #[test]
    fn an_order_is_read_back_as_it_was_written() {
        let calls = Calls {
            clients: 8,
            millis: 200,
        };
        let Order(read) = Order(calls).to_string().parse::<Order<Calls>>().unwrap();
        assert_eq!((read.clients, read.millis), (8, 200));
    }
}
