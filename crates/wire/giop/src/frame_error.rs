//! Error of framing.

use thiserror::Error;

/// Reason why bytes are not the beginning of a supported message. The peer broke the protocol, or
/// speaks another version; the connection cannot continue.
#[derive(Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FrameError {
    /// The message does not begin with `GIOP`.
    #[error("the octets are not a GIOP message")]
    BadMagic,
    /// The version is not supported.
    #[error("GIOP {major}.{minor} is not supported")]
    UnsupportedVersion {
        /// Major version.
        major: u8,
        /// Minor version.
        minor: u8,
    },
    /// The version has no such kind of message.
    #[error("message type {0} does not exist")]
    UnknownKind(u8),
    /// The message exceeds the limit on messages.
    #[error("a message of {size} bytes after its header exceeds the limit of {limit} bytes in all")]
    Oversized {
        /// Number of bytes after the header.
        size: u32,
        /// Limit, header included.
        limit: usize,
    },
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for FrameError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}
