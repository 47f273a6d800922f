//! The first 12 octets of a sequenced message, and where the message ends.

use punctual_cdr::{ByteOrder, Limits};
use thiserror::Error;

const MAGIC: [u8; 4] = *b"PUNF";
const VERSION: u8 = 1;
const BATCH: u8 = 0x02;
const KNOWN_FLAGS: u8 = 0x01 | BATCH;

/// The header of a sequenced message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MessageHeader {
    /// The byte order of all that follows.
    pub order: ByteOrder,
    /// Whether the message holds several requests.
    pub batch: bool,
    /// The octets that follow the header.
    pub size: u32,
}

/// Why octets are not the beginning of a message we take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FrameError {
    /// It does not begin with `PUNF`.
    #[error("the octets are not a sequenced message")]
    BadMagic,
    /// A version that we don't speak.
    #[error("version {0} of the sequenced protocol is not supported")]
    UnsupportedVersion(u8),
    /// Flags that this version does not have.
    #[error("the flags {0:#04x} have no meaning")]
    UnknownFlags(u8),
    /// A message that is longer than the limit on messages.
    #[error("a message of {size} octets after its header exceeds the limit of {limit} in all")]
    Oversized {
        /// The octets that follow the header.
        size: u32,
        /// The limit, header included.
        limit: usize,
    },
}

impl MessageHeader {
    /// The size of a header, in octets.
    pub const LEN: usize = 12;

    /// Reads a header. The size is not checked against any limit; [`examine`] does that.
    ///
    /// # Errors
    /// [`FrameError`], but for [`FrameError::Oversized`].
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

    /// The octets of the header.
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

    /// The size of the whole message, header included.
    #[inline]
    #[must_use]
    pub const fn message_len(self) -> usize {
        (self.size as usize).saturating_add(Self::LEN)
    }
}

/// What the octets at hand are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Examined {
    /// The beginning of a message that is not whole yet; in a datagram, a broken one.
    Incomplete {
        /// How many octets, counted from the message's start, it takes to go on.
        need: usize,
    },
    /// A whole message: the first [`MessageHeader::message_len`] octets.
    Complete(MessageHeader),
}

/// Tells whether `bytes` begin with a whole message. `full_len` is how many octets there are in all:
/// more than `bytes` has where lent runs stand between them
/// ([`Block::full_len`](punctual_cdr::Block::full_len)).
///
/// Keeps no state: call it again from the message's start when there are more octets. Does not
/// allocate.
///
/// # Errors
/// [`FrameError`], as soon as the octets show it.
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
    // What is not there yet is filled in with something acceptable.
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
