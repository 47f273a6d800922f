//! Errors of links, with the phase in which they occur.

use std::fmt;
use std::io;

/// Phase of a link's operation in which an error occurred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Resolution of a host name.
    Resolve,
    /// Establishment of a connection to a peer.
    Connect,
    /// Opening of a listening endpoint.
    Listen,
    /// Acceptance of a connection.
    Accept,
    /// Sending of data.
    Send,
    /// Receiving of data.
    Receive,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Resolve => "resolving the host name",
            Self::Connect => "connecting",
            Self::Listen => "listening",
            Self::Accept => "accepting",
            Self::Send => "sending",
            Self::Receive => "receiving",
        })
    }
}

/// Cause of a link's error.
#[derive(thiserror::Error)]
pub enum Cause {
    /// The deadline passed.
    #[error("timed out")]
    TimedOut,
    /// The other side closed the connection, or this side closed the acceptor.
    #[error("closed by the other side")]
    Closed,
    /// The address is not one of this link's; the text says which form the link expects.
    #[error("not an address of this link: expected {0}")]
    BadAddress(&'static str),
    /// The link does not know the property, or its value is invalid.
    #[error("invalid property `{property}`: expected {expected}")]
    BadProperty {
        /// Property as it was given, in the form `name=value`.
        property: Box<str>,
        /// Description of the values that the property accepts.
        expected: &'static str,
    },
    /// The peer broke the link's own protocol; the text says how.
    #[error("the peer broke the link's protocol: {0}")]
    BadPeer(&'static str),
    /// The message is larger than the link's limit, this many bytes.
    #[error("larger than the link's limit of {0} bytes for one message")]
    TooLarge(usize),
    /// The message exceeds the limit on memory for receiving.
    #[error("no memory for {0} octets")]
    NoMemory(usize),
    /// Error that the operating system reported.
    #[error("{0}")]
    Os(#[source] io::Error),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Error of an operation on a link.
#[derive(thiserror::Error)]
#[error("{phase}: {cause}")]
pub struct LinkError {
    /// Phase of the link's operation that failed.
    pub phase: Phase,
    /// Cause of the failure.
    pub cause: Cause,
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl LinkError {
    /// Makes an operating system error of a phase; a socket's own time-out counts as the
    /// deadline's.
    #[must_use]
    pub fn os(phase: Phase, error: io::Error) -> Self {
        let cause = match error.kind() {
            io::ErrorKind::WouldBlock => Cause::TimedOut,
            _ => Cause::Os(error),
        };
        Self { phase, cause }
    }

    /// Makes the error of a link whose connections support this phase only by blocking.
    #[must_use]
    pub fn only_blocking(phase: Phase) -> Self {
        let error = io::Error::new(
            io::ErrorKind::Unsupported,
            "connections of this link have to be waited for by a thread",
        );
        Self {
            phase,
            cause: Cause::Os(error),
        }
    }

    /// Makes the error for an operation whose deadline has passed.
    #[must_use]
    pub fn timed_out(phase: Phase) -> Self {
        Self {
            phase,
            cause: Cause::TimedOut,
        }
    }

    /// Makes the error of a connection closed by the other side.
    #[must_use]
    pub fn closed(phase: Phase) -> Self {
        Self {
            phase,
            cause: Cause::Closed,
        }
    }
}

/// Failed send, with the amount of the message that may already be under way.
#[derive(thiserror::Error)]
#[error("{error}")]
pub struct SendError {
    /// Error because of which the send failed.
    #[source]
    pub error: LinkError,
    /// Number of bytes handed to the operating system before the error; 0 means that the peer has
    /// none of them.
    pub sent: usize,
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
