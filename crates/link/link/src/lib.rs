#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]
//! Bytes between processes. A link knows nothing of requests or references.
//!
//! A link is a handful of short files of one shape: an address, an acceptor that listens, a connector
//! that reaches out, and a connection that both make; [`Link`], [`Acceptor`] and [`Connection`] are
//! what the ORB sees of them. What a messaging protocol needs of a link it can read off [`Guarantees`].
//!
//! A connection **lends**: it hands out blocks to be filled for sending and to receive into, and
//! takes them back when they are dropped, so a warm call allocates nothing, and a link whose memory
//! is not a heap's (a shared ring, say) can lend that instead.

mod adapter;
mod address;
mod connection;
pub mod diop;
mod error;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
pub mod iiop;
pub mod inproc;
mod loan;
mod pool;
mod properties;
#[cfg(feature = "reliable")]
pub mod reliable;
pub mod shmiop;
mod socket;
pub mod uiop;

pub use adapter::LinkAdapter;
pub use address::{Address, stays_on_this_host};
pub use connection::{
    Connection, Framing, Gatherer, Guarantees, Pending, Protection, Taken, Waitable,
};
pub use error::{Cause, LinkError, Phase, SendError};
pub use loan::{Loan, LoanMemory};
pub use pool::BlockPool;
pub use properties::Properties;
pub use socket::SpinOptions;
pub use socket::resolve;

use punctual_exec::Deadline;
use std::fmt::Debug;
use std::sync::Arc;

/// One kind of transport: the way in and the way out.
pub trait Link: Send + Sync + Debug {
    /// Its name in endpoint options and addresses, e.g. `iiop`.
    fn name(&self) -> &str;

    /// What every connection of this link guarantees.
    fn guarantees(&self) -> Guarantees;

    /// How what its connections carry is protected. Default not at all; an adapter protects as the link below does.
    fn protection(&self) -> Protection {
        Protection::None
    }

    /// Whether its connections never leave the host, and its addresses mean nothing elsewhere: what they name here is
    /// not for others to say. Default no; an adapter is as the link below is.
    fn is_local(&self) -> bool {
        false
    }

    /// Whether its connections can be served without blocking ([`Connection::serves_without_blocking`]),
    /// and so by a reactor. Default no.
    fn serves_without_blocking(&self) -> bool {
        false
    }

    /// Reaches out to `address`. Blocks until connected, refused, or `deadline`.
    ///
    /// # Errors
    /// [`LinkError`] of phase [`Phase::Resolve`] or [`Phase::Connect`]; [`Cause::BadProperty`] for a
    /// property that the link does not know or cannot obey.
    fn connect(
        &self,
        address: &Address,
        properties: &Properties,
        deadline: Deadline,
    ) -> Result<Arc<dyn Connection>, LinkError>;

    /// Listens at `address`. A place that is left open (a port of 0, an empty path) is chosen here.
    ///
    /// # Errors
    /// As [`Link::connect`], of phase [`Phase::Resolve`] or [`Phase::Listen`].
    fn listen(
        &self,
        address: &Address,
        properties: &Properties,
    ) -> Result<Box<dyn Acceptor>, LinkError>;
}

/// A listening end.
pub trait Acceptor: Send + Sync + Debug {
    /// Where it listens: the real port, where 0 was asked for.
    fn address(&self) -> &Address;

    /// Waits for the next connection.
    ///
    /// # Errors
    /// [`Cause::Closed`] after [`Acceptor::close`]; anything else is the operating system's, and the
    /// next call may succeed (out of descriptors, say).
    fn accept(&self) -> Result<Arc<dyn Connection>, LinkError>;

    /// Stops listening and ends a waiting [`Acceptor::accept`], from any thread.
    fn close(&self);

    /// Whether it takes in only clients that prove who they are, by a certificate for example. References say so
    /// (EstablishTrustInClient, SSLIOP of the CORBA Security Service 1.8, §14.7).
    fn demands_trust_in_client(&self) -> bool {
        false
    }
}
