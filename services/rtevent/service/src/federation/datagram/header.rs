//! Header of a fragment.

use punctual::stub::ByteOrder;
use std::fmt;
use thiserror::Error;

/// Length of the header in octets.
pub const HEADER: usize = 32;

/// Length of the header in octets without its checksum.
const CHECKED: usize = 28;

/// Octets behind the byte order, by which a header is recognised.
const MARK: &[u8; 3] = b"ABC";

/// Header of a fragment: the numbers are in the sender's byte order, the CRC-32 at the end is in that of the
/// network, and 0 if the sender computes none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FragmentHeader {
    /// Byte order of the header and the message.
    pub order: ByteOrder,
    /// Number of the message, counted by the sender's socket.
    pub message: u32,
    /// Octets of the whole message.
    pub message_size: u32,
    /// Octets of this fragment.
    pub size: u32,
    /// Place of the fragment in the message, in octets.
    pub offset: u32,
    /// Number of the fragment in the message, from 0 on.
    pub number: u32,
    /// Number of fragments of the message.
    pub count: u32,
}

/// Reason why a datagram is no fragment of a message.
#[derive(Clone, PartialEq, Eq, Error)]
pub enum BadDatagram {
    /// The datagram is shorter than a header.
    #[error("{0} octets are no fragment: its header alone has 32")]
    Short(usize),
    /// The first octets are not those of a header.
    #[error("it does not begin with a byte order and `ABC`")]
    Mark,
    /// The fragment's size is not what has arrived.
    #[error("the header announces {announced} octets, and {present} have arrived")]
    Size {
        /// Octets that the header announces.
        announced: u32,
        /// Octets that have arrived behind the header.
        present: usize,
    },
    /// Numbers of the header contradict each other, or those of other fragments of the message.
    #[error("{0}")]
    Contradiction(&'static str),
    /// The message is longer than the limit.
    #[error("a message of {size} octets exceeds the limit of {limit}")]
    TooLong {
        /// Octets of the message.
        size: u32,
        /// Limit on the octets of a message.
        limit: usize,
    },
    /// The checksum is another.
    #[error("the checksum is {announced:#010x}, and {computed:#010x} of what has arrived")]
    Checksum {
        /// Checksum in the header; 0 if the sender computes none.
        announced: u32,
        /// Checksum of the datagram.
        computed: u32,
    },
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for BadDatagram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FragmentHeader {
    /// Returns the octets of the header, with the checksum of header and fragment if that is wanted.
    #[must_use]
    pub fn encode(&self, fragment: &[u8], has_checksum: bool) -> [u8; HEADER] {
        let mut octets = [0; HEADER];
        octets[0] = self.order.flag();
        octets[1..4].copy_from_slice(MARK);
        for (number, room) in self.numbers().iter().zip(octets[4..].chunks_exact_mut(4)) {
            room.copy_from_slice(&match self.order {
                ByteOrder::Big => number.to_be_bytes(),
                ByteOrder::Little => number.to_le_bytes(),
            });
        }
        if has_checksum {
            let checksum = checksum(&octets[..CHECKED], fragment);
            octets[CHECKED..].copy_from_slice(&checksum.to_be_bytes());
        }
        octets
    }

    /// Returns the header of a datagram, and its fragment.
    ///
    /// # Errors
    /// [`BadDatagram`]; of the checksum only if `has_checksum`.
    pub fn decode(datagram: &[u8], has_checksum: bool) -> Result<(Self, &[u8]), BadDatagram> {
        let Some((head, fragment)) = datagram.split_first_chunk::<HEADER>() else {
            return Err(BadDatagram::Short(datagram.len()));
        };
        let order = match head[0] {
            0 => ByteOrder::Big,
            1 => ByteOrder::Little,
            _ => return Err(BadDatagram::Mark),
        };
        if &head[1..4] != MARK {
            return Err(BadDatagram::Mark);
        }
        if has_checksum {
            check(head, fragment)?;
        }
        let header = Self::of(order, head);
        header.check(fragment.len())?;
        Ok((header, fragment))
    }

    const fn numbers(&self) -> [u32; 6] {
        [
            self.message,
            self.message_size,
            self.size,
            self.offset,
            self.number,
            self.count,
        ]
    }

    fn of(order: ByteOrder, head: &[u8; HEADER]) -> Self {
        let number = |at: usize| {
            let octets = [head[at], head[at + 1], head[at + 2], head[at + 3]];
            match order {
                ByteOrder::Big => u32::from_be_bytes(octets),
                ByteOrder::Little => u32::from_le_bytes(octets),
            }
        };
        Self {
            order,
            message: number(4),
            message_size: number(8),
            size: number(12),
            offset: number(16),
            number: number(20),
            count: number(24),
        }
    }

    fn check(&self, present: usize) -> Result<(), BadDatagram> {
        let end = u64::from(self.offset) + u64::from(self.size);
        let contradiction = if self.size as usize != present {
            let announced = self.size;
            return Err(BadDatagram::Size { announced, present });
        } else if self.count == 0 || self.number >= self.count {
            "the fragment's number is not below the number of fragments"
        } else if self.count > self.message_size.max(1) {
            "there are more fragments than octets"
        } else if end > u64::from(self.message_size) {
            "the fragment ends behind the message"
        } else if self.count == 1 && self.size != self.message_size {
            "the only fragment is not the whole message"
        } else {
            return Ok(());
        };
        Err(BadDatagram::Contradiction(contradiction))
    }
}

fn check(head: &[u8; HEADER], fragment: &[u8]) -> Result<(), BadDatagram> {
    let computed = checksum(&head[..CHECKED], fragment);
    let announced = u32::from_be_bytes([head[28], head[29], head[30], head[31]]);
    if announced == computed {
        Ok(())
    } else {
        Err(BadDatagram::Checksum {
            announced,
            computed,
        })
    }
}

fn checksum(head: &[u8], fragment: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(head);
    hasher.update(fragment);
    hasher.finalize()
}
