//! UDP, for messages that may be lost: one-ways, media.
//!
//! Neither reliable nor ordered; each send is one datagram and each receive takes one. The adapter
//! [`crate::reliable`] makes GIOP possible over it. A client's socket is connected, so that errors
//! that the network reports of the peer (a closed port, for example) reach the caller; at a server
//! all peers share one socket, and a thread of the acceptor's distributes their datagrams.

mod acceptor;
mod connection;
mod connector;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod peers;

use crate::{
    Acceptor, Address, Cause, Connection, Framing, Guarantees, Link, LinkError, Phase, Properties,
    SendError,
};
use punctual_exec::Deadline;
use punctual_sys::dscp::Dscp;
use punctual_sys::udp;
use std::io::{self, IoSlice};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Name of the link in addresses and options.
pub const NAME: &str = "diop";
/// Size of the largest message, in bytes: the capacity of one datagram over IPv4.
pub const LARGEST: usize = udp::LARGEST;

/// UDP link.
#[derive(Clone, Debug, Default)]
pub struct Diop {
    options: DiopOptions,
    dropped: Arc<AtomicU64>,
}

/// Options of the UDP link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiopOptions {
    /// Priority of its packets in the network; `None` leaves it to the kernel (0). Property `dscp`.
    pub dscp: Option<Dscp>,
    /// `SO_SNDBUF` in bytes; `None` leaves it to the kernel. Property `send_buffer`.
    pub send_buffer: Option<usize>,
    /// `SO_RCVBUF` in bytes; `None` leaves it to the kernel. Property `receive_buffer`. Datagrams
    /// that arrive while it is full are lost.
    pub receive_buffer: Option<usize>,
    /// Upper bound of the peers that an acceptor tells apart. Default 256, at least 1; the one that
    /// has been silent longest makes room for the next. Property `peers`.
    pub peers: usize,
    /// Time of silence after which an acceptor forgets a peer. Default 60 s.
    pub idle: Duration,
    /// Upper bound of the peers that wait to be accepted; datagrams of further ones are lost.
    /// Default 128.
    pub backlog: usize,
    /// Upper bound of the bytes that wait for one peer's reader, including overhead. Default 256
    /// KiB; the oldest make room for the newest.
    pub queue: usize,
}

impl Default for DiopOptions {
    fn default() -> Self {
        Self {
            dscp: None,
            send_buffer: None,
            receive_buffer: None,
            peers: 256,
            idle: Duration::from_secs(60),
            backlog: 128,
            queue: 256 * 1024,
        }
    }
}

/// Properties that an endpoint or a policy may set.
const KNOWN: [&str; 4] = ["send_buffer", "receive_buffer", "dscp", "peers"];

impl DiopOptions {
    fn with(&self, properties: &Properties, phase: Phase) -> Result<Self, LinkError> {
        let mut options = *self;
        properties.only(&KNOWN, "send_buffer, receive_buffer, dscp or peers", phase)?;
        let size = |key| properties.parse::<usize>(key, "a number of octets", phase);
        options.send_buffer = size("send_buffer")?.or(options.send_buffer);
        options.receive_buffer = size("receive_buffer")?.or(options.receive_buffer);
        options.dscp = properties.dscp(phase)?.or(options.dscp);
        let peers = properties.parse::<std::num::NonZeroUsize>("peers", "at least 1", phase)?;
        options.peers = peers.map_or(options.peers.max(1), std::num::NonZeroUsize::get);
        Ok(options)
    }

    fn apply(&self, socket: &UdpSocket) -> io::Result<()> {
        if let Some(dscp) = self.dscp {
            dscp.apply(socket)?;
        }
        punctual_sys::stream::set_buffers(socket, self.send_buffer, self.receive_buffer)
    }
}

impl Diop {
    /// Makes the link with the given options.
    #[must_use]
    pub fn new(options: DiopOptions) -> Self {
        Self {
            options,
            dropped: Arc::default(),
        }
    }

    /// Returns the number of datagrams dropped at this link's acceptors, because their reader was
    /// too slow or their sender was not accepted. Datagrams dropped by the kernel are not counted.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

impl Link for Diop {
    fn name(&self) -> &str {
        NAME
    }

    fn guarantees(&self) -> Guarantees {
        Guarantees {
            reliable: false,
            ordered: false,
            framing: Framing::Datagram,
            largest: Some(LARGEST),
        }
    }

    fn connect(
        &self,
        address: &Address,
        properties: &Properties,
        deadline: Deadline,
    ) -> Result<Arc<dyn Connection>, LinkError> {
        let options = self.options.with(properties, Phase::Connect)?;
        connector::connect(address, &options, deadline)
    }

    fn listen(
        &self,
        address: &Address,
        properties: &Properties,
    ) -> Result<Box<dyn Acceptor>, LinkError> {
        let options = self.options.with(properties, Phase::Listen)?;
        acceptor::listen(address, options, &self.dropped)
    }
}

/// Formats a socket's address in this link's notation.
fn address(socket: SocketAddr) -> Address {
    let plain = SocketAddr::new(socket.ip().to_canonical(), socket.port());
    Address::new(NAME, &plain.to_string())
}

/// Sends `parts` as one datagram, to `peer` or to the socket's own; waits for room until
/// `deadline`.
fn transmit(
    socket: &UdpSocket,
    parts: &[IoSlice<'_>],
    peer: Option<SocketAddr>,
    deadline: Deadline,
) -> Result<(), SendError> {
    let total: usize = parts.iter().map(|part| part.len()).sum();
    let failed = |cause| SendError {
        error: LinkError {
            phase: Phase::Send,
            cause,
        },
        sent: 0,
    };
    if total == 0 {
        return Ok(());
    }
    if total > LARGEST {
        return Err(failed(Cause::TooLarge(LARGEST)));
    }
    loop {
        match udp::send(socket, parts, peer) {
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let room = udp::wait_for_room(socket, deadline.remaining());
                if !room.map_err(|error| failed(Cause::Os(error)))? {
                    return Err(failed(Cause::TimedOut));
                }
            }
            Err(error) => return Err(failed(Cause::Os(error))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_property_sets_its_option() {
        let given = Properties::from_iter([
            ("send_buffer", "10000"),
            ("receive_buffer", "20000"),
            ("peers", "3"),
            ("dscp", "AF41"),
        ]);
        let options = DiopOptions::default().with(&given, Phase::Listen).unwrap();
        let expected = DiopOptions {
            send_buffer: Some(10_000),
            receive_buffer: Some(20_000),
            peers: 3,
            dscp: Dscp::new(34),
            ..DiopOptions::default()
        };
        assert_eq!(options, expected);
    }

    #[test]
    fn no_peers_at_all_are_refused() {
        let none = Properties::from_iter([("peers", "0")]);
        let error = DiopOptions::default().with(&none, Phase::Listen);
        let error = error.unwrap_err();
        assert!(matches!(error.cause, Cause::BadProperty { .. }), "{error}");
    }
}
