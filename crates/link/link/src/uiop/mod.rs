//! Unix stream sockets, between processes of one machine.
//!
//! An address names the absolute path of a socket, whose file belongs to the listening process:
//! made with mode 0600, removed with the acceptor, replaced only when it is a leftover of the same
//! user (`path`). The connection type is that of TCP.

mod acceptor;
mod address;
mod connector;
mod options;
pub(crate) mod path;

pub use address::NAME;
pub use options::UiopOptions;

use crate::{
    Acceptor, Address, Connection, Guarantees, Link, LinkError, Phase, Places, Properties,
};
use punctual_exec::Deadline;
use std::sync::Arc;

/// Link that transmits messages over Unix domain sockets.
#[derive(Clone, Debug, Default)]
pub struct Uiop {
    options: UiopOptions,
}

impl Uiop {
    /// Makes a Unix-socket link with the given options.
    #[must_use]
    pub fn new(options: UiopOptions) -> Self {
        Self { options }
    }
}

impl Link for Uiop {
    fn name(&self) -> &str {
        NAME
    }

    fn is_local(&self) -> bool {
        true
    }

    fn places(&self) -> Places {
        Places::Own
    }

    fn guarantees(&self) -> Guarantees {
        Guarantees::STREAM
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
