//! What goes wrong on a link, and in which phase.

use std::fmt;
use std::io;

/// What a link was doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Finding the numbers behind a host's name.
    Resolve,
    /// Reaching out.
    Connect,
    /// Beginning to listen.
    Listen,
    /// Taking in a connection.
    Accept,
    /// Sending.
    Send,
    /// Receiving.
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

/// Why it went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Cause {
    /// The deadline passed.
    #[error("timed out")]
    TimedOut,
    /// The other side closed the connection, or this side closed the acceptor.
    #[error("closed by the other side")]
    Closed,
    /// The address is not one of this link's; the text says what the link expects.
    #[error("not an address of this link: expected {0}")]
    BadAddress(&'static str),
    /// A property that the link does not know, or a value that does not fit it.
    #[error("`{property}` does not fit: expected {expected}")]
    BadProperty {
        /// As it was given, `name=value`.
        property: Box<str>,
        /// What fits.
        expected: &'static str,
    },
    /// The peer broke the link's own protocol; the text says how.
    #[error("the peer broke the link's protocol: {0}")]
    BadPeer(&'static str),
    /// The message is larger than any that the link can carry, which is this many octets.
    #[error("larger than the {0} octets that the link carries in one piece")]
    TooLarge(usize),
    /// The message is larger than the memory to receive it may grow.
    #[error("no memory for {0} octets")]
    NoMemory(usize),
    /// The operating system's reason.
    #[error("{0}")]
    Os(#[source] io::Error),
}

/// An error of a link.
#[derive(Debug, thiserror::Error)]
#[error("{phase}: {cause}")]
pub struct LinkError {
    /// What was being done.
    pub phase: Phase,
    /// Why it failed.
    pub cause: Cause,
}

impl LinkError {
    /// An operating system's error in some phase; a socket's own time-out counts as the deadline's.
    #[must_use]
    pub fn os(phase: Phase, error: io::Error) -> Self {
        let cause = match error.kind() {
            io::ErrorKind::WouldBlock => Cause::TimedOut,
            _ => Cause::Os(error),
        };
        Self { phase, cause }
    }

    /// The link's connections do this by blocking and in no other way.
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

    /// The deadline passed.
    #[must_use]
    pub fn timed_out(phase: Phase) -> Self {
        Self {
            phase,
            cause: Cause::TimedOut,
        }
    }

    /// The other side has closed.
    #[must_use]
    pub fn closed(phase: Phase) -> Self {
        Self {
            phase,
            cause: Cause::Closed,
        }
    }
}

/// A send that failed, and how much of the message may already be under way.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct SendError {
    /// What went wrong.
    #[source]
    pub error: LinkError,
    /// Octets handed to the operating system before it did; 0 means that the peer has none of them.
    pub sent: usize,
}
