//! Reconstruction of messages from the lines that `-ORBTrace` printed into a log.
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
//! With `hex`, the rows are those of the whole message, and follow at its end. The position of the
//! body, on which alignment depends, is the message's length less the body's. Lines are untrusted:
//! no number in them may cost more memory or time than the line itself, and a dump with an
//! inconsistent number of bytes is not taken as a body.

mod lines;
mod message;
mod open;

pub(in crate::trace) use message::{Body, Event, Head, MOST_OCTETS, Message, NoBody, Peer};
use open::Open;

/// Reader of a log.
#[derive(Debug, Default)]
pub(in crate::trace) struct Log {
    open: Option<Open>,
    /// True if the last dump contained a whole message.
    dumps_whole: bool,
    has_messages: bool,
}

impl Log {
    /// Returns the message that is complete because this line does not belong to it. To be called
    /// before [`Log::take`].
    pub(in crate::trace) fn ends_before(&mut self, line: &str) -> Option<Event> {
        let open = self.open.as_ref()?;
        match open.goes_on_with(line) {
            true => None,
            false => self.end(),
        }
    }

    /// Returns the message that this line completes.
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

    /// Returns `true` if any message has begun.
    pub(in crate::trace) fn has_messages(&self) -> bool {
        self.has_messages
    }

    /// Returns the unfinished message, at the end of the log or where other text interrupts it.
    pub(in crate::trace) fn end(&mut self) -> Option<Event> {
        self.open.take()?.finish()
    }
}
