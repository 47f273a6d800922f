//! Description of a request's sender for servants.

use punctual_link::Address;

/// Sender of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestPeer {
    /// The link and the peer's address there: for TCP and TLS, its host and port.
    pub address: Address,
    /// Certificates by which the peer has proved its identity, in DER, its own first; none if the
    /// link has no such proof, or the peer gave none. A TLS acceptor that asks for certificates has
    /// verified them.
    pub certificates: Vec<Vec<u8>>,
}
