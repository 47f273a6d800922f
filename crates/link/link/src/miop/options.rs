//! Options of the link, and the properties that set them.

use super::packet::{ID, head_length};
use crate::datagram::{DiopOptions, SOCKET_PROPERTIES};
use crate::{LinkError, Phase, Properties};
use punctual_sys::multicast::Interface;
use std::net::IpAddr;
use std::str::FromStr;
use std::time::Duration;

/// Options of the multicast link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MiopOptions {
    /// Options of its sockets, and limits of what waits for upcalls. A source is a peer here: `peers` is the number of
    /// sources with a connection each. Properties as those of [`crate::diop`].
    pub datagrams: DiopOptions,
    /// Number of networks that a packet may cross: 0 stays on this host, 1 in the network, each router takes one. Default
    /// 1. Property `ttl`.
    pub ttl: u8,
    /// Network interface at which groups are joined, and by which packets leave: an IPv4 address of this host, or a name.
    /// Default: the kernel's choice. Property `interface`.
    pub interface: Interface,
    /// Whether members on this host get what this host sends; by the loopback interface they do in any case. Default true. Property `loopback`.
    pub loopback: bool,
    /// Hosts whose packets are taken; none means all. IPv4 groups are joined for these sources alone (source-specific
    /// multicast); packets for IPv6 groups are looked at here. Property `source`: addresses with commas between them.
    pub sources: Vec<IpAddr>,
    /// Size of the largest datagram that is sent, in bytes, with the packet's header of 40 bytes. Default 1,452: it fits an
    /// Ethernet frame with the headers of IPv6. Property `packet_size`, 256 to 65,507.
    pub packet_size: usize,
    /// Time between the packets of messages of several packets, of all threads that send to the group. Default none: a message
    /// leaves in one burst, which a receiver's socket buffer has to hold. Messages of one packet do not wait, and a pause
    /// keeps no other thread from sending. Property `pace_us`.
    pub pace: Duration,
    /// Size of the largest message in bytes, sent or received. Default 1 MiB. Property `largest`.
    pub largest: usize,
    /// Number of messages that may be under way, in part, from all sources together. Default 64; beyond it, the oldest is
    /// given up. Property `messages`.
    pub messages: usize,
    /// Number of messages that may be under way from one host. Default 16. Property `messages_of_source`.
    pub messages_of_source: usize,
    /// Bytes of messages that are under way from all sources, with 64 for each packet. Default 16 MiB; beyond it, the oldest
    /// are given up. Property `memory`.
    pub memory: usize,
    /// Bytes of messages that are under way from one host, with 64 for each packet. Default 4 MiB; beyond it, the host's
    /// oldest are given up. Property `memory_of_source`.
    pub memory_of_source: usize,
    /// Number of packets of one message. A message that announces more is dropped. Default 16,384. Property `packets`.
    pub packets: u32,
    /// Time after which a message that is not complete is given up, and for which the ids of complete ones are remembered.
    /// Default 2 s. Property `age_ms`.
    pub age: Duration,
}

impl Default for MiopOptions {
    fn default() -> Self {
        Self {
            datagrams: DiopOptions::default(),
            ttl: 1,
            interface: Interface::Any,
            loopback: true,
            sources: Vec::new(),
            packet_size: 1452,
            pace: Duration::ZERO,
            largest: 1 << 20,
            messages: 64,
            messages_of_source: 16,
            memory: 16 << 20,
            memory_of_source: 4 << 20,
            packets: 16_384,
            age: Duration::from_secs(2),
        }
    }
}

/// Properties that an endpoint or a policy may set, beside those of sockets.
const OWN: [&str; 13] = [
    "ttl",
    "interface",
    "loopback",
    "source",
    "packet_size",
    "pace_us",
    "largest",
    "messages",
    "messages_of_source",
    "memory",
    "memory_of_source",
    "packets",
    "age_ms",
];

/// Number that has a least and a greatest value.
struct Within<const LEAST: u64, const MOST: u64>(u64);

impl<const LEAST: u64, const MOST: u64> FromStr for Within<LEAST, MOST> {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let number = text.parse().map_err(drop)?;
        (LEAST..=MOST)
            .contains(&number)
            .then_some(Self(number))
            .ok_or(())
    }
}

impl<const LEAST: u64, const MOST: u64> Within<LEAST, MOST> {
    fn size(&self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

/// Addresses with commas between them.
struct Sources(Vec<IpAddr>);

impl FromStr for Sources {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let addresses: Result<Vec<IpAddr>, _> = text.split(',').map(str::parse).collect();
        addresses.map(Self).map_err(drop)
    }
}

/// Largest limit that a property sets: 1 GiB, or as many messages.
const HUGE: u64 = 1 << 30;

/// Returns the names of the properties of connections and acceptors.
pub(super) fn known() -> Vec<&'static str> {
    [&SOCKET_PROPERTIES[..], &OWN[..]].concat()
}

impl MiopOptions {
    pub(super) fn with(&self, properties: &Properties, phase: Phase) -> Result<Self, LinkError> {
        properties.only(
            &known(),
            "ttl, interface, loopback, source, packet_size, pace_us, largest, messages, messages_of_source, memory, \
             memory_of_source, packets, age_ms, or a property of UDP sockets",
            phase,
        )?;
        let mut options = Self {
            datagrams: self.datagrams.with(properties, phase)?,
            ..self.clone()
        };
        let limit = |key, slot: &mut usize| {
            let number = properties.parse::<Within<1, HUGE>>(key, "1 to 1073741824", phase)?;
            *slot = number.map_or(*slot, |number| number.size());
            Ok::<(), LinkError>(())
        };
        limit("largest", &mut options.largest)?;
        limit("messages", &mut options.messages)?;
        limit("messages_of_source", &mut options.messages_of_source)?;
        limit("memory", &mut options.memory)?;
        limit("memory_of_source", &mut options.memory_of_source)?;
        if let Some(ttl) = properties.parse("ttl", "0 to 255", phase)? {
            options.ttl = ttl;
        }
        if let Some(loopback) = properties.parse("loopback", "true or false", phase)? {
            options.loopback = loopback;
        }
        if let Some(interface) = properties.get("interface") {
            options.interface = Interface::of(interface);
        }
        let sources = "IP addresses with commas between them";
        if let Some(Sources(sources)) = properties.parse("source", sources, phase)? {
            options.sources = sources;
        }
        let size = properties.parse::<Within<256, 65_507>>("packet_size", "256 to 65507", phase)?;
        options.packet_size = size.map_or(options.packet_size, |size| size.size());
        let packets = properties.parse::<Within<1, HUGE>>("packets", "1 to 1073741824", phase)?;
        options.packets = packets.map_or(options.packets, |packets| {
            u32::try_from(packets.0).unwrap_or(u32::MAX)
        });
        let pause = "0 to 1000000 microseconds";
        let pace = properties.parse::<Within<0, 1_000_000>>("pace_us", pause, phase)?;
        options.pace = pace.map_or(options.pace, |micros| Duration::from_micros(micros.0));
        let time = "1 to 3600000 milliseconds";
        let age = properties.parse::<Within<1, 3_600_000>>("age_ms", time, phase)?;
        options.age = age.map_or(options.age, |millis| Duration::from_millis(millis.0));
        Ok(options)
    }

    /// Returns the number of a message's bytes in each packet but the last: a multiple of 8, the largest alignment of CDR, so
    /// that a receiver may decode each packet where it lies. Headers are multiples of 8 by the standard.
    pub(super) fn payload(&self) -> usize {
        let payload = self.packet_size.saturating_sub(head_length(ID));
        (payload.min(u16::MAX.into()) / 8 * 8).max(8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cause;

    #[test]
    fn each_property_sets_its_option() {
        let given = Properties::from_iter([
            ("ttl", "0"),
            ("interface", "127.0.0.1"),
            ("loopback", "false"),
            ("source", "10.0.0.1,::1"),
            ("packet_size", "512"),
            ("pace_us", "20"),
            ("largest", "1000"),
            ("messages", "2"),
            ("messages_of_source", "1"),
            ("memory", "4000"),
            ("memory_of_source", "3000"),
            ("packets", "9"),
            ("age_ms", "30"),
            ("receive_buffer", "50000"),
        ]);
        let options = MiopOptions::default().with(&given, Phase::Listen).unwrap();
        let expected = MiopOptions {
            datagrams: DiopOptions {
                receive_buffer: Some(50_000),
                ..DiopOptions::default()
            },
            ttl: 0,
            interface: Interface::of("127.0.0.1"),
            loopback: false,
            sources: vec!["10.0.0.1".parse().unwrap(), "::1".parse().unwrap()],
            packet_size: 512,
            pace: Duration::from_micros(20),
            largest: 1000,
            messages: 2,
            messages_of_source: 1,
            memory: 4000,
            memory_of_source: 3000,
            packets: 9,
            age: Duration::from_millis(30),
        };
        assert_eq!(options, expected);
        assert_eq!(options.payload(), 472);
        let unchanged = options.with(&Properties::NONE, Phase::Listen).unwrap();
        assert_eq!(unchanged, options);
    }

    #[test]
    fn packets_but_the_last_hold_a_multiple_of_8_bytes_and_are_no_longer_than_given() {
        for packet_size in (256..1600).chain([65_506, 65_507]) {
            let options = MiopOptions {
                packet_size,
                ..MiopOptions::default()
            };
            let payload = options.payload();
            let length = head_length(ID) + payload;
            assert_eq!(payload % 8, 0, "{packet_size}");
            assert!(
                length <= packet_size && packet_size < length + 8,
                "{packet_size}"
            );
        }
    }

    #[test]
    fn values_that_do_not_fit_are_refused() {
        for pair in [
            ("ttl", "256"),
            ("loopback", "yes"),
            ("source", "host"),
            ("packet_size", "255"),
            ("packet_size", "65508"),
            ("pace_us", "-1"),
            ("largest", "0"),
            ("memory", "0"),
            ("packets", "0"),
            ("age_ms", "0"),
            ("pacing_rate", "0"),
            ("no_delay", "true"),
        ] {
            let given = Properties::from_iter([pair]);
            let error = MiopOptions::default().with(&given, Phase::Connect);
            let error = error.unwrap_err();
            assert!(matches!(error.cause, Cause::BadProperty { .. }), "{error}");
        }
    }
}
