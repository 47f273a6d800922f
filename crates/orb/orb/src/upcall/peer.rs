//! What servants are told of who has sent a request.

use punctual_link::Address;

/// Who has sent a request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestPeer {
    /// The link and the peer's address there: for TCP and TLS, its host and port.
    pub address: Address,
    /// The certificates by which it has proved who it is, in DER and its own first; none where the link has no such
    /// proof, or the peer gave none. A TLS acceptor that asks for certificates has verified them.
    pub certificates: Vec<Vec<u8>>,
}
