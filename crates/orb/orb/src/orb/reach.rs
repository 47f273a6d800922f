//! Test whether an endpoint in a reference accepts connections.

use super::handle::Orb;
use crate::profile::ProfileEndpoint;
use crate::protocol::ProtocolError;
use punctual_exec::Deadline;
use punctual_link::{LinkError, Properties};
use std::time::Duration;

/// Result of the test for an endpoint that could not be found unreachable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// The endpoint accepted a connection.
    Connected,
    /// It is not known whether the endpoint is reachable: its link sets up connections without
    /// contacting the peer, as for datagrams.
    Unknown,
}

/// Reason why a tested endpoint was not reached.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Unreachable {
    /// The protocol of the endpoint is not supported by the ORB.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// No connection was accepted in time, or the TLS handshake failed.
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
    /// Connects to an endpoint, and closes the connection again. Shows which endpoints of a
    /// reference are reachable; calls do not need this, as they connect by themselves. Sends no
    /// request. Blocks at most for `within`.
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
