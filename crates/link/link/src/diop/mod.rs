//! UDP, for messages that may be lost: one-ways, media.
//!
//! Neither reliable nor ordered; each send is one datagram and each receive takes one. The adapter
//! [`crate::reliable`] makes GIOP possible over it. A client's socket is connected, so that errors
//! that the network reports of the peer (a closed port, for example) reach the caller; at a server
//! all peers share one socket, and a thread of the acceptor's distributes their datagrams.

mod acceptor;
mod address;
mod connector;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;

pub use crate::datagram::{DiopOptions, LARGEST, LaunchTimes};
pub use address::NAME;

use crate::datagram::{INCOMING_CPU, LAUNCH_PROPERTIES, SOCKET_PROPERTIES, Tally};
use crate::datagram::{check_launch_values, launch_times};
use crate::{
    Acceptor, Address, Connection, Framing, Guarantees, Link, LinkCount, LinkError, Phase,
    Properties,
};
use punctual_exec::Deadline;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Link that transmits messages over UDP.
#[derive(Clone, Debug, Default)]
pub struct Diop {
    options: DiopOptions,
    tally: Tally,
}

impl Diop {
    /// Makes a UDP link with the given options.
    #[must_use]
    pub fn new(options: DiopOptions) -> Self {
        Self {
            options,
            tally: Tally::default(),
        }
    }

    fn options(&self, properties: &Properties, phase: Phase) -> Result<DiopOptions, LinkError> {
        let expected = match phase {
            Phase::Listen => {
                "send_buffer, receive_buffer, dscp, peers, waiting, pacing_rate, socket_priority, busy_poll_us or \
                 incoming_cpu"
            }
            _ => {
                "send_buffer, receive_buffer, dscp, peers, waiting, pacing_rate, socket_priority, busy_poll_us, \
                 launch_period_us, launch_lead_us or launch_clock"
            }
        };
        properties.only(&known(phase), expected, phase)?;
        self.options.with(properties, phase)
    }

    /// Returns the options of a client's connection.
    fn of_client(&self, properties: &Properties) -> Result<DiopOptions, LinkError> {
        let mut options = self.options(properties, Phase::Connect)?;
        options.launch = launch_times(options.launch, properties, Phase::Connect)?;
        Ok(options)
    }

    /// Returns the number of datagrams dropped at this link's acceptors, because their reader was
    /// too slow or their sender was not accepted. Datagrams dropped by the kernel are not counted.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.tally.dropped.load(Ordering::Relaxed)
    }
}

/// Returns the names of the properties of connections or of acceptors.
fn known(phase: Phase) -> Vec<&'static str> {
    let mut known = SOCKET_PROPERTIES.to_vec();
    match phase {
        Phase::Listen => known.push(INCOMING_CPU),
        _ => known.extend(LAUNCH_PROPERTIES),
    }
    known
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

    fn counts(&self) -> Vec<LinkCount> {
        let waiting = self.tally.waiting.load(Ordering::Relaxed);
        vec![
            LinkCount::total("dropped", self.dropped()),
            LinkCount::level("waiting_octets", waiting),
        ]
    }

    fn check(&self, properties: &Properties) -> Result<(), LinkError> {
        check_launch_values(properties, Phase::Connect)?;
        let others = properties.iter();
        let others = others.filter(|(name, _)| !LAUNCH_PROPERTIES.contains(name));
        // Acceptors know all other properties of connections.
        self.options(&others.collect(), Phase::Listen).map(drop)
    }

    fn has_property(&self, name: &str, phase: Phase) -> bool {
        known(phase).contains(&name)
    }

    fn connect(
        &self,
        address: &Address,
        properties: &Properties,
        deadline: Deadline,
    ) -> Result<Arc<dyn Connection>, LinkError> {
        let options = self.of_client(properties)?;
        connector::connect(address, &options, deadline)
    }

    fn listen(
        &self,
        address: &Address,
        properties: &Properties,
    ) -> Result<Box<dyn Acceptor>, LinkError> {
        let options = self.options(properties, Phase::Listen)?;
        acceptor::listen(address, options, &self.tally)
    }
}
