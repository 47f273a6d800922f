//! Options of the link, and the properties that set them.

use super::launch::LaunchTimes;
use crate::socket::{TRAFFIC_PROPERTIES, buffer_size, traffic};
use crate::{LinkError, Phase, Properties};
use punctual_sys::dscp::{Dscp, Marking};
use punctual_sys::traffic::Traffic;
use std::io;
use std::net::UdpSocket;
use std::time::Duration;

/// Options of the UDP link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiopOptions {
    /// Priority of its packets in the network; `None` leaves it to the kernel (0). Property `dscp`.
    pub dscp: Option<Dscp>,
    /// Pace and class of its packets, and busy polling. Properties `pacing_rate`, `socket_priority`,
    /// `busy_poll_us`.
    pub traffic: Traffic,
    /// `SO_SNDBUF` in bytes; `None` leaves it to the kernel. Property `send_buffer`.
    pub send_buffer: Option<usize>,
    /// `SO_RCVBUF` in bytes; `None` leaves it to the kernel. Property `receive_buffer`. Datagrams
    /// that arrive while it is full are lost.
    pub receive_buffer: Option<usize>,
    /// Launch times of the datagrams of a client's connections. Properties `launch_period_us`, `launch_lead_us` and
    /// `launch_clock`. Default none.
    pub launch: Option<LaunchTimes>,
    /// Processor by which the kernel chooses among acceptors of `diop` with one address: the one whose number is here takes
    /// the datagrams that that processor receives (`SO_INCOMING_CPU`; the address is shared, `SO_REUSEPORT`). A sender
    /// whose packets come by several processors is a peer of each. Property `incoming_cpu`. Default none.
    pub incoming_cpu: Option<u32>,
    /// Upper bound of the peers that an acceptor keeps a connection for. Default 256, at least 1;
    /// beyond it, the peer that has been silent longest is forgotten. Property `peers`.
    pub peers: usize,
    /// Time of silence after which an acceptor forgets a peer. Default 60 s.
    pub idle: Duration,
    /// Upper bound of the peers that wait to be accepted; datagrams of further ones are lost.
    /// Default 128.
    pub backlog: usize,
    /// Upper bound of the bytes that wait for one peer's reader, including overhead. Default 256
    /// KiB; the oldest make room for the newest.
    pub queue: usize,
    /// Upper bound of the bytes that wait for the readers of all peers of an acceptor, including overhead. Default 16 MiB;
    /// beyond it, the longest queue gives up its oldest. Property `waiting`.
    pub waiting: usize,
}

impl Default for DiopOptions {
    fn default() -> Self {
        Self {
            dscp: None,
            traffic: Traffic::default(),
            send_buffer: None,
            receive_buffer: None,
            launch: None,
            incoming_cpu: None,
            peers: 256,
            idle: Duration::from_secs(60),
            backlog: 128,
            queue: 256 * 1024,
            waiting: 16 << 20,
        }
    }
}

/// Properties that an endpoint or a policy may set.
pub(crate) const KNOWN: [&str; 8] = [
    "send_buffer",
    "receive_buffer",
    "dscp",
    "peers",
    "waiting",
    TRAFFIC_PROPERTIES[0],
    TRAFFIC_PROPERTIES[1],
    TRAFFIC_PROPERTIES[2],
];

/// Name of the property of acceptors of `diop` that has the processor.
pub(crate) const INCOMING_CPU: &str = "incoming_cpu";

impl DiopOptions {
    /// Returns the options of which properties replace some. Others than these are ignored, and so are launch times, which
    /// are properties of clients' connections alone.
    pub(crate) fn with(&self, properties: &Properties, phase: Phase) -> Result<Self, LinkError> {
        let mut options = *self;
        let size = |key| buffer_size(key, properties, phase);
        options.send_buffer = size("send_buffer")?.or(options.send_buffer);
        options.receive_buffer = size("receive_buffer")?.or(options.receive_buffer);
        let waiting =
            properties.parse::<std::num::NonZeroUsize>("waiting", "octets, at least 1", phase)?;
        options.waiting = waiting.map_or(options.waiting, std::num::NonZeroUsize::get);
        let processor =
            properties.parse(INCOMING_CPU, "the number of a processor, from 0 on", phase)?;
        options.incoming_cpu = processor.or(options.incoming_cpu);
        options.dscp = properties.dscp(phase)?.or(options.dscp);
        options.traffic = traffic(options.traffic, properties, phase)?;
        let peers = properties.parse::<std::num::NonZeroUsize>("peers", "at least 1", phase)?;
        options.peers = peers.map_or(options.peers.max(1), std::num::NonZeroUsize::get);
        Ok(options)
    }

    /// Returns the marking of a socket that has these options.
    pub(crate) fn marking(&self) -> Marking {
        Marking::new(self.traffic.socket_priority)
    }

    pub(crate) fn apply(&self, socket: &UdpSocket) -> io::Result<()> {
        if let Some(dscp) = self.dscp {
            dscp.apply(socket)?;
        }
        if let Some(launch) = &self.launch {
            launch.clock.apply(socket)?;
        }
        self.traffic.apply(socket)?;
        punctual_sys::stream::set_buffers(socket, self.send_buffer, self.receive_buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cause;

    #[test]
    fn each_property_sets_its_option() {
        let given = Properties::from_iter([
            ("send_buffer", "10000"),
            ("receive_buffer", "20000"),
            ("peers", "3"),
            ("incoming_cpu", "1"),
            ("waiting", "4000"),
            ("dscp", "AF41"),
        ]);
        let options = DiopOptions::default().with(&given, Phase::Listen).unwrap();
        let expected = DiopOptions {
            send_buffer: Some(10_000),
            receive_buffer: Some(20_000),
            peers: 3,
            incoming_cpu: Some(1),
            waiting: 4000,
            dscp: Dscp::new(34),
            ..DiopOptions::default()
        };
        assert_eq!(options, expected);
    }

    #[test]
    fn no_peers_and_no_room_at_all_are_refused() {
        for none in ["peers", "waiting"] {
            let none = Properties::from_iter([(none, "0")]);
            let error = DiopOptions::default().with(&none, Phase::Listen);
            let error = error.unwrap_err();
            assert!(matches!(error.cause, Cause::BadProperty { .. }), "{error}");
        }
    }
}
