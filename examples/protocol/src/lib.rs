#![cfg_attr(test, allow(clippy::unwrap_used))]
//! User-defined link, outside of Punctual's crates: TCP with checksums.
//!
//! TCP's checksum has 16 bits, and boxes on the way rewrite it; over a noisy radio or a faulty
//! memory wrong bytes do arrive. This link sends frames with a CRC-32 each ([`frame`] has the
//! layout), and delivers only checked data: a peer that sends a wrong frame is cut off
//! ([`punctual_link::Cause::BadPeer`]).
//!
//! These are all parts of a link: an [`address`], an [`acceptor`], a [`connector`], a
//! [`connection`]. The package in `dynamic/` is this link as a library that is loaded at run time.

pub mod acceptor;
pub mod address;
pub mod connection;
pub mod connector;
pub mod frame;

use punctual_exec::Deadline;
use punctual_link::{
    Acceptor, Address, Connection, Framing, Guarantees, Link, LinkError, Phase, Properties,
};
use std::sync::Arc;

/// Name of the link in addresses and options: `checked://127.0.0.1:2809`.
pub const NAME: &str = "checked";

/// Example link that sends checksummed frames over TCP.
#[derive(Clone, Copy, Debug, Default)]
pub struct Checked;

impl Checked {
    /// Creates the example link.
    #[must_use]
    pub fn new() -> Self {
        Self
    }
}

/// Creates the example link for `punctual_plugin::export_link!`.
#[must_use]
pub fn link() -> Checked {
    Checked::new()
}

impl Link for Checked {
    fn name(&self) -> &str {
        NAME
    }

    fn guarantees(&self) -> Guarantees {
        Guarantees {
            reliable: true,
            ordered: true,
            framing: Framing::Stream,
            largest: None,
        }
    }

    fn check(&self, properties: &Properties) -> Result<(), LinkError> {
        Options::read(properties, Phase::Connect).map(drop)
    }

    fn connect(
        &self,
        address: &Address,
        properties: &Properties,
        deadline: Deadline,
    ) -> Result<Arc<dyn Connection>, LinkError> {
        let options = Options::read(properties, Phase::Connect)?;
        connector::connect(address, options, deadline)
    }

    fn listen(
        &self,
        address: &Address,
        properties: &Properties,
    ) -> Result<Box<dyn Acceptor>, LinkError> {
        let options = Options::read(properties, Phase::Listen)?;
        acceptor::listen(address, options)
    }
}

/// Endpoint options of the example link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Option `no_delay`: `true` if small frames are sent at once (TCP_NODELAY), which is the
    /// default.
    pub no_delay: bool,
}

impl Options {
    fn read(properties: &Properties, phase: Phase) -> Result<Self, LinkError> {
        properties.only(&["no_delay"], "no_delay", phase)?;
        let no_delay = properties.parse("no_delay", "true or false", phase)?;
        Ok(Self {
            no_delay: no_delay.unwrap_or(true),
        })
    }
}
