#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]
//! Transport of bytes between processes. A link knows nothing of requests or references.
//!
//! A link is a handful of short files of one shape: an address, an acceptor that listens, a
//! connector that connects, and a connection that both make; the ORB uses them through [`Link`],
//! [`Acceptor`] and [`Connection`]. [`Guarantees`] tell whether a link suits a messaging protocol.
//!
//! A connection **lends**: it hands out blocks to be filled for sending and to receive into, and
//! takes them back when they are dropped, so a warm call allocates nothing, and a link whose memory
//! is not on the heap (a shared ring, for example) can lend that instead.

mod adapter;
mod address;
mod connection;
mod count;
mod datagram;
pub mod diop;
mod error;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
pub mod iiop;
pub mod inproc;
mod loan;
#[cfg(feature = "miop")]
pub mod miop;
mod pool;
mod properties;
#[cfg(feature = "reliable")]
pub mod reliable;
#[cfg(feature = "shared-memory")]
pub mod shmiop;
mod socket;
pub mod uiop;

pub use adapter::LinkAdapter;
pub use address::{Address, Places, stays_on_this_host};
pub use connection::{
    Connection, Framing, Gatherer, Guarantees, Pending, Protection, Taken, Waitable,
};
pub use count::{LinkCount, LinkCountKind};
pub use error::{Cause, LinkError, Phase, SendError};
pub use loan::{Loan, LoanMemory};
pub use pool::BlockPool;
pub use properties::Properties;
pub use socket::{SPIN_PROPERTIES, SocketOptions, SpinOptions, StreamConnection};
pub use socket::{TCP_PROPERTIES, resolve, tcp_options};

use punctual_exec::Deadline;
use std::fmt::Debug;
use std::sync::Arc;

/// Kind of transport, which makes acceptors and connectors.
pub trait Link: Send + Sync + Debug {
    /// Returns the name in endpoint options and addresses, e.g. `iiop`.
    fn name(&self) -> &str;

    /// Returns the guarantees of every connection of this link.
    fn guarantees(&self) -> Guarantees;

    /// Returns the protection of the data on the link's connections. Default none; an adapter has
    /// the protection of the link below it.
    fn protection(&self) -> Protection {
        Protection::None
    }

    /// Returns whether the link's connections never leave the host, and its addresses mean nothing
    /// elsewhere, so that references from other hosts must not use them. Default no; an adapter
    /// returns what the link below it returns.
    fn is_local(&self) -> bool {
        false
    }

    /// Returns the notation of the places in the link's addresses, by which an ORB treats those of its endpoints. Default
    /// that of the Internet; an adapter returns what the link below it returns.
    fn places(&self) -> Places {
        Places::Internet
    }

    /// Returns a place of the same interface as `place`, with a port or a path that the link chooses: lanes without endpoints of
    /// their own listen there. Asked only of a link with [`Places::Own`]. Default empty, which leaves all of it to the link.
    fn elsewhere(&self, place: &str) -> String {
        let _ = place;
        String::new()
    }

    /// Returns the part of a peer's address that identifies its host, and that the peer cannot choose: connections are counted
    /// by it. Default the host before a port of 16 bits; with `None`, all peers of the link are counted together.
    fn host_of<'a>(&self, peer: &'a Address) -> Option<&'a str> {
        peer.host_and_port().map(|(host, _)| host)
    }

    /// Returns whether a connection with these ends stays on this host: references that arrive by one that leaves it must not
    /// use local links. Default [`stays_on_this_host`].
    fn stays_on_this_host(&self, local: &Address, peer: &Address) -> bool {
        stays_on_this_host(self.is_local(), local, peer)
    }

    /// Returns whether the link's connections can be served without blocking
    /// ([`Connection::serves_without_blocking`]), and so by a reactor. Default no.
    fn serves_without_blocking(&self) -> bool {
        false
    }

    /// Returns what the link has counted, for metrics. Default nothing; an adapter returns only what it counts itself.
    fn counts(&self) -> Vec<LinkCount> {
        Vec::new()
    }

    /// Checks properties that an ORB's configuration has for all connections and acceptors of the link, when the ORB starts:
    /// names that neither knows, and values that neither could have, are refused there. It is asked of each property alone, as
    /// policies and endpoints may add others. An adapter checks its own and leaves those of the link below to that. Default
    /// nothing: connections and acceptors refuse theirs.
    ///
    /// # Errors
    /// [`Cause::BadProperty`], of any phase.
    fn check(&self, properties: &Properties) -> Result<(), LinkError> {
        let _ = properties;
        Ok(())
    }

    /// Returns whether the link's connections ([`Phase::Connect`]) or its acceptors ([`Phase::Listen`]) have a property of this
    /// name. What an ORB's configuration has for the link is applied only where this says so; a policy's or an endpoint's is
    /// always passed on, so that the link refuses it where it has no effect. An adapter has its own properties and those of the
    /// link below. Default yes.
    fn has_property(&self, name: &str, phase: Phase) -> bool {
        let _ = (name, phase);
        true
    }

    /// Connects to `address`. Blocks until connected, refused, or `deadline`.
    ///
    /// # Errors
    /// [`LinkError`] of phase [`Phase::Resolve`] or [`Phase::Connect`]; [`Cause::BadProperty`] for
    /// a property that the link does not know or cannot obey.
    fn connect(
        &self,
        address: &Address,
        properties: &Properties,
        deadline: Deadline,
    ) -> Result<Arc<dyn Connection>, LinkError>;

    /// Listens at `address`. The link chooses a port or path that the address leaves open (a port
    /// of 0, an empty path).
    ///
    /// # Errors
    /// As [`Link::connect`], of phase [`Phase::Resolve`] or [`Phase::Listen`].
    fn listen(
        &self,
        address: &Address,
        properties: &Properties,
    ) -> Result<Box<dyn Acceptor>, LinkError>;
}

/// Listening endpoint of a link, which accepts connections.
pub trait Acceptor: Send + Sync + Debug {
    /// Returns the address at which the acceptor listens: with the real port, where 0 was
    /// requested.
    fn address(&self) -> &Address;

    /// Waits for the next connection.
    ///
    /// # Errors
    /// [`Cause::Closed`] after [`Acceptor::close`]; any other error is the operating system's, and
    /// the next call may succeed (after a lack of descriptors, for example).
    fn accept(&self) -> Result<Arc<dyn Connection>, LinkError>;

    /// Stops listening and ends a waiting [`Acceptor::accept`]; callable from any thread.
    fn close(&self);

    /// Returns whether the acceptor accepts only authenticated clients, by a certificate for
    /// example. References state this (EstablishTrustInClient, SSLIOP of the CORBA Security Service
    /// 1.8, §14.7).
    fn demands_trust_in_client(&self) -> bool {
        false
    }
}
