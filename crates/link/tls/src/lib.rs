#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]
//! TLS 1.2 and 1.3 over TCP, as a link: `ssliop`.
//!
//! The same as `iiop`, encrypted and authenticated. The server proves its identity, the client too
//! where the server asks for it; both read their certificates, keys and trusted authorities from
//! PEM files, and read them again when these change.
//!
//! - A handshake never happens in [`Acceptor::accept`]: a thread of the acceptor's handles
//!   all new clients in parallel, without waiting for any, and `accept` returns those that succeeded. A
//!   slow or silent client delays no other, and is dropped at its deadline.
//! - A client's handshake is part of connecting, so a refusal is reported where it can be acted on.
//!   In TLS 1.3
//!   a server checks the client's certificate last: its refusal reaches the client with the first
//!   receive.
//! - An end with TLS's `close_notify` is [`Cause::Closed`](punctual_link::Cause::Closed). One without is
//!   [`Cause::Os`](punctual_link::Cause::Os) with `UnexpectedEof`: a peer that was killed ends like that, and an attacker
//!   may have forged it. No data is lost by it unnoticed, as GIOP's messages say their sizes.
//! - Sessions are resumed. No 0-RTT: early data can be replayed.
//!
//! The data path's rules on allocation and system calls do not hold here: bytes are copied to be
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

/// Name of the TLS link in addresses and options.
pub const NAME: &str = "ssliop";

/// Link that transmits messages over TLS.
#[derive(Clone, Debug)]
pub struct Ssliop {
    options: TlsOptions,
    sources: Arc<Sources>,
    refusals: Arc<Refusals>,
}

impl Ssliop {
    /// Makes the link with these options. All files are read.
    ///
    /// # Errors
    /// [`TlsError`], which names the file and its problem.
    pub fn new(options: TlsOptions) -> Result<Self, TlsError> {
        Ok(Self {
            sources: Arc::new(Sources::new(&options)?),
            refusals: Arc::new(Refusals::default()),
            options,
        })
    }

    /// Returns the options that the link was made with, for code that publishes an endpoint's
    /// requirements.
    #[must_use]
    pub fn options(&self) -> &TlsOptions {
        &self.options
    }

    /// Reads all files again, for the handshakes from now on. This also happens automatically at
    /// the first handshake after a file has changed; errors in the new files are then logged, and
    /// the old ones stay in use.
    ///
    /// # Errors
    /// As [`Ssliop::new`]; the earlier content stays in use.
    pub fn reload(&self) -> Result<(), TlsError> {
        self.sources.reload()
    }

    /// Returns the latest handshakes that failed at an acceptor of this link, the oldest first,
    /// with their reasons.
    #[must_use]
    pub fn refusals(&self) -> Vec<Refusal> {
        self.refusals.latest()
    }

    /// Returns the number of handshakes that have failed at an acceptor of this link.
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

    fn check(&self, properties: &Properties) -> Result<(), LinkError> {
        // Acceptors know all properties of connections.
        self.options.with(properties, Phase::Listen)?;
        connector::check_server_name(properties)
    }

    fn has_property(&self, name: &str, phase: Phase) -> bool {
        options::known(phase).contains(&name)
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

/// Makes an address of the TLS link from a socket address.
fn address_of(number: std::net::SocketAddr) -> Address {
    let number = std::net::SocketAddr::new(number.ip().to_canonical(), number.port());
    Address::new(NAME, &number.to_string())
}
