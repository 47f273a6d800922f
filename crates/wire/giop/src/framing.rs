//! Where a message ends in a stream of octets.

use punctual_cdr::Limits;
use thiserror::Error;

use crate::header::{MAGIC, MessageHeader};

/// What the octets at hand are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Examined {
    /// The beginning of a message that is not whole yet.
    Incomplete {
        /// How many octets, counted from the message's start, it takes to go on.
        need: usize,
    },
    /// A whole message: the first [`MessageHeader::message_len`] octets.
    Complete(MessageHeader),
}

/// Why octets are not the beginning of a message we take. The peer broke the protocol, or speaks
/// another version; the connection can't go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FrameError {
    /// It does not begin with `GIOP`.
    #[error("the octets are not a GIOP message")]
    BadMagic,
    /// A version that we don't speak.
    #[error("GIOP {major}.{minor} is not supported")]
    UnsupportedVersion {
        /// The major version.
        major: u8,
        /// The minor version.
        minor: u8,
    },
    /// A kind of message that the version does not have.
    #[error("message type {0} does not exist")]
    UnknownKind(u8),
    /// A message that is longer than the limit on messages.
    #[error("a message of {size} octets after its header exceeds the limit of {limit} in all")]
    Oversized {
        /// The octets that follow the header.
        size: u32,
        /// The limit, header included.
        limit: usize,
    },
}

/// Tells whether `bytes` begin with a whole message. What is wrong with a message is told as soon
/// as the octets show it: after the first one that is not of the magic.
///
/// Keeps no state: call it again from the message's start when there are more octets. Does not
/// allocate.
///
/// # Errors
/// [`FrameError`].
#[inline]
pub fn examine(bytes: &[u8], limits: &Limits) -> Result<Examined, FrameError> {
    let Some(octets) = bytes.first_chunk() else {
        return examine_start(bytes);
    };
    let header = MessageHeader::parse(octets)?;
    if header.message_len() > limits.message {
        return Err(FrameError::Oversized {
            size: header.size,
            limit: limits.message,
        });
    }
    if bytes.len() < header.message_len() {
        return Ok(Examined::Incomplete {
            need: header.message_len(),
        });
    }
    Ok(Examined::Complete(header))
}

#[cold]
fn examine_start(bytes: &[u8]) -> Result<Examined, FrameError> {
    if bytes
        .iter()
        .zip(MAGIC)
        .any(|(octet, magic)| *octet != magic)
    {
        return Err(FrameError::BadMagic);
    }
    // What is not there yet is filled in with something acceptable.
    let mut octets = [b'G', b'I', b'O', b'P', 1, 2, 0, 0, 0, 0, 0, 0];
    for (octet, known) in octets.iter_mut().zip(bytes) {
        *octet = *known;
    }
    if bytes.len() > 5 {
        MessageHeader::parse(&octets)?;
    }
    Ok(Examined::Incomplete {
        need: MessageHeader::LEN,
    })
}
