//! Adapter `reliable`: a reliable stream over datagrams, so that GIOP can use them.
//!
//! Numbered bytes, acknowledged cumulatively and by ranges, retransmitted when later ones arrive
//! first or when no acknowledgement comes; a receive window, so that a reader that does not read
//! stops the sender; a congestion window, so that the network is not flooded; an orderly end, a
//! reset, and pings that detect a dead peer. Before a connection costs the listening side lasting
//! resources, the peer has to return a cookie from the address it claims.
//!
//! The protocol logic is pure and knows neither socket nor clock: `machine` with its halves
//! `outgoing` and `incoming`, the pace (`pace`), the opening (`handshake`, `cookie`), the encoding
//! (`wire`). The active parts are `connection`, `acceptor` and the timers' thread in `driver`.
//! There is no secrecy: an attacker that reads the traffic can break a connection off, as with TCP.

mod acceptor;
mod connection;
mod connector;
mod cookie;
mod driver;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod handshake;
mod incoming;
mod machine;
mod outgoing;
mod pace;
#[cfg(test)]
mod simulation;
mod wire;

use crate::{
    Acceptor, Address, Cause, Connection, Framing, Guarantees, Link, LinkAdapter, LinkError, Phase,
    Properties, Protection,
};
use driver::Driver;
use punctual_exec::Deadline;
use std::sync::Arc;
use std::time::Duration;

/// Name of the adapter in endpoint options and addresses.
pub const NAME: &str = "reliable";

/// Adapter that makes a reliable stream of any datagram link.
#[derive(Clone, Debug, Default)]
pub struct Reliable {
    options: ReliableOptions,
}

/// Options of the adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReliableOptions {
    /// Size of a datagram in bytes. Default 1,400, which passes Ethernet and most tunnels in one
    /// frame; at least 128, at most the largest of the link below. Property `datagram`.
    pub datagram: usize,
    /// Number of bytes that either side of a connection holds in each direction. Default 256 KiB,
    /// at least 1 KiB. Property `window`.
    pub window: usize,
    /// Number of tries before a silent peer is given up. Default 12, which takes about 7 s.
    pub tries: u32,
    /// Time of silence after which a peer is pinged. Default 5 s.
    pub keep_alive: Duration,
    /// Time for which a closed connection goes on delivering written data to its peer. Default 10
    /// s.
    pub linger: Duration,
    /// Upper bound of the connections that wait to be accepted. Default 128.
    pub backlog: usize,
}

impl Default for ReliableOptions {
    fn default() -> Self {
        Self {
            datagram: 1400,
            window: 256 * 1024,
            tries: 12,
            keep_alive: Duration::from_secs(5),
            linger: Duration::from_secs(10),
            backlog: 128,
        }
    }
}

/// Time that a dropped link waits for the data of its closed connections to arrive.
const FAREWELL: Duration = Duration::from_secs(1);
/// Size of the smallest usable datagram and window, in bytes.
const LEAST_DATAGRAM: usize = 128;
const LEAST_WINDOW: usize = 1024;

impl ReliableOptions {
    /// Returns the adapter's options overridden by `properties`, and the remaining properties,
    /// which are the link's below.
    fn with(
        &self,
        properties: &Properties,
        below: Guarantees,
        phase: Phase,
    ) -> Result<(Self, Properties), LinkError> {
        if !fits(below) {
            let expected = "a link of datagrams, of 128 octets at least, below the adapter";
            let cause = Cause::BadAddress(expected);
            return Err(LinkError { phase, cause });
        }
        let mut options = *self;
        let size = |key| properties.parse::<usize>(key, "a number of octets", phase);
        let largest = below.largest.unwrap_or(usize::MAX);
        options.datagram = size("datagram")?
            .unwrap_or(options.datagram)
            .max(LEAST_DATAGRAM)
            .min(largest);
        options.window = size("window")?
            .unwrap_or(options.window)
            .clamp(LEAST_WINDOW, u32::MAX as usize);
        let own = ["datagram", "window"];
        let rest = properties.iter().filter(|(key, _)| !own.contains(key));
        Ok((options, rest.collect()))
    }
}

impl Reliable {
    /// Makes the adapter with the given options.
    #[must_use]
    pub fn new(options: ReliableOptions) -> Self {
        Self { options }
    }
}

impl LinkAdapter for Reliable {
    fn name(&self) -> &str {
        NAME
    }

    /// Returns the guarantees of a stream. Over a link without datagrams of a useful size it
    /// supplies nothing, and refuses to be used.
    fn supplies(&self, below: Guarantees) -> Guarantees {
        if !fits(below) {
            return below;
        }
        Guarantees::STREAM
    }

    fn over(&self, link: Arc<dyn Link>) -> Arc<dyn Link> {
        Arc::new(ReliableLink {
            name: format!("{NAME}+{}", link.name()).into(),
            below: link,
            options: self.options,
            driver: Driver::new(),
        })
    }
}

/// Returns whether the adapter can work over a link.
fn fits(below: Guarantees) -> bool {
    let roomy = below.largest.is_none_or(|most| most >= LEAST_DATAGRAM);
    below.framing == Framing::Datagram && roomy
}

#[derive(Debug)]
struct ReliableLink {
    name: Arc<str>,
    below: Arc<dyn Link>,
    options: ReliableOptions,
    driver: Arc<Driver>,
}

impl Drop for ReliableLink {
    /// Waits for a while until data that connections wrote before they were closed has arrived: a
    /// process that ends stops its threads, and so their retransmissions.
    fn drop(&mut self) {
        self.driver.settle(Deadline::after(FAREWELL));
    }
}

impl ReliableLink {
    fn address_below(&self, address: &Address) -> Address {
        Address::new(self.below.name(), address.place())
    }
}

impl Link for ReliableLink {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_local(&self) -> bool {
        self.below.is_local()
    }

    fn protection(&self) -> Protection {
        self.below.protection()
    }

    fn guarantees(&self) -> Guarantees {
        Reliable::new(self.options).supplies(self.below.guarantees())
    }

    fn connect(
        &self,
        address: &Address,
        properties: &Properties,
        deadline: Deadline,
    ) -> Result<Arc<dyn Connection>, LinkError> {
        let guarantees = self.below.guarantees();
        let (options, rest) = self.options.with(properties, guarantees, Phase::Connect)?;
        let address = self.address_below(address);
        let below = self.below.connect(&address, &rest, deadline)?;
        connector::connect(below, &self.name, options, &self.driver, deadline)
    }

    fn listen(
        &self,
        address: &Address,
        properties: &Properties,
    ) -> Result<Box<dyn Acceptor>, LinkError> {
        let guarantees = self.below.guarantees();
        let (options, rest) = self.options.with(properties, guarantees, Phase::Listen)?;
        let below = self.below.listen(&self.address_below(address), &rest)?;
        acceptor::begin(below.into(), self.name.clone(), options, &self.driver)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn below() -> Guarantees {
        Guarantees {
            reliable: false,
            ordered: false,
            framing: Framing::Datagram,
            largest: Some(9000),
        }
    }

    #[test]
    fn it_reads_its_own_properties_and_leaves_the_rest_to_the_link_below() {
        let given =
            Properties::from_iter([("datagram", "500"), ("window", "5000"), ("peers", "3")]);
        let options = ReliableOptions::default();
        let (options, rest) = options.with(&given, below(), Phase::Listen).unwrap();
        assert_eq!((options.datagram, options.window), (500, 5000));
        assert_eq!(rest, Properties::from_iter([("peers", "3")]));
    }

    #[test]
    fn a_datagram_is_never_larger_than_the_link_below_carries() {
        let given = Properties::from_iter([("datagram", "60000"), ("window", "1")]);
        let options = ReliableOptions::default();
        let (options, _) = options.with(&given, below(), Phase::Connect).unwrap();
        assert_eq!((options.datagram, options.window), (9000, LEAST_WINDOW));
        let wrong = Properties::from_iter([("window", "wide")]);
        assert!(options.with(&wrong, below(), Phase::Connect).is_err());
    }

    #[test]
    fn over_a_stream_or_tiny_datagrams_it_supplies_nothing_and_refuses() {
        let stream = Guarantees {
            framing: Framing::Stream,
            ..below()
        };
        let tiny = Guarantees {
            largest: Some(LEAST_DATAGRAM - 1),
            ..below()
        };
        for below in [stream, tiny] {
            assert_eq!(Reliable::default().supplies(below), below);
        }
        let link = Reliable::default().over(Arc::new(crate::inproc::Inproc::new()));
        let place = Address::new(link.name(), "somewhere");
        let refused = link.listen(&place, &Properties::NONE).unwrap_err();
        assert!(matches!(refused.cause, Cause::BadAddress(_)), "{refused}");
    }
}
