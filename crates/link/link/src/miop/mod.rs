//! Multicast groups (MIOP: OMG's Unreliable Multicast Inter-ORB Protocol), for messages that all members of a group get,
//! or some, or none.
//!
//! A message leaves as one or more packets, each a datagram to the group's address. A member assembles them by the sender's
//! address and the message's id. Nothing is ever sent to a sender: what a server's connection is given to send is dropped,
//! so that packets with forged senders make no traffic.
//!
//! Neither reliable nor ordered, as [`crate::diop`], with which the link shares its sockets' handling. A source of packets
//! is a peer; each has a connection at the acceptor.

mod address;
mod assembly;
mod counts;
mod ends;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod options;
mod packet;
mod sending;

pub use address::NAME;
pub use assembly::MessageFilter;
pub use counts::MiopCounts;
pub use options::MiopOptions;
pub use punctual_sys::multicast::Interface;

use crate::datagram::Tally;
use crate::{
    Acceptor, Address, Connection, Framing, Guarantees, Link, LinkCount, LinkError, Phase,
    Properties,
};
use counts::Counters;
use punctual_exec::Deadline;
use std::fmt;
use std::sync::Arc;

/// Link that transmits messages to groups.
#[derive(Clone, Default)]
pub struct Miop {
    options: MiopOptions,
    filter: Option<MessageFilter>,
    counters: Arc<Counters>,
    tally: Tally,
}

impl Miop {
    /// Makes a multicast link with the given options.
    #[must_use]
    pub fn new(options: MiopOptions) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }

    /// Has acceptors pass on only the messages for which `filter` returns `true`. It is called by the thread that receives:
    /// a sender whose messages are refused has no connection, and so no thread.
    #[must_use]
    pub fn accepting(self, filter: MessageFilter) -> Self {
        Self {
            filter: Some(filter),
            ..self
        }
    }

    /// Returns what all connections of the link have sent, and what its acceptors have received. Datagrams that the kernel dropped, as a socket's buffer was
    /// full, are not counted; messages that lack packets for that reason are.
    #[must_use]
    pub fn counts(&self) -> MiopCounts {
        self.counters.read(&self.tally)
    }
}

impl fmt::Debug for Miop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Miop")
            .field("options", &self.options)
            .field("counts", &self.counts())
            .finish_non_exhaustive()
    }
}

impl Link for Miop {
    fn name(&self) -> &str {
        NAME
    }

    fn guarantees(&self) -> Guarantees {
        Guarantees {
            reliable: false,
            ordered: false,
            framing: Framing::Datagram,
            largest: Some(self.options.largest),
        }
    }

    fn counts(&self) -> Vec<LinkCount> {
        Miop::counts(self).named()
    }

    fn check(&self, properties: &Properties) -> Result<(), LinkError> {
        self.options.with(properties, Phase::Connect).map(drop)
    }

    fn has_property(&self, name: &str, _phase: Phase) -> bool {
        options::known().contains(&name)
    }

    fn connect(
        &self,
        address: &Address,
        properties: &Properties,
        _deadline: Deadline,
    ) -> Result<Arc<dyn Connection>, LinkError> {
        let options = self.options.with(properties, Phase::Connect)?;
        ends::connect(address, &options, &self.counters)
    }

    fn listen(
        &self,
        address: &Address,
        properties: &Properties,
    ) -> Result<Box<dyn Acceptor>, LinkError> {
        let options = self.options.with(properties, Phase::Listen)?;
        let counting = (self.counters.clone(), self.tally.clone());
        ends::listen(address, options, self.filter.clone(), counting)
    }
}
