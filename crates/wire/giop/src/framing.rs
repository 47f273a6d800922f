//! Framing: the end of a message in a stream of bytes.

use punctual_cdr::Limits;

use crate::frame_error::{FrameError, no_giop};
use crate::header::{MAGIC, MessageHeader};

/// Result of checking whether the bytes received so far hold a whole GIOP message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Examined {
    /// Some bytes of the GIOP message have not been received yet.
    Incomplete {
        /// Number of bytes needed to proceed, counted from the message's start.
        need: usize,
    },
    /// The message has been received completely, in the first [`MessageHeader::message_len`] bytes.
    Complete(MessageHeader),
}

/// Checks whether `bytes` begin with a whole message. An error is reported as soon as the bytes
/// show it: after the first one that differs from the magic.
///
/// Keeps no state: call it again from the message's start when there are more bytes. Does not
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
        return Err(no_giop(bytes));
    }
    // Missing bytes are filled in with acceptable ones.
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
