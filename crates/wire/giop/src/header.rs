//! Header of every message, of 12 octets (CORBA 3.3 part 2, §9.4.1).
//!
//! ```text
//!  0  4  magic "GIOP"
//!  4  2  version: major, minor
//!  6  1  1.0: byte order, 0 or 1; from 1.1 on flags: bit 0 byte order, bit 1 more fragments
//!  7  1  kind
//!  8  4  size of what follows, in the message's byte order
//! ```

use std::fmt;

use punctual_cdr::{ByteOrder, GiopVersion};

use crate::frame_error::{FrameError, no_giop};

pub(crate) const MAGIC: [u8; 4] = *b"GIOP";
const MORE_FRAGMENTS: u8 = 0x02;

/// Type of a GIOP message, such as Request or Reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageKind {
    /// Request message: the call of an operation on an object.
    Request,
    /// Reply message: the answer to a Request.
    Reply,
    /// Notice that the client no longer waits for an answer.
    CancelRequest,
    /// LocateRequest message: a query for the location of an object.
    LocateRequest,
    /// LocateReply message: the answer to a LocateRequest.
    LocateReply,
    /// CloseConnection message: the orderly end of a connection.
    CloseConnection,
    /// MessageError message: a notice that a malformed message was received.
    MessageError,
    /// Fragment message: the continuation of a fragmented message, from GIOP 1.1 on.
    Fragment,
}

impl MessageKind {
    /// Returns the message type's number in the GIOP header.
    #[inline]
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::Request => 0,
            Self::Reply => 1,
            Self::CancelRequest => 2,
            Self::LocateRequest => 3,
            Self::LocateReply => 4,
            Self::CloseConnection => 5,
            Self::MessageError => 6,
            Self::Fragment => 7,
        }
    }

    /// Returns the kind with this number, if the version has it.
    #[inline]
    #[must_use]
    pub const fn from_number(number: u8, version: GiopVersion) -> Option<Self> {
        Some(match number {
            0 => Self::Request,
            1 => Self::Reply,
            2 => Self::CancelRequest,
            3 => Self::LocateRequest,
            4 => Self::LocateReply,
            5 => Self::CloseConnection,
            6 => Self::MessageError,
            7 if !matches!(version, GiopVersion::V1_0) => Self::Fragment,
            _ => return None,
        })
    }

    /// Returns whether messages of this kind may be fragmented (§9.4.9): requests and replies from
    /// 1.1 on, and their locate counterparts from 1.2 on.
    #[inline]
    #[must_use]
    pub const fn may_be_fragmented(self, version: GiopVersion) -> bool {
        match version {
            GiopVersion::V1_0 => false,
            GiopVersion::V1_1 => matches!(self, Self::Request | Self::Reply),
            GiopVersion::V1_2 => matches!(
                self,
                Self::Request | Self::Reply | Self::LocateRequest | Self::LocateReply
            ),
        }
    }
}

impl fmt::Display for MessageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// Header of a GIOP message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MessageHeader {
    /// Version, on which the form of the rest depends.
    pub version: GiopVersion,
    /// Byte order of the message after its header.
    pub order: ByteOrder,
    /// `true` if the message continues in Fragment messages.
    pub more_fragments: bool,
    /// Type of the GIOP message.
    pub kind: MessageKind,
    /// Size of the message without its header, in bytes.
    pub size: u32,
}

impl MessageHeader {
    /// Size of a GIOP message header, in bytes.
    pub const LEN: usize = 12;

    /// Makes the header of a message that is not fragmented.
    #[must_use]
    pub const fn new(version: GiopVersion, order: ByteOrder, kind: MessageKind, size: u32) -> Self {
        Self {
            version,
            order,
            more_fragments: false,
            kind,
            size,
        }
    }

    /// Reads a header. The size is not checked against any limit; [`crate::examine`] does that.
    ///
    /// # Errors
    /// [`FrameError`], except [`FrameError::Oversized`].
    #[inline]
    pub fn parse(octets: &[u8; Self::LEN]) -> Result<Self, FrameError> {
        let [m0, m1, m2, m3, major, minor, flags, kind, size @ ..] = *octets;
        if [m0, m1, m2, m3] != MAGIC {
            return Err(no_giop(octets));
        }
        let Some(version) = GiopVersion::from_numbers(major, minor) else {
            return Err(FrameError::UnsupportedVersion { major, minor });
        };
        let Some(kind) = MessageKind::from_number(kind, version) else {
            return Err(FrameError::UnknownKind(kind));
        };
        let order = ByteOrder::from_flag(flags);
        Ok(Self {
            version,
            order,
            more_fragments: version > GiopVersion::V1_0 && flags & MORE_FRAGMENTS != 0,
            kind,
            size: match order {
                ByteOrder::Big => u32::from_be_bytes(size),
                ByteOrder::Little => u32::from_le_bytes(size),
            },
        })
    }

    /// Returns the GIOP header as encoded in a message.
    #[inline]
    #[must_use]
    pub const fn to_octets(self) -> [u8; Self::LEN] {
        let flags = match self.more_fragments {
            true => self.order.flag() | MORE_FRAGMENTS,
            false => self.order.flag(),
        };
        let [s0, s1, s2, s3] = match self.order {
            ByteOrder::Big => self.size.to_be_bytes(),
            ByteOrder::Little => self.size.to_le_bytes(),
        };
        let [m0, m1, m2, m3] = MAGIC;
        let (major, minor) = (self.version.major(), self.version.minor());
        let kind = self.kind.number();
        [m0, m1, m2, m3, major, minor, flags, kind, s0, s1, s2, s3]
    }

    /// Returns the size of the whole message in bytes, header included.
    #[inline]
    #[must_use]
    pub const fn message_len(self) -> usize {
        (self.size as usize).saturating_add(Self::LEN)
    }
}
