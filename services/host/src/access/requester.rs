//! Requesters: the peer of a request, in the form that access rules use.

use std::net::IpAddr;

use punctual::poa::RequestPeer;
use x509_parser::prelude::{FromDer, GeneralName, X509Certificate};

/// Party that requests a change.
#[derive(Clone, Debug)]
pub enum Requester {
    /// This process, or a peer whose data no rule needs.
    Process,
    /// Peer that sent the request for the change.
    Peer {
        /// True for links within this machine: a Unix socket, shared memory.
        is_local: bool,
        /// True if the peer runs as the user of this process, or as root, and uses a Unix socket.
        is_owner: bool,
        /// Network address of the peer, if it has one.
        address: Option<IpAddr>,
        /// Names of the peer that its TLS certificate proves.
        names: Vec<String>,
    },
}

impl Requester {
    /// Returns the requester for a peer as the ORB reports it; without a peer, this process.
    #[must_use]
    pub fn from_peer(peer: Option<RequestPeer>) -> Self {
        let Some(peer) = peer else {
            return Requester::Process;
        };
        let host = peer.address.host_and_port();
        let address = host.and_then(|(host, _)| host.split('%').next()?.parse().ok());
        let first = peer.certificates.first();
        Requester::Peer {
            is_owner: peer.is_owner,
            is_local: matches!(peer.address.link(), "uiop" | "shmiop" | "inproc"),
            address,
            names: first.map(|der| names_in(der)).unwrap_or_default(),
        }
    }
}

/// Returns the subject names that a TLS certificate proves.
fn names_in(der: &[u8]) -> Vec<String> {
    let Ok((_, certificate)) = X509Certificate::from_der(der) else {
        return Vec::new();
    };
    let subject = certificate.subject().iter_common_name();
    let mut names: Vec<String> = subject
        .filter_map(|name| Some(name.as_str().ok()?.to_owned()))
        .collect();
    if let Ok(Some(others)) = certificate.subject_alternative_name() {
        let name = |other: &GeneralName<'_>| match other {
            GeneralName::DNSName(name) | GeneralName::URI(name) | GeneralName::RFC822Name(name) => {
                Some((*name).to_owned())
            }
            _ => None,
        };
        names.extend(others.value.general_names.iter().filter_map(name));
    }
    names
}
