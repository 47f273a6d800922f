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
mod options;
mod outgoing;
mod pace;
#[cfg(test)]
mod simulation;
mod wire;

pub use options::ReliableOptions;

use crate::{
    Acceptor, Address, Connection, Guarantees, Link, LinkAdapter, LinkError, Phase, Places,
    Properties, Protection,
};
use driver::Driver;
use options::fits;
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

/// Time that a dropped link waits for the data of its closed connections to arrive.
const DRAIN_ON_DROP: Duration = Duration::from_secs(1);
impl Reliable {
    /// Makes the adapter for reliable transmission over a datagram link, with the given options.
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
        self.driver.settle(Deadline::after(DRAIN_ON_DROP));
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

    fn places(&self) -> Places {
        self.below.places()
    }

    fn elsewhere(&self, place: &str) -> String {
        self.below.elsewhere(place)
    }

    fn host_of<'a>(&self, peer: &'a Address) -> Option<&'a str> {
        self.below.host_of(peer)
    }

    fn stays_on_this_host(&self, local: &Address, peer: &Address) -> bool {
        self.below.stays_on_this_host(local, peer)
    }

    fn guarantees(&self) -> Guarantees {
        Reliable::new(self.options).supplies(self.below.guarantees())
    }

    fn check(&self, properties: &Properties) -> Result<(), LinkError> {
        let guarantees = self.below.guarantees();
        let (_, rest) = self.options.with(properties, guarantees, Phase::Connect)?;
        self.below.check(&rest)
    }

    fn has_property(&self, name: &str, phase: Phase) -> bool {
        options::OWN.contains(&name) || self.below.has_property(name, phase)
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
    use super::options::LEAST_DATAGRAM;
    use super::*;
    use crate::{Cause, Framing};

    fn below() -> Guarantees {
        Guarantees {
            reliable: false,
            ordered: false,
            framing: Framing::Datagram,
            largest: Some(9000),
        }
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
