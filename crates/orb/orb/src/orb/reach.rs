//! Whether an endpoint that a reference names takes connections.

use super::handle::Orb;
use crate::profile::ProfileEndpoint;
use crate::protocol::ProtocolError;
use punctual_exec::Deadline;
use punctual_link::{LinkError, Properties};
use std::time::Duration;

/// What an endpoint did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// It took a connection.
    Connected,
    /// Nothing can be told: its link's connections are set up at this end alone, as those of datagrams are.
    Unknown,
}

/// Why an endpoint was not reached.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unreachable {
    /// The ORB does not speak its protocol.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// Nobody took the connection, or not in time; TLS was not agreed on.
    #[error(transparent)]
    Link(#[from] LinkError),
}

impl Orb {
    /// Connects to an endpoint, and closes the connection again: for who wants to know what of a reference is in use,
    /// not for calls, which connect by themselves. No request is sent. Blocks for `within` at most.
    ///
    /// # Errors
    /// [`Unreachable`].
    pub fn reach(
        &self,
        endpoint: &ProfileEndpoint,
        within: Duration,
    ) -> Result<Reached, Unreachable> {
        let pair = self.broker().protocols.now().pair(&endpoint.protocol)?;
        let deadline = Deadline::after(within);
        let connected = pair
            .link
            .connect(&endpoint.address, &Properties::default(), deadline)?;
        connected.close();
        Ok(match pair.link.guarantees().reliable {
            true => Reached::Connected,
            false => Reached::Unknown,
        })
    }
}
