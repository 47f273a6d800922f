#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]
//! TLS 1.2 and 1.3 over TCP, as a link: `ssliop`.
//!
//! What `iiop` is and does, encrypted and authenticated. The server proves who it is, the client too
//! where the server asks for it; both read their certificates, keys and trusted authorities from PEM
//! files, and read them again when these change.
//!
//! - A handshake never happens in [`Acceptor::accept`]: a thread of the acceptor's shakes hands with
//!   all newcomers at once, without waiting for any, and `accept` hands out those that succeeded. A
//!   client that is slow, or silent, delays nobody, and is let go at its deadline.
//! - A client shakes hands while it connects, so a refusal is told where it can be acted on. In TLS 1.3
//!   a server looks at the client's certificate last: its refusal reaches the client with the first
//!   receive.
//! - An end with TLS's `close_notify` is [`Cause::Closed`](punctual_link::Cause::Closed); one without
//!   may have been cut off by somebody else and is [`Cause::BadPeer`](punctual_link::Cause::BadPeer).
//! - Sessions are resumed. No 0-RTT: what is sent early can be replayed.
//!
//! The data path's rules on allocation and system calls do not hold here: octets are copied to be
//! encrypted.

mod acceptor;
mod connection;
mod connector;
mod error;
mod files;
mod flow;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod handshake;
mod options;
mod refusals;
mod source;
mod timeout;
mod validity;

pub use error::{Problem, TlsError};
pub use files::client_config;
pub use options::{ClientCertificate, TlsOptions, TlsVersion, UnknownValue};
pub use refusals::Refusal;

use punctual_exec::Deadline;
use punctual_link::{
    Acceptor, Address, Connection, Guarantees, Link, LinkError, Phase, Properties, Protection,
};
use refusals::Refusals;
use source::Sources;
use std::sync::Arc;

/// The link's name in addresses and options.
pub const NAME: &str = "ssliop";

/// The TLS link.
#[derive(Clone, Debug)]
pub struct Ssliop {
    options: TlsOptions,
    sources: Arc<Sources>,
    refusals: Arc<Refusals>,
}

impl Ssliop {
    /// The link with these options. All files are read.
    ///
    /// # Errors
    /// [`TlsError`], which names the file and what is wrong with it.
    pub fn new(options: TlsOptions) -> Result<Self, TlsError> {
        Ok(Self {
            sources: Arc::new(Sources::new(&options)?),
            refusals: Arc::new(Refusals::default()),
            options,
        })
    }

    /// The options that it was made with, for whoever tells others what an endpoint demands.
    #[must_use]
    pub fn options(&self) -> &TlsOptions {
        &self.options
    }

    /// Reads all files again, for the handshakes from now on. This also happens by itself at the first
    /// handshake after a file has changed; what is wrong with the new files is then logged, and the old
    /// ones stay.
    ///
    /// # Errors
    /// As [`Ssliop::new`]; what was read before stays in use.
    pub fn reload(&self) -> Result<(), TlsError> {
        self.sources.reload()
    }

    /// The latest handshakes that failed at an acceptor of this link, the oldest first, and why.
    #[must_use]
    pub fn refusals(&self) -> Vec<Refusal> {
        self.refusals.latest()
    }

    /// How many handshakes have failed at an acceptor of this link.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.refusals.count()
    }
}

impl Link for Ssliop {
    fn name(&self) -> &str {
        NAME
    }

    fn guarantees(&self) -> Guarantees {
        Guarantees::STREAM
    }

    fn protection(&self) -> Protection {
        Protection::Encryption
    }

    fn serves_without_blocking(&self) -> bool {
        true
    }

    fn connect(
        &self,
        address: &Address,
        properties: &Properties,
        deadline: Deadline,
    ) -> Result<Arc<dyn Connection>, LinkError> {
        let options = self.options.with(properties, Phase::Connect)?;
        let source = self.sources.of(&options, Phase::Connect)?;
        connector::connect(address, &options, &source, deadline)
    }

    fn listen(
        &self,
        address: &Address,
        properties: &Properties,
    ) -> Result<Box<dyn Acceptor>, LinkError> {
        let options = self.options.with(properties, Phase::Listen)?;
        let source = self.sources.of(&options, Phase::Listen)?;
        acceptor::listen(address, options, &source, &self.refusals)
    }
}

/// An address of this link.
fn address_of(number: std::net::SocketAddr) -> Address {
    let number = std::net::SocketAddr::new(number.ip().to_canonical(), number.port());
    Address::new(NAME, &number.to_string())
}
