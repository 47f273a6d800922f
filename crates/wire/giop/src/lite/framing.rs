//! Header of a GIOPlite message, and the end of the message.

use std::fmt;

use punctual_cdr::Limits;

use crate::frame_error::FrameError;
use crate::header::MessageKind;

const BATCH: u8 = 8;

/// Type of a GIOPlite message, such as Request or Reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
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
    /// Several calls of one operation of one object, without answers.
    Batch,
}

impl Kind {
    /// Returns the message type's number in the GIOPlite header.
    #[inline]
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::Request => MessageKind::Request.number(),
            Self::Reply => MessageKind::Reply.number(),
            Self::CancelRequest => MessageKind::CancelRequest.number(),
            Self::LocateRequest => MessageKind::LocateRequest.number(),
            Self::LocateReply => MessageKind::LocateReply.number(),
            Self::CloseConnection => MessageKind::CloseConnection.number(),
            Self::MessageError => MessageKind::MessageError.number(),
            Self::Batch => BATCH,
        }
    }

    /// Returns the kind with this number, if there is one.
    #[inline]
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            0 => Self::Request,
            1 => Self::Reply,
            2 => Self::CancelRequest,
            3 => Self::LocateRequest,
            4 => Self::LocateReply,
            5 => Self::CloseConnection,
            6 => Self::MessageError,
            BATCH => Self::Batch,
            _ => return None,
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// Header of a GIOPlite message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MessageHeader {
    /// Type of the GIOPlite message.
    pub kind: Kind,
    /// Size of the message without its header, in bytes.
    pub size: u32,
}

impl MessageHeader {
    /// Size of a GIOPlite message header, in bytes.
    pub const LEN: usize = 5;

    /// Reads a header. The size is not checked against any limit; [`examine`] does that.
    ///
    /// # Errors
    /// [`FrameError::UnknownKind`].
    #[inline]
    pub const fn parse(octets: &[u8; Self::LEN]) -> Result<Self, FrameError> {
        let [size @ .., kind] = *octets;
        match Kind::from_number(kind) {
            Some(kind) => Ok(Self {
                kind,
                size: u32::from_ne_bytes(size),
            }),
            None => Err(FrameError::UnknownKind(kind)),
        }
    }

    /// Returns the GIOPlite header as encoded in a message.
    #[inline]
    #[must_use]
    pub const fn to_octets(self) -> [u8; Self::LEN] {
        let [s0, s1, s2, s3] = self.size.to_ne_bytes();
        [s0, s1, s2, s3, self.kind.number()]
    }

    /// Returns the size of the whole message in bytes, header included.
    #[inline]
    #[must_use]
    pub const fn message_len(self) -> usize {
        (self.size as usize).saturating_add(Self::LEN)
    }
}

/// Result of checking whether the bytes received so far hold a whole GIOPlite message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Examined {
    /// Some bytes of the GIOPlite message have not been received yet.
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
/// Bytes that are not GIOPlite, such as GIOP or messages of a machine with the other byte order,
/// show as a size beyond the limit or as an unknown kind. Keeps no state: call it again from the
/// message's start when there are more bytes. Does not allocate.
///
/// # Errors
/// [`FrameError::Oversized`] as soon as the size is there, [`FrameError::UnknownKind`].
#[inline]
pub fn examine(bytes: &[u8], full_len: usize, limits: &Limits) -> Result<Examined, FrameError> {
    let Some(octets) = bytes.first_chunk() else {
        return examine_start(bytes, limits);
    };
    let header = MessageHeader::parse(octets)?;
    check_size(header.size, limits)?;
    if full_len < header.message_len() {
        return Ok(Examined::Incomplete {
            need: header.message_len(),
        });
    }
    Ok(Examined::Complete(header))
}

#[cold]
fn examine_start(bytes: &[u8], limits: &Limits) -> Result<Examined, FrameError> {
    if let Some(size) = bytes.first_chunk() {
        check_size(u32::from_ne_bytes(*size), limits)?;
    }
    Ok(Examined::Incomplete {
        need: MessageHeader::LEN,
    })
}

#[inline]
fn check_size(size: u32, limits: &Limits) -> Result<(), FrameError> {
    let length = (size as usize).saturating_add(MessageHeader::LEN);
    if length > limits.message {
        return Err(FrameError::Oversized {
            size,
            limit: limits.message,
        });
    }
    Ok(())
}
