//! Description of a request's sender for servants.

use punctual_link::Address;

/// Sender of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestPeer {
    /// Link and address of the peer; for TCP and TLS, its host and port.
    pub address: Address,
    /// Certificates by which the peer has proved its identity, in DER, the peer's own first. Empty
    /// if the link does not support that, or the peer presented none. A TLS acceptor that requests
    /// certificates has verified them.
    pub certificates: Vec<Vec<u8>>,
    /// True if the peer's process certainly runs as the user of this one, or as root: it connected over a Unix
    /// socket, whose other end the operating system knows.
    pub is_owner: bool,
}
