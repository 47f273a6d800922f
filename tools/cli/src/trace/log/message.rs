//! Messages of a log.

use punctual_cdr::{ByteOrder, CodeSets, GiopVersion};
use punctual_giop::ReplyStatus;

/// Maximum length of bodies that are kept, in bytes: the ORB's own default limit of messages.
pub(in crate::trace) const MOST_OCTETS: usize = 64 << 20;

/// A message of the log.
#[derive(Debug)]
pub(in crate::trace) struct Message {
    pub(in crate::trace) sent: bool,
    pub(in crate::trace) peer: Peer,
    pub(in crate::trace) version: GiopVersion,
    pub(in crate::trace) order: ByteOrder,
    pub(in crate::trace) more_fragments: bool,
    pub(in crate::trace) head: Head,
    /// Code sets of text according to the message's service context; the outer option is `None`
    /// without such a context.
    pub(in crate::trace) code_sets: Option<Option<CodeSets>>,
    pub(in crate::trace) body: Result<Body, NoBody>,
}

/// Peer that sent or receives a message, and its connection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(in crate::trace) struct Peer {
    pub(in crate::trace) address: String,
    pub(in crate::trace) socket: Option<u32>,
}

/// Part of a message's header that matters for its values.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::trace) enum Head {
    Request {
        id: u32,
        operation: String,
        reply_expected: bool,
    },
    Reply {
        id: u32,
        status: ReplyStatus,
    },
    /// Fragment of a message; since GIOP 1.2 with its request's id.
    Fragment {
        id: Option<u32>,
    },
}

/// Bytes of a message after its header.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::trace) struct Body {
    /// Number of the message's bytes before these.
    pub(in crate::trace) at: usize,
    pub(in crate::trace) octets: Vec<u8>,
    /// Positions in the message at which alignment restarts because GIOP 1.1 fragments were joined
    /// there.
    pub(in crate::trace) seams: Vec<usize>,
}

/// Reason why there are no bytes to decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::trace) enum NoBody {
    /// The program was not configured to print them.
    NotShown,
    /// The traced program did not have the bytes in one piece.
    NotWhole,
    /// Rows of the dump are missing or invalid.
    Damaged,
    /// The message is longer than the limit.
    TooLong,
}

/// Result of a completed line.
#[derive(Debug)]
pub(in crate::trace) enum Event {
    Message(Message),
    /// A message of a protocol other than GIOP.
    Foreign,
}
