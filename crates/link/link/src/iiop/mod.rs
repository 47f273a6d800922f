//! TCP, the link of IIOP (CORBA 3.3 part 2, §9.7).
//!
//! Blocking sockets. Deadlines ride on the socket's own time-outs, which are set again only when
//! they differ from the ones set before.

mod acceptor;
mod connection;
mod connector;

use crate::{
    Acceptor, Address, Connection, Framing, Guarantees, Link, LinkError, Phase, Properties,
};
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

/// Properties that an endpoint or a policy may set.
const KNOWN: [&str; 5] = [
    "no_delay",
    "keep_alive",
    "dont_route",
    "send_buffer",
    "receive_buffer",
];

impl IiopOptions {
    /// These options with an endpoint's or a policy's properties over them.
    fn with(&self, properties: &Properties, phase: Phase) -> Result<Self, LinkError> {
        let mut options = *self;
        if properties.is_empty() {
            return Ok(options);
        }
        properties.only(
            &KNOWN,
            "no_delay, keep_alive, dont_route, send_buffer or receive_buffer",
            phase,
        )?;
        let switch = |key| properties.parse::<bool>(key, "true or false", phase);
        let size = |key| properties.parse::<usize>(key, "a number of octets", phase);
        let tcp = &mut options.tcp;
        tcp.no_delay = switch("no_delay")?.unwrap_or(tcp.no_delay);
        tcp.dont_route = switch("dont_route")?.unwrap_or(tcp.dont_route);
        match switch("keep_alive")? {
            Some(true) => tcp.keep_alive = Some(tcp.keep_alive.unwrap_or_default()),
            Some(false) => tcp.keep_alive = None,
            None => {}
        }
        tcp.send_buffer = size("send_buffer")?.or(tcp.send_buffer);
        tcp.receive_buffer = size("receive_buffer")?.or(tcp.receive_buffer);
        Ok(options)
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
        acceptor::listen(address, &options)
    }
}
