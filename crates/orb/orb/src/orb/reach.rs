//! Test whether an endpoint in a reference accepts connections.

use super::handle::Orb;
use crate::profile::ProfileEndpoint;
use crate::protocol::ProtocolError;
use punctual_exec::Deadline;
use punctual_link::{LinkError, Properties};
use std::time::Duration;

/// Result for an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// The endpoint accepted a connection.
    Connected,
    /// State not known: the endpoint's link sets up connections at this end alone, as for
    /// datagrams.
    Unknown,
}

/// Reason why an endpoint was not reached.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Unreachable {
    /// The ORB does not speak its protocol.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// No connection was accepted, or not in time; or the TLS handshake failed.
    #[error(transparent)]
    Link(#[from] LinkError),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for Unreachable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl Orb {
    /// Connects to an endpoint, and closes the connection again. It shows which endpoints of a
    /// reference are in use; calls need not do this, as they connect by themselves. No request is
    /// sent. Blocks for `within` at most.
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
