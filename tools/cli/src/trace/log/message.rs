//! Messages of a log.

use punctual_cdr::{ByteOrder, CodeSets, GiopVersion};
use punctual_giop::ReplyStatus;

/// Bodies of more octets than this are not kept: the ORB's own limit on messages, as it is without options.
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
    /// What the message's context says that text is in; the outer `Some` if there is one.
    pub(in crate::trace) code_sets: Option<Option<CodeSets>>,
    pub(in crate::trace) body: Result<Body, NoBody>,
}

/// Who is at the other end, and by which connection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(in crate::trace) struct Peer {
    pub(in crate::trace) address: String,
    pub(in crate::trace) socket: Option<u32>,
}

/// What a message is, as far as its values concern.
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
    /// Part of a message; its request's id, since GIOP 1.2.
    Fragment {
        id: Option<u32>,
    },
}

/// The octets behind a message's head.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::trace) struct Body {
    /// How many octets of the message stand before them.
    pub(in crate::trace) at: usize,
    pub(in crate::trace) octets: Vec<u8>,
    /// Where in the message alignment starts anew, where fragments of GIOP 1.1 were joined.
    pub(in crate::trace) seams: Vec<usize>,
}

/// Why there are no octets to decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::trace) enum NoBody {
    /// The program was not told to print them.
    NotShown,
    /// The program itself had not all of them at one place.
    NotWhole,
    /// Rows of the dump are missing or are none.
    Damaged,
    /// There are too many.
    TooLong,
}

/// What a line completes.
#[derive(Debug)]
pub(in crate::trace) enum Event {
    Message(Message),
    /// A message of another protocol than GIOP.
    Foreign,
}
