#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]
//! `AF_VSOCK`, the sockets between virtual machines and their host (`vsock(7)`), as a link.
//!
//! A virtual machine needs no network for it, and no network of the host can reach it: an address is the number that the
//! hypervisor gave the machine, and a port. Within one machine the kernel module `vsock_loopback` connects processes.
//!
//! The parts are those of every link: an [`address`], an `acceptor`, a `connector`; the connection is that of all stream
//! sockets ([`punctual_link::StreamConnection`]).

mod acceptor;
pub mod address;
mod connector;
mod error;
mod options;

pub use address::NAME;
pub use options::VsockOptions;

use punctual_exec::Deadline;
use punctual_link::{
    Acceptor, Address, Connection, Guarantees, Link, LinkError, Phase, Places, Properties,
};
use std::sync::Arc;

/// Link over `AF_VSOCK` streams.
#[derive(Clone, Debug, Default)]
pub struct Vsock {
    options: VsockOptions,
}

impl Vsock {
    /// Makes a link with the given options.
    #[must_use]
    pub fn new(options: VsockOptions) -> Self {
        Self { options }
    }
}

/// Makes a link with the default options, for `punctual_plugin::export_link!`.
#[must_use]
pub fn link() -> Vsock {
    Vsock::default()
}

impl Link for Vsock {
    fn name(&self) -> &str {
        NAME
    }

    fn guarantees(&self) -> Guarantees {
        Guarantees::STREAM
    }

    fn places(&self) -> Places {
        Places::Own
    }

    fn elsewhere(&self, place: &str) -> String {
        address::elsewhere(place)
    }

    /// Returns the context id, which the hypervisor puts into what a machine sends.
    fn host_of<'a>(&self, peer: &'a Address) -> Option<&'a str> {
        peer.place().split_once(':').map(|(cid, _)| cid)
    }

    fn stays_on_this_host(&self, local: &Address, peer: &Address) -> bool {
        address::are_one_machine(local, peer)
    }

    fn serves_without_blocking(&self) -> bool {
        true
    }

    fn check(&self, properties: &Properties) -> Result<(), LinkError> {
        self.options.with(properties, Phase::Connect).map(drop)
    }

    fn connect(
        &self,
        address: &Address,
        properties: &Properties,
        deadline: Deadline,
    ) -> Result<Arc<dyn Connection>, LinkError> {
        let options = self.options.with(properties, Phase::Connect)?;
        connector::connect(address, &options, deadline)
    }

    fn listen(
        &self,
        address: &Address,
        properties: &Properties,
    ) -> Result<Box<dyn Acceptor>, LinkError> {
        let options = self.options.with(properties, Phase::Listen)?;
        acceptor::listen(address, options)
    }
}
