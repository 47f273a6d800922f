//! From the lines of a log to messages: what `-ORBTrace` printed, read again.
//!
//! ```text
//! giop <- from iiop://127.0.0.1:40112, socket 9         whom it came from; also where GIOP 1.1 fragments were joined
//! GIOP 1.2 Request, Little-endian, 76 octets after the header
//!   request 5, operation "find", a reply is expected (flags 0x03)
//!   object key of 12 octets: "..."
//!   context 1 (CodeSets): 0x5010001 (UTF-8), 0x10109 (UTF-16)
//!   body: 9 octets
//!   00000000  05 00 00 00 4b 69 6b 69  00                  ....Kiki.
//! ```
//!
//! With `hex`, the rows are those of the whole message, and stand at its end. Where the body begins, on which alignment
//! depends, is what the message's length leaves before it. Any line may be anything: nothing here is believed that
//! costs more than the line itself, and octets that do not add up are no body.

mod lines;
mod open;

use punctual_cdr::{ByteOrder, CodeSets, GiopVersion};
use punctual_giop::ReplyStatus;

use open::Open;

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

/// Reads a log.
#[derive(Debug, Default)]
pub(in crate::trace) struct Log {
    open: Option<Open>,
    /// Whether the last dump was one of a whole message.
    dumps_whole: bool,
    has_messages: bool,
}

impl Log {
    /// What is complete, as this line is none of its own. To be called before [`Log::take`].
    pub(in crate::trace) fn ends_before(&mut self, line: &str) -> Option<Event> {
        let open = self.open.as_ref()?;
        match open.goes_on_with(line) {
            true => None,
            false => self.end(),
        }
    }

    /// What is complete with this line.
    pub(in crate::trace) fn take(&mut self, line: &str) -> Option<Event> {
        if self.open.is_none() {
            self.open = Open::begin(line);
            self.has_messages |= self.open.is_some();
            return None;
        }
        let open = self.open.as_mut()?;
        open.take(line);
        if let Some(dump) = &open.dump {
            self.dumps_whole = dump.is_whole;
        }
        match open.is_complete(self.dumps_whole) {
            true => self.end(),
            false => None,
        }
    }

    /// Whether any message has begun.
    pub(in crate::trace) fn has_messages(&self) -> bool {
        self.has_messages
    }

    /// What is complete as far as it ever will be, at the end of the log or where something else stands in it.
    pub(in crate::trace) fn end(&mut self) -> Option<Event> {
        self.open.take()?.finish()
    }
}
