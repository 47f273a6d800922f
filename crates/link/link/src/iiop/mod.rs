//! TCP, the link of IIOP (CORBA 3.3 part 2, §9.7).
//!
//! Blocking sockets. Deadlines ride on the socket's own time-outs, which are set again only when
//! they differ from the ones set before.

mod acceptor;
mod connection;
mod connector;

use crate::{Acceptor, Address, Connection, Framing, Guarantees, Link, LinkError};
use punctual_exec::Deadline;
pub use punctual_sys::tcp::{KeepAlive, TcpOptions};
use std::sync::Arc;

/// The link's name in addresses and options.
pub const NAME: &str = "iiop";

/// The TCP link.
#[derive(Clone, Debug, Default)]
pub struct Iiop {
    options: IiopOptions,
}

/// Options of the TCP link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IiopOptions {
    /// Options of each socket.
    pub tcp: TcpOptions,
    /// Connections that may wait to be accepted. Default 1,024; the kernel caps it at
    /// `net.core.somaxconn`.
    pub backlog: u16,
    /// What a block is lent with, in octets. Default 4,096: larger messages make it grow.
    pub block: usize,
    /// Blocks that have grown beyond this many octets are not kept. Default 256 KiB.
    pub block_kept: usize,
}

impl Default for IiopOptions {
    fn default() -> Self {
        Self {
            tcp: TcpOptions::default(),
            backlog: 1024,
            block: 4096,
            block_kept: 256 * 1024,
        }
    }
}

impl Iiop {
    /// The link with options of its own.
    #[must_use]
    pub fn new(options: IiopOptions) -> Self {
        Self { options }
    }
}

impl Link for Iiop {
    fn name(&self) -> &'static str {
        NAME
    }

    fn guarantees(&self) -> Guarantees {
        Guarantees {
            reliable: true,
            ordered: true,
            framing: Framing::Stream,
        }
    }

    fn connect(
        &self,
        address: &Address,
        deadline: Deadline,
    ) -> Result<Arc<dyn Connection>, LinkError> {
        connector::connect(address, &self.options, deadline)
    }

    fn listen(&self, address: &Address) -> Result<Box<dyn Acceptor>, LinkError> {
        acceptor::listen(address, &self.options)
    }
}
