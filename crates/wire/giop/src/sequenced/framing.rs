//! Header of a sequenced message, its first 12 octets, and the end of the message.

use punctual_cdr::{ByteOrder, Limits};
use thiserror::Error;

const MAGIC: [u8; 4] = *b"PUNF";
const VERSION: u8 = 1;
const BATCH: u8 = 0x02;
const KNOWN_FLAGS: u8 = 0x01 | BATCH;

/// Header of a message of the sequenced-frames protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MessageHeader {
    /// Byte order of the message after its header.
    pub order: ByteOrder,
    /// `true` if the message is a batch of several requests.
    pub batch: bool,
    /// Size of the message without its header, in bytes.
    pub size: u32,
}

/// Reason why bytes are not the beginning of a supported message.
#[derive(Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FrameError {
    /// The message does not begin with `PUNF`, as a sequenced-frames message does.
    #[error("the octets are not a sequenced message")]
    BadMagic,
    /// The message's version of the sequenced-frames protocol is not supported.
    #[error("version {0} of the sequenced protocol is not supported")]
    UnsupportedVersion(u8),
    /// The header contains flags that the protocol version does not define.
    #[error("unknown flags {0:#04x}")]
    UnknownFlags(u8),
    /// The message exceeds the limit on the size of a message.
    #[error("a message of {size} bytes after its header exceeds the limit of {limit} bytes in all")]
    Oversized {
        /// Size of the message without its header, in bytes.
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

impl MessageHeader {
    /// Size of a message header of the sequenced-frames protocol, in bytes.
    pub const LEN: usize = 12;

    /// Reads a header. The size is not checked against any limit; [`examine`] does that.
    ///
    /// # Errors
    /// [`FrameError`], except [`FrameError::Oversized`].
    #[inline]
    pub fn parse(octets: &[u8; Self::LEN]) -> Result<Self, FrameError> {
        let [m0, m1, m2, m3, version, flags, _, _, size @ ..] = *octets;
        if [m0, m1, m2, m3] != MAGIC {
            return Err(FrameError::BadMagic);
        }
        if version != VERSION {
            return Err(FrameError::UnsupportedVersion(version));
        }
        if flags & !KNOWN_FLAGS != 0 {
            return Err(FrameError::UnknownFlags(flags));
        }
        let order = ByteOrder::from_flag(flags);
        Ok(Self {
            order,
            batch: flags & BATCH != 0,
            size: match order {
                ByteOrder::Big => u32::from_be_bytes(size),
                ByteOrder::Little => u32::from_le_bytes(size),
            },
        })
    }

    /// Returns the header as encoded in a message of the sequenced-frames protocol.
    #[inline]
    #[must_use]
    pub const fn to_octets(self) -> [u8; Self::LEN] {
        let [m0, m1, m2, m3] = MAGIC;
        let flags = match self.batch {
            true => self.order.flag() | BATCH,
            false => self.order.flag(),
        };
        let [s0, s1, s2, s3] = match self.order {
            ByteOrder::Big => self.size.to_be_bytes(),
            ByteOrder::Little => self.size.to_le_bytes(),
        };
        [m0, m1, m2, m3, VERSION, flags, 0, 0, s0, s1, s2, s3]
    }

    /// Returns the size of the whole message in bytes, header included.
    #[inline]
    #[must_use]
    pub const fn message_len(self) -> usize {
        (self.size as usize).saturating_add(Self::LEN)
    }
}

/// Result of checking whether the bytes received so far hold a whole sequenced-frames message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Examined {
    /// The message is not whole yet; in a datagram, it is broken.
    Incomplete {
        /// Number of bytes needed to proceed, counted from the message's start.
        need: usize,
    },
    /// The message has been received completely, in the first [`MessageHeader::message_len`] bytes.
    Complete(MessageHeader),
}

/// Checks whether `bytes` begin with a whole message. `full_len` is the total number of bytes,
/// which exceeds that of `bytes` where lent runs stand between them
/// ([`Block::full_len`](punctual_cdr::Block::full_len)).
///
/// Keeps no state: call it again from the message's start when there are more bytes. Does not
/// allocate.
///
/// # Errors
/// [`FrameError`], as soon as the bytes show it.
#[inline]
pub fn examine(bytes: &[u8], full_len: usize, limits: &Limits) -> Result<Examined, FrameError> {
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
    if full_len < header.message_len() {
        return Ok(Examined::Incomplete {
            need: header.message_len(),
        });
    }
    Ok(Examined::Complete(header))
}

#[cold]
fn examine_start(bytes: &[u8]) -> Result<Examined, FrameError> {
    // Missing bytes are filled in with acceptable ones.
    let acceptable = MessageHeader {
        order: ByteOrder::Big,
        batch: false,
        size: 0,
    };
    let mut octets = acceptable.to_octets();
    for (octet, known) in octets.iter_mut().zip(bytes) {
        *octet = *known;
    }
    MessageHeader::parse(&octets)?;
    Ok(Examined::Incomplete {
        need: MessageHeader::LEN,
    })
}
