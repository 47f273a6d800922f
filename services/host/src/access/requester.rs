//! Requesters: the peer of a request, as access rules see it.

use std::net::IpAddr;

use punctual::poa::RequestPeer;

use super::certificate;

/// The party that asks for a change.
#[derive(Clone, Debug)]
pub enum Requester {
    /// This process, or a peer that no rule needs to know.
    Process,
    /// The peer of a request.
    Peer {
        /// True for links within this machine: a Unix socket, shared memory.
        is_local: bool,
        /// Network address of the peer, if it has one.
        address: Option<IpAddr>,
        /// Names that the peer's TLS certificate proves.
        names: Vec<String>,
    },
}

impl Requester {
    /// Returns the requester of a peer as the ORB reports it; this process where there is none.
    #[must_use]
    pub fn from_peer(peer: Option<RequestPeer>) -> Self {
        let Some(peer) = peer else {
            return Requester::Process;
        };
        let host = peer.address.host_and_port();
        let address = host.and_then(|(host, _)| host.split('%').next()?.parse().ok());
        let first = peer.certificates.first();
        Requester::Peer {
            is_local: matches!(peer.address.link(), "uiop" | "shmiop" | "inproc"),
            address,
            names: first
                .and_then(|der| certificate::names(der))
                .unwrap_or_default(),
        }
    }
}
