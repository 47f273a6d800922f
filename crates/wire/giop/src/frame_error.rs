//! Error of framing.

use thiserror::Error;

/// Reason why bytes are not the beginning of a supported message. The peer broke the protocol, or
/// speaks another version; the connection cannot continue.
#[derive(Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FrameError {
    /// The message does not begin with the octets `GIOP`.
    #[error("the octets are not a GIOP message")]
    BadMagic,
    /// The peer answered with an alert of TLS, as a server does at whose TLS endpoint a client speaks GIOP in clear.
    #[error(
        "the peer speaks TLS here, not GIOP in clear: name the TLS endpoint (`corbaloc:ssliop:…`), and set TLS up (the \
         table [tls] of the configuration file)"
    )]
    TlsAlert,
    /// The peer began a handshake of TLS at an endpoint in clear.
    #[error(
        "the peer begins a handshake of TLS, and this endpoint is in clear: listen at an ssliop endpoint for it"
    )]
    TlsHandshake,
    /// The GIOP version of the message is not supported.
    #[error("GIOP {major}.{minor} is not supported")]
    UnsupportedVersion {
        /// Major version number in the message.
        major: u8,
        /// Minor version number in the message.
        minor: u8,
    },
    /// The message's GIOP version has no message type with this number.
    #[error("message type {0} does not exist")]
    UnknownKind(u8),
    /// The message exceeds the configured limit on message lengths.
    #[error("a message of {size} bytes after its header exceeds the limit of {limit} bytes in all")]
    Oversized {
        /// Number of bytes that follow the message header.
        size: u32,
        /// Limit on the size of a message with its header, in bytes.
        limit: usize,
    },
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for FrameError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Returns the error of bytes that do not begin with the magic.
#[cold]
pub(crate) fn no_giop(bytes: &[u8]) -> FrameError {
    // Records of TLS (RFC 8446, §5.1): the type of content, and major version 3.
    match bytes {
        [0x15, 0x03, ..] => FrameError::TlsAlert,
        [0x16, 0x03, ..] => FrameError::TlsHandshake,
        _ => FrameError::BadMagic,
    }
}
