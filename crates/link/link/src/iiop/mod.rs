//! TCP, the link of IIOP (CORBA 3.3 part 2, §9.7).
//!
//! `socket` has the code shared with other socket links.

mod acceptor;
mod connector;
mod options;

pub use crate::address::IIOP as NAME;
pub use options::IiopOptions;
pub use punctual_sys::tcp::{KeepAlive, TcpOptions};

use crate::{Acceptor, Address, Connection, Guarantees, Link, LinkError, Phase, Properties};
use punctual_exec::Deadline;
use std::sync::Arc;

/// Link that transmits messages over TCP.
#[derive(Clone, Debug, Default)]
pub struct Iiop {
    options: IiopOptions,
}

impl Iiop {
    /// Makes a TCP link with the given options.
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
        Guarantees::STREAM
    }

    fn serves_without_blocking(&self) -> bool {
        true
    }

    fn check(&self, properties: &Properties) -> Result<(), LinkError> {
        // Acceptors know all properties of connections.
        self.options.with(properties, Phase::Listen).map(drop)
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::IoSlice;
    use std::time::Duration;

    #[test]
    fn an_option_that_no_connection_could_have_is_refused_when_the_server_starts() {
        let properties = Properties::from_iter([("busy_poll_us", "3000000000")]);
        let address = Address::iiop("127.0.0.1", 0);
        let error = Iiop::default().listen(&address, &properties).unwrap_err();
        assert!(error.to_string().contains("busy_poll_us"), "{error}");
    }

    #[test]
    fn a_host_on_the_same_network_is_reached_without_routing() {
        let link = Iiop::default();
        let acceptor = link
            .listen(&Address::iiop("127.0.0.1", 0), &Properties::NONE)
            .unwrap();
        let properties = Properties::from_iter([("dont_route", "true")]);
        let limit = Deadline::after(Duration::from_secs(20));
        let client = link
            .connect(acceptor.address(), &properties, limit)
            .unwrap();
        let server = acceptor.accept().unwrap();
        client.send(&[IoSlice::new(b"near")], limit).unwrap();
        let mut block = server.lend(0);
        server.receive(&mut block, 4, limit).unwrap();
        assert_eq!(&*block, b"near");
    }
}
